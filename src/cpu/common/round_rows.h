#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/stores.h"
#include "src/format/layout.h"

/// Rounding of rows with fractions of levels. src/format/rounding.h has the formulas.
namespace equalux {

/// Thresholds for the words of a row from its first one on; they repeat after `period`.
struct RowThresholds {
  static constexpr std::size_t kMostPeriod = 32;  ///< 8 pixels of four samples
  static constexpr std::size_t kMostLanes = 32;
  std::array<std::uint16_t, kMostPeriod + kMostLanes> at;
  std::size_t period;
};

/// Sample i of a row of words, rounded.
inline std::uint8_t rounded_word(const std::uint8_t* in, const RowThresholds& thresholds, int shift,
                                 std::size_t i) {
  const int sum = std::min(load_word(in + 2 * i) + thresholds.at[i % thresholds.period], 65535);
  return static_cast<std::uint8_t>(std::min(sum >> shift, 255));
}

/// Loops of one target over n samples. All targets give the same bytes.
struct RoundRows {
  std::string_view target;
  /// Rounds: out = min((word + threshold) >> shift, 255), sums saturating at 65,535. Rows may have
  /// any alignment.
  void (*round)(const std::uint8_t* in, const RowThresholds& thresholds, int shift, Stores stores,
                std::size_t n, std::uint8_t* out);
  /// Packs n columns of 8-bit rows of Y, Cb and Cr to 4:2:2. Luma is at byte `luma`, 0 or 1, of
  /// each pair.
  void (*pack)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, int luma,
               std::size_t n, std::uint8_t* out);
  /// Fences a thread's streaming stores. Call it once after the thread's last row.
  void (*flush_stores)();
};

[[nodiscard]] const RoundRows& scalar_round_rows();
/// Returns the loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const RoundRows& round_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<RoundRows> all_round_rows();

/// Rounds rows of frames with fractions of the levels of `format`. Threads may share it.
class FractionRounder {
 public:
  explicit FractionRounder(PixelFormat format, const RoundRows& loops = round_rows());

  /// Rounds row y of a plane, `n` words, to the same row of a plane of bytes.
  void round(int plane, int y, const std::uint8_t* in, std::size_t n, Dither dither, Stores stores,
             std::uint8_t* out) const;
  void flush_stores() const { loops_.flush_stores(); }
  /// Rounds row y of planar Y, Cb and Cr, `n` columns, to a row of packed 4:2:2. `scratch` must
  /// have as many bytes as `out`.
  void pack(int y, const YuvRowIn& in, std::size_t n, Dither dither, std::uint8_t* scratch,
            std::uint8_t* out) const;

 private:
  struct Plane {
    RowThresholds nearest;
    std::array<RowThresholds, 8> ordered;  // by row y modulo 8
  };

  const RoundRows& loops_;
  int shift_;
  int luma_offset_;
  std::vector<Plane> planes_;
};

}  // namespace equalux
