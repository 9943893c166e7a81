#include "cuda/runtime/check.h"

#include <map>
#include <mutex>

namespace equalux::cuda {
namespace {

struct DeviceNames {
  std::mutex mutex;
  std::map<int, std::string> names;
};

DeviceNames& device_names() {
  static DeviceNames all;
  return all;
}

/// The device of use_device() in this thread: once a device is lost, the runtime may not even tell
/// which one was current.
thread_local int used_device = -1;

std::string name_of(int device) {
  DeviceNames& all = device_names();
  const std::lock_guard lock(all.mutex);
  std::string& name = all.names[device];
  cudaDeviceProp properties{};
  if (name.empty() && cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
    name = properties.name;
  }
  return name;
}

}  // namespace

void remember_name(int device, const std::string& name) {
  DeviceNames& all = device_names();
  const std::lock_guard lock(all.mutex);
  all.names[device] = name;
}

void use_device(int device) {
  used_device = device;
  check(cudaSetDevice(device), "choosing the device");
}

Error cuda_error(cudaError_t status, std::string_view what) {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) device = used_device;
  std::string text = "cuda: ";
  if (device >= 0) {
    const std::string name = name_of(device);
    text += name + (name.empty() ? "" : " ") + "(device " + std::to_string(device) + "): ";
  }
  static_cast<void>(cudaGetLastError());  // clears the error, which must not turn up again
  text +=
      std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  return Error(ExitCode::unavailable, text);
}

}  // namespace equalux::cuda
