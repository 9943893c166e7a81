#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "device_copy.h"
#include "fixed_curve.h"

/// Curves that are kept, between the host and the device.
namespace equalux::cuda {

/// Writes a curve; what reads it must not be under way.
inline void copy_curve(const std::array<std::uint32_t, 256>& curve, std::uint32_t* on_device) {
  upload(on_device, curve.data(), sizeof curve, "uploading the curve");
}

/// The sums of `frames` curves with levels up to `max_value`. Waits for the frames under way.
inline CurveSum read_curve_sum(const EqualizeParams& params, std::uint64_t frames,
                               const unsigned long long* on_device, int max_value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(max_value) + 1);
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  check(cudaMemcpy(sums.data(), on_device, sums.size() * sizeof(std::uint64_t),
                   cudaMemcpyDeviceToHost),
        "reading the curves");
  return curve_sum_of(params, frames, std::move(sums));
}

}  // namespace equalux::cuda
