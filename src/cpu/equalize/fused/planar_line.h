#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/format/layout.h"

namespace equalux {

/// Sampling of a line of cells: 4:2:0 with one row of luma is counted as 4:2:2.
[[nodiscard]] constexpr Sampling sampling_of_line(Sampling sampling, LumaRows rows) {
  return sampling == Sampling::s420 && rows.first == rows.second ? Sampling::s422 : sampling;
}

/// Planar form of a line of YCbCr cells, which FusedRows need: `row` of chroma with `rows` of luma.
/// Other layouts are deinterleaved into memory here and interleaved again. One thread at a time.
class PlanarLine {
 public:
  /// Allocates for frames of `desc`, an 8-bit YCbCr format.
  void configure(const ImageDesc& desc);

  /// Returns the samples of n cells from `begin` on; valid until the next call.
  [[nodiscard]] YuvRowIn read(const FusedRows& loops, const ConstImageView& in, int row,
                              LumaRows rows, std::size_t begin, std::size_t n);
  /// Returns addresses that together cover all bytes of these cells once, for prefetching.
  [[nodiscard]] static YuvRowIn bytes(const ConstImageView& in, int row, LumaRows rows,
                                      std::size_t begin, std::size_t n);

  /// Returns where the results of a whole line go before write(): planes of `out` directly, else
  /// memory here.
  [[nodiscard]] YuvRowOut results(const ImageView& out, int row, LumaRows rows);
  /// Returns memory here for a whole line.
  [[nodiscard]] YuvRowOut own() { return {{plane(0), plane(1)}, plane(2), plane(3)}; }
  /// Interleaves the results that are in memory here into `out`.
  void write(const FusedRows& loops, const ImageView& out, int row);

 private:
  /// Row buffers: two of luma, Cb, Cr, and Cb Cr pairs of packed 4:2:2. Each begins at a cache
  /// line.
  [[nodiscard]] std::uint8_t* plane(std::size_t i) { return memory_.data() + first_ + i * pitch_; }

  std::vector<std::uint8_t> memory_;
  std::size_t first_ = 0;
  std::size_t pitch_ = 0;
};

}  // namespace equalux
