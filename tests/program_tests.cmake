# Tests of the built program, which they start as a user would; and of the parts of it that can be
# tested without starting it.
add_library(equalux_program_support STATIC support/program.cpp)
target_include_directories(equalux_program_support PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(equalux_program_support
  PRIVATE EQUALUX_PROGRAM="$<TARGET_FILE:equalux_program>"
  PUBLIC EQUALUX_PROGRAM_FOLDER="$<TARGET_FILE_DIR:equalux_program>" EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}"
    $<TARGET_PROPERTY:equalux_cli,INTERFACE_COMPILE_DEFINITIONS>)
target_link_libraries(equalux_program_support PRIVATE Threads::Threads equalux_warnings)
add_dependencies(equalux_program_support equalux_program equalux_lab_program)

# Tests that only start the program do not link its libraries themselves, whose loading takes longer than
# most of them.
equalux_tests(test_program cli LABELS program LIBRARIES equalux_program_support equalux_pipelines
  STEMS program_errors stream/program_outputs stream/program_depth program_hessian program_measure program_run program_curve
    program_full_disk broken_files
  SOURCES cli/small_disk.cpp LONG broken_files TIMEOUT 2400 CASES_BY_VALUE)
equalux_tests(test_cli cli LABELS program LIBRARIES equalux_program_support equalux_cli
  STEMS program_options program_image doctor stream/live_control)
equalux_tests(test_manual cli LABELS program LIBRARIES equalux_program_support equalux_manual_pages
  STEMS manual)
equalux_tests(test_batch batch LABELS program LIBRARIES equalux_program_support equalux_cli
  STEMS batch_plan batch_report program_batch program_resume LONG program_resume TIMEOUT 2400)
# Forks workers of its own.
equalux_tests(test_worker_pool batch LABELS program LIBRARIES equalux_cli STEMS worker_pool)
equalux_tests(test_lab lab LABELS program LIBRARIES equalux_program_support equalux_lab
  STEMS lab lab_convolution lab_hessian lab_scalers)
equalux_tests(test_config_file cli LABELS core LIBRARIES equalux_cli_parsers STEMS config_file)
equalux_tests(test_lab_table lab LABELS core LIBRARIES equalux_lab_tables STEMS lab_table)
equalux_tests(test_golden golden LABELS program LIBRARIES equalux_program_support equalux_cli
  STEMS golden SOURCES golden/published_pictures.cpp)
# What lies in a module's place: one of another version, and a library that is no module.
foreach(module old strange)
  add_library(equalux_${module}_module MODULE cli/old_module.cpp)
  target_include_directories(equalux_${module}_module PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(equalux_${module}_module PRIVATE equalux_warnings)
endforeach()
target_compile_definitions(equalux_strange_module PRIVATE equalux_module=another_entry)
equalux_tests(test_program_start cli LABELS program LIBRARIES equalux_program_support
  STEMS program_start)
add_dependencies(test_program_start equalux_old_module equalux_strange_module)
target_compile_definitions(test_program_start PRIVATE
  EQUALUX_OLD_MODULE="$<TARGET_FILE:equalux_old_module>"
  EQUALUX_STRANGE_MODULE="$<TARGET_FILE:equalux_strange_module>")
# equalux_lacks(test pattern targets...): none of the targets has symbols that the program has.
function(equalux_lacks test pattern)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/common/absent_symbols.sh
    ${pattern} $<TARGET_FILE:equalux_program> ${files})
  set_tests_properties(${test} PROPERTIES LABELS program TIMEOUT 60 SKIP_RETURN_CODE 77)
endfunction()
get_property(modules GLOBAL PROPERTY EQUALUX_MODULE_TARGETS)
if(modules)
  equalux_lacks(Modules.ContainNoFilters "equalux::make_cpu_filter" ${modules})
endif()
# Modules of the program, and what runs filters on the CPU alone.
get_property(plugins GLOBAL PROPERTY EQUALUX_FREI0R_TARGETS)
if(EQUALUX_HAVE_OBS)
  list(APPEND plugins equalux_obs)
endif()
if(EQUALUX_HAVE_CUDA AND (modules OR plugins))
  equalux_lacks(Modules.ContainNoKernels fatbinData ${modules} ${plugins})
endif()
if(EQUALUX_HAVE_HTTP)
  equalux_tests(test_program_open cli LABELS program LIBRARIES equalux_program_support STEMS stream/program_open)
endif()
add_library(equalux_short_malloc MODULE cli/short_malloc.cpp)
target_link_libraries(equalux_short_malloc PRIVATE ${CMAKE_DL_LIBS})
# malloc() and its like are for everybody.
set_target_properties(equalux_short_malloc PROPERTIES CXX_VISIBILITY_PRESET default)
equalux_tests(test_program_short_memory cli LABELS program LIBRARIES equalux_program_support
  STEMS program_short_memory LONG program_short_memory)
add_dependencies(test_program_short_memory equalux_short_malloc)
target_compile_definitions(test_program_short_memory PRIVATE
  EQUALUX_SHORT_MALLOC="$<TARGET_FILE:equalux_short_malloc>")
if(EQUALUX_HAVE_GSTREAMER)
  equalux_tests(test_program_media cli LABELS program
    LIBRARIES equalux_program_support equalux_media_files
    STEMS stream/program_record stream/program_codecs stream/program_transparency long_run LONG long_run TIMEOUT 3600)
endif()
if(EQUALUX_HAVE_GSTREAMER)
  equalux_tests(test_program_stream cli LABELS program LIBRARIES equalux_program_support
    STEMS stream/program_stream)
  if(EQUALUX_HAVE_RTSP)
    equalux_tests(test_program_push cli LABELS program
      LIBRARIES equalux_program_support PkgConfig::RTSP STEMS stream/program_push)
  endif()
endif()
# On a cluster that the test starts itself, where its parts are installed; else a visible skip.
if(EQUALUX_HAVE_GSTREAMER)
  foreach(engine parallel slurm)
    add_test(NAME Cluster.${engine}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cluster/${engine}.sh
        $<TARGET_FILE:equalux_program> ${PROJECT_SOURCE_DIR}/samples)
    set_tests_properties(Cluster.${engine} PROPERTIES
      LABELS "program;long" SKIP_RETURN_CODE 77 TIMEOUT 900)
  endforeach()
endif()
# What the documentation tells people to run, in a build that has what it speaks of.
find_program(EQUALUX_PYTHON python3)
# The filters in OBS itself, which loads no instrumented module; a visible skip where there is no OBS.
if(EQUALUX_PYTHON AND EQUALUX_HAVE_GSTREAMER AND EQUALUX_HAVE_OPENCV AND EQUALUX_SANITIZER STREQUAL none)
  add_test(NAME Obs.Program COMMAND ${EQUALUX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/obs/obs_program.py
    $<TARGET_FILE:equalux_program> ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/obs-plugins ${PROJECT_SOURCE_DIR})
  set_tests_properties(Obs.Program PROPERTIES
    LABELS "program;clock" SKIP_RETURN_CODE 77 TIMEOUT 1200 COST 80)
endif()
# The page in a browser; a visible skip where there is none.
if(EQUALUX_PYTHON AND EQUALUX_HAVE_HTTP AND EQUALUX_HAVE_OPENCV)
  add_test(NAME Browser.page COMMAND ${EQUALUX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/control/page_in_browser.py
    $<TARGET_FILE:equalux_program>)
  set_tests_properties(Browser.page PROPERTIES LABELS "program;clock" SKIP_RETURN_CODE 77 TIMEOUT 300 COST 15)
endif()
# The virtual camera on a page of a browser; a visible skip where there is none.
if(EQUALUX_PYTHON AND EQUALUX_HAVE_PIPEWIRE AND EQUALUX_HAVE_GSTREAMER AND EQUALUX_SANITIZER STREQUAL none)
  foreach(browser IN ITEMS chromium firefox-esr)
    add_test(NAME Browser.${browser} COMMAND ${EQUALUX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/pipewire/browser_camera.py
      ${browser} $<TARGET_FILE:equalux_program>)
    set_tests_properties(Browser.${browser} PROPERTIES
      LABELS "program;clock" SKIP_RETURN_CODE 77 TIMEOUT 600 COST 30)
  endforeach()
endif()
if(EQUALUX_PYTHON AND EQUALUX_HAVE_GSTREAMER AND EQUALUX_HAVE_OPENCV
    AND EQUALUX_HAVE_HTTP)
  file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*/*.md
    ${PROJECT_SOURCE_DIR}/samples/*.md)
  file(GLOB configs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/configs/*.toml)
  set(documented ${EQUALUX_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/documentation/documented_commands.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  foreach(page ${pages})
    add_test(NAME Documentation.${page} COMMAND ${documented} ${page})
    # Some are the longest tests of all, and begin first.
    set_tests_properties(Documentation.${page} PROPERTIES LABELS program TIMEOUT 1800 COST 100)
  endforeach()
  # Again, too: what it made before is in its way.
  add_test(NAME Scripts.Demo WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMAND bash -o pipefail -c "scripts/demo --out \"$1\" 2>&1 | tee /dev/stderr | grep 'preset stable' && scripts/demo --out \"$1\""
      demo ${CMAKE_CURRENT_BINARY_DIR}/demo)
  set_tests_properties(Scripts.Demo PROPERTIES
    LABELS program TIMEOUT 600 COST 100 ENVIRONMENT EQUALUX=$<TARGET_FILE:equalux_program>)
  # Links of the pages and the names in them, and the site that is made of them.
  add_test(NAME Documentation.Links COMMAND ${EQUALUX_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs --check)
  set_tests_properties(Documentation.Links PROPERTIES LABELS program TIMEOUT 60)
  add_test(NAME Documentation.Site
    COMMAND ${EQUALUX_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs ${PROJECT_BINARY_DIR}/docs)
  set_tests_properties(Documentation.Site PROPERTIES LABELS program TIMEOUT 300 SKIP_RETURN_CODE 69)
  add_test(NAME Documentation.Presets
    COMMAND ${EQUALUX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/documentation/documented_presets.py ${PROJECT_SOURCE_DIR})
  set_tests_properties(Documentation.Presets PROPERTIES LABELS program TIMEOUT 60)
  add_test(NAME Documentation.configs COMMAND ${documented} ${configs})
  add_test(NAME Documentation.WhatFailsIsFound
    COMMAND ${documented} tests/documentation/wrong_commands.md)
  set_tests_properties(Documentation.configs PROPERTIES LABELS program TIMEOUT 1800 COST 80)
  set_tests_properties(Documentation.WhatFailsIsFound PROPERTIES
    LABELS program PASS_REGULAR_EXPRESSION "5 commands, 4 failed")
endif()
# Programs that the documentation shows; those in Python by the interpreter that the module is built for.
if(EQUALUX_PYTHON AND EQUALUX_SANITIZER STREQUAL none)
  set(interpreter ${EQUALUX_PYTHON})
  if(EQUALUX_HAVE_PYTHON)
    set(interpreter ${Python3_EXECUTABLE})
  endif()
  foreach(page docs/library.md docs/python.md)
    add_test(NAME DocumentedCode.${page} COMMAND ${interpreter}
      ${CMAKE_CURRENT_SOURCE_DIR}/documentation/documented_code.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
      ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER} ${page})
    set_tests_properties(DocumentedCode.${page} PROPERTIES LABELS program SKIP_RETURN_CODE 77 TIMEOUT 600 COST 80)
  endforeach()
endif()
if(EQUALUX_HAVE_CUDA)
  equalux_tests(test_cuda_lab lab LABELS gpu
    LIBRARIES equalux_device_support equalux_program_support equalux_lab STEMS cuda_lab)
  equalux_tests(test_cuda_golden golden LABELS gpu
    LIBRARIES equalux_device_support equalux_program_support equalux_cli
    STEMS cuda_golden SOURCES golden/published_pictures.cpp)
  # The program on an invented device, which fails as it is asked to.
  add_executable(equalux_fake_cuda_program ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  target_link_libraries(equalux_fake_cuda_program PRIVATE
    equalux_fake_cuda equalux_cli equalux_warnings)
  equalux_tests(test_program_cuda_failures cli LABELS program LIBRARIES equalux_program_support
    STEMS program_cuda_failures LONG program_cuda_failures)
  add_dependencies(test_program_cuda_failures equalux_fake_cuda_program)
  target_compile_definitions(test_program_cuda_failures PRIVATE
    EQUALUX_FAKE_CUDA_PROGRAM="$<TARGET_FILE:equalux_fake_cuda_program>")
  if(EQUALUX_HAVE_GSTREAMER)
    add_library(gstfakenvenc MODULE
      gstreamer/fake_gpu_encoder.cpp gstreamer/fake_gpu_encoder_plugin.cpp)
    set_target_properties(gstfakenvenc PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/plugins)
    target_include_directories(gstfakenvenc PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(gstfakenvenc PRIVATE equalux_gstreamer equalux_warnings)
    add_dependencies(test_program_cuda_failures gstfakenvenc)
    target_compile_definitions(test_program_cuda_failures PRIVATE
      EQUALUX_FAKE_ENCODER_FOLDER="${CMAKE_CURRENT_BINARY_DIR}/plugins")
  endif()
endif()

# The element beside the program.
if(EQUALUX_HAVE_GSTREAMER)
  equalux_tests(test_plugin plugin LABELS media LIBRARIES equalux_gst_elements equalux_program_support
    STEMS gst_plugin_frames gst_plugin_stream gst_plugin_convolve gst_plugin_vessel gst_plugin_vessel_caps
      gst_plugin_filters gst_plugin_programs)
  add_dependencies(test_plugin sample_live_property)
  if(EQUALUX_HAVE_GSTREAMER_CUDA)
    equalux_tests(test_cuda_plugin plugin LABELS gpu
      LIBRARIES equalux_gst_elements equalux_device_support PkgConfig::GSTREAMER_CUDA
      STEMS cuda_gst_plugin cuda_gst_memory ALONE CudaGstMemory.StartingAndStoppingLosesNoDeviceMemory)
    target_compile_definitions(test_cuda_plugin PRIVATE GST_USE_UNSTABLE_API)
    # The plugin finds a function of newer versions of GStreamer in the test.
    set_target_properties(test_cuda_plugin PROPERTIES ENABLE_EXPORTS ON)
    equalux_tests(test_cuda_file_source gstreamer LABELS gpu
      LIBRARIES equalux_device_support equalux_gstreamer STEMS cuda_file_source
      ALONE CudaFileSource.ComesAndGoesWithoutKeepingMemory)
    target_compile_definitions(test_cuda_file_source PRIVATE
      EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  endif()
endif()
