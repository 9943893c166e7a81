#include "check.h"

namespace equalux::cuda {

Error cuda_error(cudaError_t status, std::string_view what) {
  std::string text = "cuda: ";
  int device = 0;
  cudaDeviceProp properties{};
  // After a lost device these fail too; the message then goes without the name.
  if (cudaGetDevice(&device) == cudaSuccess) {
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
      text += std::string(properties.name) + " ";
    }
    text += "(device " + std::to_string(device) + "): ";
  }
  static_cast<void>(cudaGetLastError());  // An error that is reported must not be found again.
  text +=
      std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  return Error(ExitCode::unavailable, text);
}

}  // namespace equalux::cuda
