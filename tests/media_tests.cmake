# Tests of cameras, stills, the window, containers and GStreamer.

if(EQUALUX_HAVE_OPENCV)
  equalux_tests(test_opencv opencv LABELS core LIBRARIES equalux_opencv STEMS camera still TSAN camera)
  if(EQUALUX_HAVE_EXIV2)
    target_compile_definitions(test_opencv PRIVATE EQUALUX_HAVE_EXIV2)
  endif()
  equalux_tests(test_opencv_views host LABELS core
    LIBRARIES opencv_core opencv_imgproc STEMS opencv_views)
  target_include_directories(test_opencv_views SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  equalux_tests(test_v4l2_cameras v4l2 LABELS core LIBRARIES equalux_opencv
    STEMS camera_identity camera_controls)
  equalux_tests(test_convolve_opencv convolve LABELS core
    LIBRARIES equalux_opencv opencv_core opencv_imgproc opencv_imgcodecs
    STEMS convolve_opencv)
  target_compile_definitions(test_convolve_opencv PRIVATE
    EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  target_include_directories(test_convolve_opencv SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  if(EQUALUX_HAVE_HTTP)
    equalux_tests(test_control control LABELS media
      LIBRARIES equalux_serve equalux_opencv opencv_core opencv_imgcodecs
      STEMS page_server TSAN page_server)
    target_include_directories(test_control SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  endif()
  equalux_tests(test_window opencv LABELS media LIBRARIES equalux_opencv opencv_core
    STEMS window window_overlay SOURCES opencv/virtual_display.cpp)
  target_include_directories(test_window SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  if(X11_FOUND)
    target_link_libraries(test_window PRIVATE X11::X11)
    target_compile_definitions(test_window PRIVATE EQUALUX_HAVE_X11)
  endif()
endif()

if(EQUALUX_HAVE_LIBAV)
  add_library(equalux_media_files STATIC support/media/media_files.cpp support/media/sample_media.cpp)
  target_include_directories(equalux_media_files PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(equalux_media_files
    PUBLIC equalux_container PkgConfig::LIBAV
    PRIVATE equalux_warnings)
  equalux_tests(test_container container LABELS media LIBRARIES equalux_media_files
    STEMS container_colour container_failures container_probe container_shortfall container_writer
      packet_reader picture_data)
endif()

if(EQUALUX_HAVE_GSTREAMER)
  pkg_check_modules(GSTREAMER_CHECK REQUIRED IMPORTED_TARGET
    gstreamer-check-1.0 gstreamer-controller-1.0)
  add_library(equalux_gst_elements STATIC plugin/gst_elements.cpp)
  target_include_directories(equalux_gst_elements PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(equalux_gst_elements
    PUBLIC equalux_test_support equalux_gstreamer PkgConfig::GSTREAMER_CHECK
    PRIVATE equalux_warnings)
  add_dependencies(equalux_gst_elements gstequalux)
  equalux_tests(test_gstreamer gstreamer LABELS media LIBRARIES equalux_gstreamer
    STEMS gst_encoders gst_formats gst_launch live_encoder network_source)
  equalux_tests(test_gst_files gstreamer LABELS media LIBRARIES equalux_gstreamer equalux_media_files
    STEMS gst_file_source gst_file_sink gst_resume gst_depth file_parts sample_lease)
  if(EQUALUX_HAVE_RTSP)
    equalux_tests(test_rtsp gstreamer LABELS media
      LIBRARIES equalux_gstreamer PkgConfig::RTSP STEMS rtsp_source)
  endif()
  # Its encoder of a GPU is registered in place of the real one, for the whole program.
  equalux_tests(test_gst_gpu_encoder gstreamer LABELS media
    LIBRARIES equalux_gstreamer equalux_media_files
    STEMS gst_gpu_encoder SOURCES gstreamer/fake_gpu_encoder.cpp)
endif()

if(EQUALUX_HAVE_OBS)
  equalux_tests(test_obs obs LABELS media LIBRARIES equalux_obs_filters equalux_cli_parsers STEMS obs_filters
    SOURCES core/short_memory.cpp opencv/virtual_display.cpp)
  target_compile_definitions(test_obs PRIVATE
    EQUALUX_OBS_MODULE="$<TARGET_FILE:equalux_obs>" EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  add_dependencies(test_obs equalux_obs)
endif()

if(EQUALUX_HAVE_PIPEWIRE)
  equalux_tests(test_pipewire pipewire LABELS program clock
    LIBRARIES equalux_pipewire equalux_program_support
    STEMS camera_formats camera_input virtual_camera
    SOURCES pipewire/frame_reader.cpp pipewire/private_daemon.cpp)
  if(EQUALUX_HAVE_HTTP AND EQUALUX_HAVE_LIBAV)
    equalux_test_file(all_at_once pipewire all_at_once)
    target_sources(test_pipewire PRIVATE ${all_at_once})
  endif()
  add_executable(equalux_fake_camera pipewire/fake_camera.cpp)
  target_link_libraries(equalux_fake_camera PRIVATE equalux_pipewire equalux_warnings)
  target_compile_definitions(test_pipewire PRIVATE
    EQUALUX_FAKE_CAMERA="$<TARGET_FILE:equalux_fake_camera>")
  add_dependencies(test_pipewire equalux_fake_camera)
endif()

if(EQUALUX_HAVE_FREI0R)
  equalux_tests(test_frei0r frei0r LABELS media LIBRARIES equalux_frei0r ${CMAKE_DL_LIBS}
    STEMS frei0r_plugin frei0r_hosts)
  target_include_directories(test_frei0r SYSTEM PRIVATE ${FREI0R_INCLUDE_DIR})
  target_compile_definitions(test_frei0r PRIVATE
    EQUALUX_FREI0R_FOLDER="${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/frei0r-1"
    EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  get_property(effects GLOBAL PROPERTY EQUALUX_FREI0R_TARGETS)
  add_dependencies(test_frei0r ${effects})
endif()
