# Tests of src/: what filters compute, and the figures that judge it.
equalux_tests(test_common common LABELS core
  STEMS log utf8 json_text params options filter_changes frame_check image layout parallel round_rows TSAN parallel)
# The filter of docs/architecture.md, "Adding a filter".
equalux_tests(test_example example LABELS core
  STEMS example SOURCES example/invert_params.cpp example/invert_filter.cpp)
target_compile_definitions(test_example PRIVATE EQUALUX_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
equalux_tests(test_equalize equalize LABELS core
  STEMS tone_curve tone_limits tone_history saturation/saturation saturation/saturation_pass saturation/saturated_streams fixed_curve curve_file saturation/near_half saturation/scaled_above saturation/saturated_codes fused/fused_chain fused/fused_luma region surround surround_state
    deep/deep_chain deep/deep_curves deep/deep_rows space/hue space/space space/lightness_chain
  TSAN fused/fused_chain deep/deep_chain space/space space/lightness_chain LONG saturation/near_half)
equalux_tests(test_staged staged LABELS core STEMS cdf_scan stages staged_chain TSAN staged_chain)
equalux_tests(test_clahe clahe LABELS core STEMS clahe deep_clahe saturated_tiles
  TSAN clahe deep_clahe)
# The bytes of OpenCV's functions, beside OpenCV where the build has it.
equalux_tests(test_opencv_clahe clahe LABELS core STEMS opencv_clahe LONG opencv_clahe)
equalux_tests(test_opencv_equalize equalize LABELS core STEMS opencv_equalize LONG opencv_equalize)
if(EQUALUX_HAVE_OPENCV)
  foreach(program test_opencv_clahe test_opencv_equalize)
    target_compile_definitions(${program} PRIVATE EQUALUX_TEST_OPENCV)
    target_include_directories(${program} SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
    target_link_libraries(${program} PRIVATE opencv_core opencv_imgproc)
  endforeach()
endif()
equalux_tests(test_denoise denoise LABELS core
  STEMS denoise denoise_rows fractions TSAN denoise fractions)
equalux_tests(test_convolve convolve LABELS core
  STEMS exact_kernel convolve TSAN convolve)
equalux_tests(test_hessian hessian LABELS core
  STEMS hessian vessel vessel_output TSAN hessian vessel vessel_output)

add_library(equalux_scenes STATIC quality/stability_scenes.cpp quality/scene_meter.cpp)
target_link_libraries(equalux_scenes PUBLIC equalux_test_support PRIVATE equalux_warnings)
equalux_tests(test_quality quality LABELS core STEMS quality clip_meter noise_over_time LIBRARIES equalux_scenes)
# What judges pictures over many frames: too slow for builds with sanitizers.
equalux_tests(test_scenes quality
  STEMS scene_meter stability_scenes stability surround_scenes LIBRARIES equalux_scenes)
target_compile_definitions(test_scenes PRIVATE EQUALUX_CONFIGS="${PROJECT_SOURCE_DIR}/configs")
equalux_tests(test_vessel_trees hessian
  STEMS vessel_trees LONG vessel_trees)

# The C interface as programs in C have it: compiled by the C compiler, linked to the shared library alone.
add_executable(test_c_interface host/test_c_interface.c host/cxx_frames.cpp)
target_link_libraries(test_c_interface PRIVATE equalux::equalux equalux_sanitizer equalux_warnings)
set_target_properties(test_c_interface PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF UNITY_BUILD OFF)
target_compile_options(test_c_interface PRIVATE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Werror>)
add_dependencies(core_tests test_c_interface)
foreach(case GivesTheBytesOfCxx KeepsItsState TellsWhatIsWrong RefusesFramesThatAreNone IsLeftAsItWasByABadOption
    LiesInMemoryAsItSays)
  add_test(NAME CInterface.${case} COMMAND test_c_interface ${case})
  set_tests_properties(CInterface.${case} PROPERTIES LABELS core TIMEOUT 120)
endforeach()
# Compilers of C refuse a standard of C++.
add_test(NAME CInterface.PkgConfigIsForCToo
  COMMAND sh -c "grep Cflags: \"$1\" && ! grep -e -std= \"$1\"" check ${PROJECT_BINARY_DIR}/equalux.pc)
set_tests_properties(CInterface.PkgConfigIsForCToo PROPERTIES LABELS core TIMEOUT 60)

if(NOT "AVX3_DL" IN_LIST EQUALUX_WITHOUT_SIMD)
  add_test(NAME Simd.NoAvxVnni
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/common/avx_vnni.sh $<TARGET_FILE:equalux_core>)
  set_tests_properties(Simd.NoAvxVnni PROPERTIES LABELS core TIMEOUT 60 SKIP_RETURN_CODE 77)
endif()
