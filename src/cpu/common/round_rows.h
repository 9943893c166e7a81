#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/stores.h"
#include "src/format/layout.h"

/// Rounding of rows with fractions of levels to rows of levels. Formulas: src/format/rounding.h.
namespace equalux {

/// What is added to the words of a row, from its first one on; they repeat after `period`.
struct RowThresholds {
  static constexpr std::size_t kMostPeriod = 32;  ///< 8 pixels of four samples
  static constexpr std::size_t kMostLanes = 32;
  std::array<std::uint16_t, kMostPeriod + kMostLanes> at;
  std::size_t period;
};

/// Sample i of a row of words, rounded.
inline std::uint8_t rounded_word(const std::uint8_t* in, const RowThresholds& thresholds, int shift,
                                 std::size_t i) {
  std::uint16_t word = 0;
  std::memcpy(&word, in + 2 * i, sizeof word);
  const int sum = std::min(word + thresholds.at[i % thresholds.period], 65535);
  return static_cast<std::uint8_t>(std::min(sum >> shift, 255));
}

/// One target's loop over n samples. All targets give the same bytes.
struct RoundRows {
  std::string_view target;
  /// out = min((word + threshold) >> shift, 255), sums cut off at 65,535. Rows have no alignment.
  void (*round)(const std::uint8_t* in, const RowThresholds& thresholds, int shift, Stores stores,
                std::size_t n, std::uint8_t* out);
  /// Puts rows of Y, Cb and Cr of 8 bits together, two columns a time, n of them. In a pair luma
  /// is `luma` bytes behind its first one.
  void (*pack)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, int luma,
               std::size_t n, std::uint8_t* out);
  /// Makes a thread's streaming stores visible; called once after its last row.
  void (*flush_stores)();
};

[[nodiscard]] const RoundRows& scalar_round_rows();
/// The loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const RoundRows& round_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<RoundRows> all_round_rows();

/// Rounds the rows of frames with fractions of the levels of `format`. Threads may share it.
class FractionRounder {
 public:
  explicit FractionRounder(PixelFormat format, const RoundRows& loops = round_rows());

  /// Row y of a plane with `n` words, into the same row of a plane of bytes.
  void round(int plane, int y, const std::uint8_t* in, std::size_t n, Dither dither, Stores stores,
             std::uint8_t* out) const;
  void flush_stores() const { loops_.flush_stores(); }
  /// Row y of planar Y, Cb and Cr, `n` columns, into one of packed 4:2:2. `scratch` holds as many
  /// bytes as `out`.
  void pack(int y, const YuvRowIn& in, std::size_t n, Dither dither, std::uint8_t* scratch,
            std::uint8_t* out) const;

 private:
  struct Plane {
    RowThresholds nearest;
    std::array<RowThresholds, 8> ordered;  // of row y modulo 8
  };

  const RoundRows& loops_;
  int shift_;
  int luma_offset_;
  std::vector<Plane> planes_;
};

}  // namespace equalux
