# Tests of the CUDA backend. They skip themselves where no device answers.
add_library(equalux_device_support STATIC support/device_image.cpp)
target_link_libraries(equalux_device_support
  PUBLIC equalux_test_support equalux_cuda PRIVATE equalux_warnings)

equalux_test(cuda_fused_chain LABELS gpu LIBRARIES equalux_device_support)
equalux_test(cuda_processor LABELS gpu LIBRARIES equalux_device_support equalux_pipelines)
