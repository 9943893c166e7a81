#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/handles.h"

/// Arrays in device memory for tests.
namespace equalux::test {

/// An array whose elements, and a guard behind them, are poisoned until something is uploaded.
/// Aligned to 256 bytes.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size)
      : size_(size),
        bytes_(size * sizeof(T) + kGuard, kPoison),
        memory_(cuda::allocate_device<std::uint8_t>(bytes_.size())) {
    send();
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    upload(values);
  }

  [[nodiscard]] T* get() const { return reinterpret_cast<T*>(memory_.get()); }

  void upload(const std::vector<T>& values) {
    std::memcpy(bytes_.data(), values.data(), std::min(values.size(), size_) * sizeof(T));
    send();
  }
  void poison() {
    std::fill(bytes_.begin(), bytes_.end(), kPoison);
    send();
  }
  /// Waits for the device. Throws std::runtime_error where the guard has changed.
  [[nodiscard]] std::vector<T> download() {
    cuda::check(cudaDeviceSynchronize(), "running a test");
    cuda::check(cudaMemcpy(bytes_.data(), memory_.get(), bytes_.size(), cudaMemcpyDeviceToHost),
                "downloading a test array");
    for (std::size_t i = size_ * sizeof(T); i < bytes_.size(); ++i) {
      if (bytes_[i] != kPoison)
        throw std::runtime_error("byte " + std::to_string(i) + " behind the array was written");
    }
    std::vector<T> values(size_);
    std::memcpy(values.data(), bytes_.data(), size_ * sizeof(T));
    return values;
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr std::uint8_t kPoison = 0x5A;

  void send() {
    cuda::upload(memory_.get(), bytes_.data(), bytes_.size(), "uploading a test array");
  }

  std::size_t size_;
  std::vector<std::uint8_t> bytes_;
  cuda::DevicePointer<std::uint8_t> memory_;
};

}  // namespace equalux::test
