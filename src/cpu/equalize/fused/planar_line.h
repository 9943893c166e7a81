#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/format/layout.h"

namespace equalux {

/// What a line of cells becomes in 4:2:0 where it has one row of luma: counted as 4:2:2.
[[nodiscard]] constexpr Sampling sampling_of_line(Sampling sampling, LumaRows rows) {
  return sampling == Sampling::s420 && rows.first == rows.second ? Sampling::s422 : sampling;
}

/// A line of cells of YCbCr in planes, as FusedRows want them: what lies otherwise in a frame is
/// taken apart into memory here, and put together again. Row `row` of chroma belongs to the line,
/// and `rows` of luma. One thread at a time.
class PlanarLine {
 public:
  /// Of frames of `desc`, an 8-bit format of YCbCr.
  void configure(const ImageDesc& desc);

  /// The samples of n cells from `begin` on; valid until the next call.
  [[nodiscard]] YuvRowIn read(const FusedRows& loops, const ConstImageView& in, int row,
                              LumaRows rows, std::size_t begin, std::size_t n);
  /// Where the bytes of these cells lie, whatever they hold: all of them, once each.
  [[nodiscard]] static YuvRowIn bytes(const ConstImageView& in, int row, LumaRows rows,
                                      std::size_t begin, std::size_t n);

  /// Where a whole line's results go before write(): to `out` what lies in planes there.
  [[nodiscard]] YuvRowOut results(const ImageView& out, int row, LumaRows rows);
  /// All in memory here.
  [[nodiscard]] YuvRowOut own() { return {{plane(0), plane(1)}, plane(2), plane(3)}; }
  /// Interleaves what results() kept here.
  void write(const FusedRows& loops, const ImageView& out, int row);

 private:
  /// Two rows of luma, Cb, Cr, and the Cb Cr pairs of packed 4:2:2, each from a cache line on.
  [[nodiscard]] std::uint8_t* plane(std::size_t i) { return memory_.data() + first_ + i * pitch_; }

  std::vector<std::uint8_t> memory_;
  std::size_t first_ = 0;
  std::size_t pitch_ = 0;
};

}  // namespace equalux
