# Tests of the CUDA backend. They skip themselves where no device answers.
add_library(equalux_device_support STATIC support/device/device_image.cpp)
target_link_libraries(equalux_device_support
  PUBLIC equalux_test_support equalux_cuda PRIVATE equalux_warnings)

equalux_tests(test_cuda cuda LABELS gpu LIBRARIES equalux_device_support equalux_pipelines
  STEMS cuda_kept_context cuda_processor cuda_random_frames cuda_streams LONG cuda_random_frames
  ALONE CudaRandomFrames.OfTheMostPixelsAreThoseOfTheCpu CudaProcessor.LittleDeviceMemoryMeansFewerSlots CudaProcessor.MakingAndLeavingManyLosesNoDeviceMemory)
equalux_tests(test_cuda_equalize equalize LABELS gpu LIBRARIES equalux_device_support
  STEMS cuda_curves saturation/cuda_saturation cuda_fixed_curve cuda_excluded fused/cuda_fused_chain cuda_opencv_equalize
    deep/cuda_deep_chain deep/cuda_deep_strips)
equalux_tests(test_cuda_staged staged LABELS gpu LIBRARIES equalux_device_support
  STEMS cuda_stages cuda_staged_chain cuda_conversions)
equalux_tests(test_cuda_clahe clahe LABELS gpu LIBRARIES equalux_device_support
  STEMS cuda_clahe cuda_deep_clahe cuda_opencv_clahe)
equalux_tests(test_cuda_convolve convolve LABELS gpu LIBRARIES equalux_device_support
  STEMS cuda_convolve)
equalux_tests(test_cuda_denoise denoise LABELS gpu LIBRARIES equalux_device_support
  STEMS cuda_denoise)
equalux_tests(test_cuda_hessian hessian LABELS gpu LIBRARIES equalux_device_support
  STEMS cuda_hessian cuda_vessel cuda_components)
equalux_tests(test_cuda_published_hessian lab LABELS gpu LIBRARIES equalux_device_support equalux_gpu_lab
  STEMS cuda_published_hessian)

# A planted race, which racecheck has to find: what it says of the stages then means something.
add_library(equalux_racy_scan STATIC staged/racy_scan.cu)
target_include_directories(equalux_racy_scan PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(equalux_racy_scan PUBLIC equalux_cuda)
add_executable(racy_scan staged/racy_scan_main.cpp)
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
  cuda/fake_cuda.cpp cuda/fake_cuda_registry.cpp cuda/fake_cuda_runtime.cpp)
target_include_directories(equalux_fake_cuda PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(equalux_fake_cuda SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(equalux_fake_cuda PRIVATE equalux_warnings)
equalux_tests(test_fake_cuda cuda LABELS core LIBRARIES equalux_fake_cuda equalux_pipelines
  STEMS cuda_call_failures cuda_device_choice cuda_chains cuda_host_filter cuda_strides cuda_transparency)
