#include <algorithm>
#include <future>

#include <cuda_runtime_api.h>
#include <equalux/device.h>
#include <equalux/error.h>

#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/runtime/check.h"

namespace equalux {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Says why no device was found, in words for the person who has to repair it.
std::string reason_for(cudaError_t status) {
  int driver = 0;
  cuda::ignore(cudaDriverGetVersion(&driver));
  switch (status) {
    case cudaErrorInsufficientDriver:
      if (driver == 0) return "no CUDA driver is loaded";
      return "the driver knows CUDA up to " + version_text(driver) + ", this build needs " +
             version_text(CUDART_VERSION);
    case cudaErrorNoDevice:
      return "the driver finds no CUDA device";
    default:
      return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  }
}

/// Says why a device cannot be used: it does not answer, or this build has no code for it. Empty
/// where it can.
std::string trouble_of(CudaDevice& device) {
  if (const cudaError_t status = cudaSetDevice(device.number); status != cudaSuccess) {
    return reason_for(status);
  }
  std::size_t total = 0;
  if (const cudaError_t status = cudaMemGetInfo(&device.free_bytes, &total);
      status != cudaSuccess) {
    return reason_for(status);
  }
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(
      &attributes, cuda::fused_packed_kernel(PixelFormat::bgr, cuda::Access::spans));
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
    return "this build has no code for compute capability " + std::to_string(device.major) + "." +
           std::to_string(device.minor);
  }
  return status == cudaSuccess ? std::string() : reason_for(status);
}

CudaDevice describe(int number) {
  CudaDevice device;
  device.number = number;
  cudaDeviceProp properties{};
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, number);
      status != cudaSuccess) {
    device.trouble = reason_for(status);
    return device;
  }
  device.name = properties.name;
  cuda::remember_name(number, device.name);
  device.major = properties.major;
  device.minor = properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.total_bytes = properties.totalGlobalMem;
  device.trouble = trouble_of(device);
  return device;
}

/// Counts the devices that the driver finds; `reason` says why where there is none.
int count_devices(std::string& reason) {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted == cudaSuccess && count > 0) return count;
  reason = reason_for(counted == cudaSuccess ? cudaErrorNoDevice : counted);
  static_cast<void>(cudaGetLastError());
  return 0;
}

/// Describes the devices from `first` to before `end`, in a thread of its own: the caller's current
/// device would have to be set back afterwards, which creates a context on it.
std::vector<CudaDevice> describe(int first, int end) {
  return std::async(std::launch::async,
                    [=] {
                      std::vector<CudaDevice> devices;
                      for (int number = first; number < end; ++number)
                        devices.push_back(describe(number));
                      return devices;
                    })
      .get();
}

}  // namespace

CudaStatus cuda_status() {
  CudaStatus status;
  const int count = count_devices(status.reason);
  if (count == 0) return status;
  status.devices = describe(0, count);
  const auto usable = std::find_if(status.devices.begin(), status.devices.end(),
                                   [](const CudaDevice& d) { return d.trouble.empty(); });
  status.available = usable != status.devices.end();
  const CudaDevice& first = status.available ? *usable : status.devices.front();
  status.reason = status.available ? first.name : first.name + ": " + first.trouble;
  return status;
}

void require_cuda_device(int wanted) {
  std::string reason;
  const int count = count_devices(reason);
  if (count == 0) {
    const std::string which = wanted >= 0 ? "device " + std::to_string(wanted) + ": " : "";
    throw Error(ExitCode::unavailable, "cuda: " + which + reason);
  }
  if (wanted >= count) {
    throw Error(ExitCode::usage, "device is " + std::to_string(wanted) + ", must be -1 to " +
                                     std::to_string(count - 1) + " on this machine");
  }
}

CudaDevice choose_cuda_device(int wanted) {
  require_cuda_device(wanted);
  if (wanted >= 0) {
    CudaDevice device = describe(wanted, wanted + 1).front();
    if (device.trouble.empty()) return device;
    throw Error(ExitCode::unavailable, "cuda: " + device.name + " (device " +
                                           std::to_string(wanted) + "): " + device.trouble);
  }
  const CudaStatus status = cuda_status();
  if (!status.available) throw Error(ExitCode::unavailable, "cuda: " + status.reason);
  // Takes the first of equally good devices, as max_element does.
  return *std::max_element(
      status.devices.begin(), status.devices.end(), [](const CudaDevice& a, const CudaDevice& b) {
        const auto room = [](const CudaDevice& d) { return d.trouble.empty() ? d.free_bytes : 0; };
        return room(a) < room(b);
      });
}

}  // namespace equalux
