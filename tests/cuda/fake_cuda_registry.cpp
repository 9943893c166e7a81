#include <cstddef>

#include <cuda_runtime_api.h>

/// What nvcc's code calls by itself: it registers kernels as the program starts, and carries the
/// `<<<>>>` of a launch to the function that stands for the kernel.
namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
};
thread_local Configuration pushed;

}  // namespace

// The names are the compiler's.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {

void** __cudaRegisterFatBinary(void* binary) {
  static void* handle = nullptr;
  handle = binary;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {}
void __cudaRegisterFunction(void** /*handle*/, const char* /*host*/, char* /*device*/,
                            const char* /*name*/, int /*threads*/, void* /*thread*/,
                            void* /*block*/, void* /*block_size*/, void* /*grid_size*/,
                            int* /*warp_size*/) {}
void __cudaRegisterVar(void** /*handle*/, char* /*host*/, char* /*device*/, const char* /*name*/,
                       int /*external*/, std::size_t /*bytes*/, int /*constant*/, int /*global*/) {}
/// Runtime's entry for managed variables. Objects that are not optimized name it, though nobody has
/// any.
char __cudaInitModule(void** /*handle*/) {
  return 1;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     void* stream) {
  pushed = {grid, block, shared_bytes, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared_bytes = pushed.shared_bytes;
  *static_cast<void**>(stream) = pushed.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(void** kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return cudaSuccess;
}
/// CUDA 13's way to launch.
cudaError_t __cudaLaunchKernel(void* kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
