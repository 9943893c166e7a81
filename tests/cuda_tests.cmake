# Tests of the CUDA backend. They skip themselves where no device answers.
add_library(equalux_device_support STATIC support/device_image.cpp)
target_link_libraries(equalux_device_support
  PUBLIC equalux_test_support equalux_cuda PRIVATE equalux_warnings)

equalux_test(cuda_clahe LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_conversions LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_convolve LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_curves LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_fixed_curve LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_excluded LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_fused_chain LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_deep_chain LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_hessian LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_vessel LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_hessian_study LABELS gpu LIBRARIES equalux_device_support equalux_gpu_lab)
equalux_test(cuda_processor LABELS gpu LIBRARIES equalux_device_support equalux_pipelines)
equalux_test(cuda_streams LABELS gpu LIBRARIES equalux_device_support equalux_pipelines)
equalux_test(cuda_stages LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_staged_chain LABELS gpu LIBRARIES equalux_device_support)

# A planted race, which racecheck has to find: what it says of the stages then means something.
add_library(equalux_racy_scan STATIC support/racy_scan.cu)
target_include_directories(equalux_racy_scan PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(equalux_racy_scan PUBLIC equalux_cuda)
add_executable(racy_scan racy_scan_main.cpp)
target_link_libraries(racy_scan PRIVATE
  equalux_racy_scan equalux_device_support equalux_warnings)

find_program(EQUALUX_COMPUTE_SANITIZER compute-sanitizer HINTS ${CUDAToolkit_BIN_DIR})
if(EQUALUX_COMPUTE_SANITIZER)
  add_test(NAME RacyScan.IsFoundByRacecheck
    COMMAND ${EQUALUX_COMPUTE_SANITIZER} --tool racecheck $<TARGET_FILE:racy_scan>)
  set_tests_properties(RacyScan.IsFoundByRacecheck PROPERTIES
    LABELS gpu SKIP_RETURN_CODE 77 PASS_REGULAR_EXPRESSION "RACECHECK SUMMARY: [1-9]")
endif()

# A CUDA runtime that fails as it is asked to, in place of the toolkit's: needs no device.
add_library(equalux_fake_cuda OBJECT
  support/fake_cuda.cpp support/fake_cuda_registry.cpp support/fake_cuda_runtime.cpp)
target_include_directories(equalux_fake_cuda PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(equalux_fake_cuda SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(equalux_fake_cuda PRIVATE equalux_warnings)
equalux_test(cuda_call_failures LABELS core LIBRARIES equalux_fake_cuda equalux_pipelines)
equalux_test(cuda_device_choice LABELS core LIBRARIES equalux_fake_cuda equalux_cuda)
equalux_test(cuda_chains LABELS core LIBRARIES equalux_fake_cuda equalux_pipelines)
