#pragma once

#include <cstddef>
#include <cstdint>

#include <equalux/image.h>

#include "src/format/layout.h"

namespace equalux::cuda {

/// The samples of a plane that is read, and where they go in the plane that is written. Strides are
/// bytes and may be negative.
struct PlanePair {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  std::ptrdiff_t in_stride = 0;
  std::ptrdiff_t out_stride = 0;

  [[nodiscard]] static PlanePair of_plane(const ConstImageView& in, const ImageView& out,
                                          int plane) {
    const auto p = static_cast<std::size_t>(plane);
    return {in.data[p], out.data[p], in.stride[p], out.stride[p]};
  }
  /// Describes the samples of one component; see samples_of().
  [[nodiscard]] static PlanePair of_component(const ConstImageView& in, const ImageView& out,
                                              int index) {
    const auto from = samples_of(in, index);
    const auto to = samples_of(out, index);
    return {from.first, to.first, from.stride, to.stride};
  }

  EQUALUX_HD const std::uint8_t* from(std::int64_t row) const { return in + in_stride * row; }
  EQUALUX_HD std::uint8_t* to(std::int64_t row) const { return out + out_stride * row; }

  /// Returns true where all addresses and strides are multiples of `granule` bytes.
  [[nodiscard]] bool is_multiple(std::uintptr_t granule) const {
    const auto all = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) |
                     static_cast<std::uintptr_t>(in_stride) |
                     static_cast<std::uintptr_t>(out_stride);
    return all % granule == 0;
  }
};

}  // namespace equalux::cuda
