# Tests of cameras, stills, the window, containers and GStreamer.

if(EQUALUX_HAVE_OPENCV)
  equalux_test(camera LABELS core tsan LIBRARIES equalux_opencv)
  equalux_test(camera_identity LABELS core LIBRARIES equalux_opencv)
  equalux_test(camera_controls LABELS core LIBRARIES equalux_opencv)
  equalux_test(still LABELS core LIBRARIES equalux_opencv)
  if(EQUALUX_HAVE_EXIV2)
    target_compile_definitions(test_still PRIVATE EQUALUX_HAVE_EXIV2)
  endif()
  equalux_test(convolve_opencv LABELS core LIBRARIES equalux_opencv)
  target_compile_definitions(test_convolve_opencv PRIVATE
    EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  target_include_directories(test_convolve_opencv SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  target_link_libraries(test_convolve_opencv PRIVATE opencv_core opencv_imgproc opencv_imgcodecs)
  if(EQUALUX_HAVE_HTTP)
    equalux_test(page_server LABELS media LIBRARIES equalux_serve equalux_opencv)
  endif()
  equalux_test(window LABELS media LIBRARIES equalux_opencv)
  target_sources(test_window PRIVATE support/virtual_display.cpp)
  if(X11_FOUND)
    target_link_libraries(test_window PRIVATE X11::X11)
    target_compile_definitions(test_window PRIVATE EQUALUX_HAVE_X11)
  endif()
endif()

if(EQUALUX_HAVE_LIBAV)
  add_library(equalux_media_files STATIC support/media_files.cpp support/sample_media.cpp)
  target_include_directories(equalux_media_files PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(equalux_media_files
    PUBLIC equalux_container PkgConfig::LIBAV
    PRIVATE equalux_warnings)
  foreach(stem
      container_colour container_failures container_probe container_shortfall container_writer)
    equalux_test(${stem} LABELS media LIBRARIES equalux_media_files)
  endforeach()
endif()

if(EQUALUX_HAVE_GSTREAMER)
  pkg_check_modules(GSTREAMER_CHECK REQUIRED IMPORTED_TARGET
    gstreamer-check-1.0 gstreamer-controller-1.0)
  add_library(equalux_gst_elements STATIC support/gst_elements.cpp)
  target_include_directories(equalux_gst_elements PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(equalux_gst_elements
    PUBLIC equalux_test_support equalux_gstreamer PkgConfig::GSTREAMER_CHECK
    PRIVATE equalux_warnings)
  add_dependencies(equalux_gst_elements gstequalux)
  foreach(stem gst_encoders gst_launch network_source)
    equalux_test(${stem} LABELS media LIBRARIES equalux_gstreamer)
  endforeach()
  if(EQUALUX_HAVE_LIBAV)
    foreach(stem gst_file_source gst_file_sink gst_resume gst_depth)
      equalux_test(${stem} LABELS media LIBRARIES equalux_gstreamer equalux_media_files)
    endforeach()
    equalux_test(gst_gpu_encoder LABELS media LIBRARIES equalux_gstreamer equalux_media_files)
    target_sources(test_gst_gpu_encoder PRIVATE support/fake_gpu_encoder.cpp)
  endif()
endif()
