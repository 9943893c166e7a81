#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <equalux/image.h>

#include "cuda/device/fast_divisor.h"
#include "src/format/layout.h"

/// Packed RGB and gray8 frames as the kernels of the staged chain address them.
namespace equalux::cuda {

/// Pixels that a thread loads or stores in one access, where alignment allows it.
inline constexpr int kGroup = 4;

/// A frame whose pixels are numbered row by row; `Byte` is const for frames that are only read. A
/// frame without gaps between its rows counts as one long row, so that groups of pixels may cross
/// row ends.
template <typename Byte>
struct PackedFrame {
  Byte* data = nullptr;
  std::int64_t stride = 0;  ///< bytes, may be negative
  FastDivisor width;        ///< pixels of a row

  EQUALUX_HD Byte* pixel(std::uint32_t i, int step) const {
    const std::uint32_t row = width.quotient(i);
    const std::uint32_t column = i - row * width.divisor;
    return data + static_cast<std::int64_t>(row) * stride +
           static_cast<std::int64_t>(column) * step;
  }
};

/// Selectors of __byte_perm that convert between a pixel as it lies in memory and a word with r, g
/// and b in its bytes 0, 1 and 2.
struct PixelOrder {
  std::uint32_t load = 0;   ///< for (pixel, 0): byte 3 becomes 0
  std::uint32_t store = 0;  ///< for (rgb word, original pixel): keeps the original's fourth byte

  static PixelOrder of(PixelFormat format) {
    const RgbLayout at = rgb_layout(format);
    const auto select = [](int byte, int place) {
      return static_cast<std::uint32_t>(byte) << (4 * place);
    };
    PixelOrder order;
    order.load = select(at.r, 0) | select(at.g, 1) | select(at.b, 2) | select(4, 3);
    for (int place = 0; place < 4; ++place) {
      const int channel = place == at.r ? 0 : place == at.g ? 1 : place == at.b ? 2 : 4 + place;
      order.store |= select(channel, place);
    }
    return order;
  }
};

/// Number of pixels of a frame; kMaxPixels bounds it, so that 32 bits hold it.
[[nodiscard]] inline std::uint32_t pixels_of(const ImageDesc& desc) {
  return static_cast<std::uint32_t>(desc.width) * static_cast<std::uint32_t>(desc.height);
}

/// Returns true where there is a gap between the end of a row and the beginning of the next one.
template <typename View>
[[nodiscard]] bool has_gaps(const View& view) {
  const std::ptrdiff_t row =
      static_cast<std::ptrdiff_t>(view.desc.width) * traits(view.desc.format).step[0];
  return view.desc.height > 1 && view.stride[0] != row;
}

/// Describes a ConstImageView or ImageView for a kernel.
template <typename View>
[[nodiscard]] auto packed_frame(const View& view) {
  using Byte = std::remove_pointer_t<typename decltype(view.data)::value_type>;
  const std::uint32_t width =
      has_gaps(view) ? static_cast<std::uint32_t>(view.desc.width) : pixels_of(view.desc);
  return PackedFrame<Byte>{view.data[0], view.stride[0], FastDivisor::of(width)};
}

/// Returns true where kernels may access groups of kGroup pixels: each group is aligned (16 bytes
/// for 4-byte pixels, else 4 bytes), and none crosses the end of a row.
template <typename View>
[[nodiscard]] bool takes_groups(const View& view) {
  const std::ptrdiff_t alignment = traits(view.desc.format).step[0] == 4 ? 16 : 4;
  if (reinterpret_cast<std::uintptr_t>(view.data[0]) % static_cast<std::uintptr_t>(alignment) != 0)
    return false;
  return !has_gaps(view) || (view.desc.width % kGroup == 0 && view.stride[0] % alignment == 0);
}

}  // namespace equalux::cuda
