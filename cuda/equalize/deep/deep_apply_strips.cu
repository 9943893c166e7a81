#include <cmath>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_change.cuh"
#include "cuda/equalize/deep/deep_strips.cuh"
#include "cuda/equalize/deep/whole_doubles.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// Numbers of a format that saturation takes, made once for all threads.
struct LineNumbers {
  double luma_base;      ///< takes luma, to which black is added, to a whole number
  double chroma_base;    ///< likewise of chroma, less the middle
  double chroma_middle;  ///< 2^52 and the middle
  double chroma_more;    ///< by which products of chroma are too large
  double chroma_sure;    ///< distance from a whole number up to which a product is right
  double most_inverse;   ///< 1 / M

  /// What terms of the definition are below slopes at most, of the largest k and chroma, and
  /// roundings, in units of chroma_more.
  static constexpr double kMostShort =
      static_cast<double>(saturation::kMost) / saturation::kOne + 2.25;

  explicit LineNumbers(const DeepSamples& form)
      : luma_base(kSignedWhole + form.weights.luma_offset),
        chroma_base(kSignedWhole + form.chroma_middle),
        chroma_middle(kWhole + form.chroma_middle),
        chroma_more(std::ldexp(1.0, -form.depth - 8)),
        chroma_sure(0.5 - std::ldexp(kMostShort, -form.depth - 8)),
        most_inverse(1.0 / form.weights.luma_max) {}
};

/// By gains alone.
class ByGains {
 public:
  struct Sum {
    std::uint64_t gains = 0;  ///< without the bits that shares do not have
  };
  struct Colour {
    std::int32_t above;  ///< of V over luma, from code to v
  };

  __device__ ByGains(const DeepSamples& form, const DeepChange& change, const LineNumbers&)
      : form_(form), gains_(change.gains), scaled_(form.depth) {}

  [[nodiscard]] __device__ __forceinline__ Colour colour(std::int32_t u, std::int32_t w) const {
    return {deep_value_above_luma<std::int32_t>(form_.weights, u, w)};
  }

  /// The gain of a value. That of v = 0 is 1.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t at(std::int32_t v) const {
    return __ldg(&gains_[v]);
  }

  /// A luma code's result.
  __device__ __forceinline__ std::uint32_t luma(std::uint32_t code, std::int32_t /*v*/,
                                                std::uint64_t gain, const Colour& /*colour*/,
                                                Sum& sum) const {
    const auto black = static_cast<std::uint32_t>(form_.weights.luma_offset);
    const std::uint32_t y = code - black;
    const bool below_black = code < black;
    sum.gains += gain & ~std::uint64_t{0xFF};
    const std::uint32_t scaled =
        min(black + scaled_(y, gain), static_cast<std::uint32_t>(form_.most));
    return below_black ? code : scaled;
  }

  /// Chroma codes of a cell that covers 2^kLog2 luma samples.
  template <int kLog2>
  __device__ __forceinline__ void chroma(std::int32_t u, std::int32_t w, const Sum& sum,
                                         const uint4& /*luma*/, std::uint32_t& cb,
                                         std::uint32_t& cr) const {
    const auto shares = static_cast<std::int64_t>(sum.gains >> 8);
    cb = chroma_of<kLog2>(u, shares);
    cr = chroma_of<kLog2>(w, shares);
  }

 private:
  /// deep_scaled_chroma() up to 12 bits, where a product is below 2^56 and its whole part below
  /// 2^31.
  template <int kLog2>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t chroma_of(std::int32_t u,
                                                                   std::int64_t shares) const {
    const int bits = deep_share_bits(form_.depth) + kLog2;
    const auto scaled =
        static_cast<std::int32_t>((u * shares + (std::int64_t{1} << (bits - 1))) >> bits);
    return static_cast<std::uint32_t>(__viaddmin_s32_relu(scaled, form_.chroma_middle, form_.most));
  }

  const DeepSamples& form_;
  const std::uint64_t* gains_;
  HalfProducts scaled_;
};

/// Chroma of a cell of 2^kLog2 luma codes as it is defined, Cb in the lower half; for the few cells
/// that have a result near a half.
template <int kLog2>
__device__ __noinline__ std::uint32_t exact_chroma(const DeepSamples& form,
                                                   const DeepChange& change, std::int32_t u,
                                                   std::int32_t w, uint4 luma) {
  const std::int32_t above = deep_value_above_luma<std::int32_t>(form.weights, u, w);
  const std::int32_t least = saturation::least_above_luma(form.weights, u, w);
  std::int64_t sum = 0;
  const auto add = [&](std::uint32_t code) {
    const std::int32_t y = static_cast<std::int32_t>(code) - form.weights.luma_offset;
    const std::int32_t v =
        y < 0 ? 0 : yuv_value(form.weights, static_cast<std::int32_t>(code), above);
    sum += change.share(v, change.factor(v, v - (y + least)));
  };
  add(luma.x);
  if constexpr (kLog2 > 0) add(luma.y);
  if constexpr (kLog2 > 1) add(luma.z);
  if constexpr (kLog2 > 1) add(luma.w);
  return static_cast<std::uint32_t>(deep_scaled_chroma(form, u, sum, kLog2) |
                                    deep_scaled_chroma(form, w, sum, kLog2) << 16);
}

/// The slope of a pixel whose least channel lies `below` under v. `exact` loses its last bit where
/// the slope is not.
__device__ __forceinline__ double slope_at(const DeepLine& line, std::int32_t below, int& exact) {
  const double number = whole_number(static_cast<std::uint32_t>(below));
  exact &= __double2loint(line.value);
  if (line.slope * number <= line.value) return line.slope;
  exact = 0;
  // V' of a line is a little more than V'.
  return line.value * (2.0 - kAboveValue) * inverse_of(number);
}

/// Luma of y above black whose v was clamped to M, of the line of M.
struct ClampedLuma {
  double slope;
  std::uint32_t code;
  int exact;
};
__device__ __noinline__ ClampedLuma clamped_luma(const YuvWeights& weights,
                                                 const LineNumbers& numbers, std::int32_t y,
                                                 std::int32_t below, DeepLine line) {
  const std::int32_t most = weights.luma_max;
  int exact = 1;
  const double slope = slope_at(line, max(min(below, most), 0), exact);
  // Over v, luma is scaled as it is without saturation.
  const double result = y > most ? y * (line.value * numbers.most_inverse)
                                 : fma(-slope, static_cast<double>(most - y), line.value);
  return {slope, static_cast<std::uint32_t>(__double2loint(result + numbers.luma_base)), exact};
}

/// By lines, where saturation changes too: DeepLine says why luma is right. The mean of a cell's
/// slopes, by which chroma is scaled, is a little more than the definition's, whose terms are
/// rounded down; so chroma near a half may be on its wrong side.
class ByLines {
 public:
  struct Sum {
    double slopes = 0;
    int exact = 1;  ///< its last bit
  };
  struct Colour {
    std::int32_t above;  ///< of V over luma, from code to v
    std::int32_t range;  ///< of V over the least channel
    double less;         ///< `above` where v is not clamped
  };

  __device__ ByLines(const DeepSamples& form, const DeepChange& change, const LineNumbers& numbers)
      : form_(form), change_(change), numbers_(numbers) {}

  [[nodiscard]] __device__ __forceinline__ Colour colour(std::int32_t u, std::int32_t w) const {
    const std::int32_t above = deep_value_above_luma<std::int32_t>(form_.weights, u, w);
    const std::int32_t least = saturation::least_above_luma<std::int32_t>(form_.weights, u, w);
    return {above, above - least, whole_number(static_cast<std::uint32_t>(above))};
  }

  [[nodiscard]] __device__ __forceinline__ DeepLine at(std::int32_t v) const {
    const auto words = __ldg(reinterpret_cast<const double2*>(&change_.lines[v]));
    return {words.x, words.y};
  }

  __device__ __forceinline__ std::uint32_t luma(std::uint32_t code, std::int32_t v,
                                                const DeepLine& line, const Colour& colour,
                                                Sum& sum) const {
    const std::int32_t most = form_.weights.luma_max;
    const std::int32_t y = static_cast<std::int32_t>(code) - form_.weights.luma_offset;
    if (v == most && y + colour.above != most) {
      const ClampedLuma clamped =
          clamped_luma(form_.weights, numbers_, y, most - y + colour.range - colour.above, line);
      sum.slopes += clamped.slope;
      sum.exact &= clamped.exact;
      return clamped.code;
    }
    // Where the least channel lies below black, S is 1 or more.
    const double slope = slope_at(line, min(colour.range, v), sum.exact);
    sum.slopes += slope;
    const double result = fma(-slope, colour.less, line.value);
    const auto scaled = static_cast<std::uint32_t>(__double2loint(result + numbers_.luma_base));
    return v == 0 ? code : scaled;
  }

  /// `luma` are the cell's codes.
  template <int kLog2>
  __device__ __forceinline__ void chroma(std::int32_t u, std::int32_t w, const Sum& sum,
                                         const uint4& luma, std::uint32_t& cb,
                                         std::uint32_t& cr) const {
    const double slopes = sum.slopes * (1.0 / (1 << kLog2));
    bool near_half = false;
    cb = chroma_of(u, slopes, near_half);
    cr = chroma_of(w, slopes, near_half);
    if (near_half && (sum.exact & 1) == 0) {
      const std::uint32_t both = exact_chroma<kLog2>(form_, change_, u, w, luma);
      cb = both & 0xFFFF;
      cr = both >> 16;
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::uint32_t chroma_of(std::int32_t u, double slopes,
                                                                   bool& near_half) const {
    const double number =
        on_whole(static_cast<std::uint32_t>(u + form_.chroma_middle)) - numbers_.chroma_middle;
    const double product = fma(number, slopes, numbers_.chroma_more);
    const double scaled = product + numbers_.chroma_base;
    near_half = near_half || fabs(product - (scaled - numbers_.chroma_base)) > numbers_.chroma_sure;
    return static_cast<std::uint32_t>(__vimin_s32_relu(__double2loint(scaled), form_.most));
  }

  const DeepSamples& form_;
  const DeepChange& change_;
  const LineNumbers& numbers_;
};

/// Changes a strip. put(word, luma, chroma) gets the codes of a word of luma of each row, of which
/// chroma has one code, or two where every luma sample has its own.
template <Sampling kSampling, bool kPaired, typename Change, typename Put>
__device__ __forceinline__ void change_strip(const DeepSamples& form, const DeepCodes& codes,
                                             const Change& change,
                                             const YuvStrip<kSampling, kPaired>& strip,
                                             const Put& put) {
  constexpr int kRows = cell_rows(kSampling);
  constexpr bool kShared = cell_columns(kSampling) == 2;
  constexpr int kLog2 = kRows - 1 + (kShared ? 1 : 0);
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    std::uint32_t from[2][2] = {};
    std::uint32_t luma[kRows][2];
    std::uint32_t chroma[2][2];
#pragma unroll
    for (int line = 0; line < kRows; ++line) {
      from[line][0] = codes.code<0>(strip.luma[line][word]);
      from[line][1] = codes.code<1>(strip.luma[line][word]);
    }
#pragma unroll
    for (int i = 0; i < (kShared ? 1 : 2); ++i) {
      const int cell = kShared ? word : 2 * word + i;
      const auto less_middle = [&](int c) {
        const std::uint32_t words = strip.chroma[c][cell / 2];
        const std::uint32_t code = cell % 2 == 0 ? codes.code<0>(words) : codes.code<1>(words);
        return static_cast<std::int32_t>(code) - form.chroma_middle;
      };
      const std::int32_t u = less_middle(0);
      const std::int32_t w = less_middle(1);
      const typename Change::Colour colour = change.colour(u, w);
      typename Change::Sum sum;
      // All that is looked up for a cell is on its way before any is needed.
      const int first = kShared ? 0 : i;
      const int last = kShared ? 1 : i;
      std::int32_t v[kRows][2];
      decltype(change.at(0)) entry[kRows][2];
#pragma unroll
      for (int line = 0; line < kRows; ++line) {
#pragma unroll
        for (int side = first; side <= last; ++side) {
          const std::int32_t y =
              static_cast<std::int32_t>(from[line][side]) - form.weights.luma_offset;
          v[line][side] = y < 0 ? 0 : __viaddmin_s32_relu(y, colour.above, form.weights.luma_max);
          entry[line][side] = change.at(v[line][side]);
        }
      }
#pragma unroll
      for (int line = 0; line < kRows; ++line) {
#pragma unroll
        for (int side = first; side <= last; ++side) {
          luma[line][side] =
              change.luma(from[line][side], v[line][side], entry[line][side], colour, sum);
        }
      }
      const uint4 of_cell = kShared ? uint4{from[0][0], from[0][1], from[1][0], from[1][1]}
                                    : uint4{from[0][i], 0, 0, 0};
      change.template chroma<kLog2>(u, w, sum, of_cell, chroma[0][i], chroma[1][i]);
    }
    put(word, luma, chroma);
  }
}

/// A cell that is in no strip.
template <Sampling kSampling, bool kRounded, bool kSaturated>
__device__ __noinline__ void apply_left_over(const DeepFrame& frame, const DeepChange& table,
                                             std::uint32_t row, std::uint32_t column) {
  apply_deep_cell<kSampling, true, kRounded, kSaturated>(frame, table, row, column);
}

template <Sampling kSampling, bool kPaired, bool kRounded, bool kSaturated>
__global__ void __launch_bounds__(kStripBlock)
    deep_strips_kernel(const __grid_constant__ DeepFrame frame,
                       const __grid_constant__ DeepChange table,
                       const __grid_constant__ LineNumbers numbers) {
  wait_then_release();
  table.clear_counts();
  constexpr int kRows = cell_rows(kSampling);
  constexpr bool kShared = cell_columns(kSampling) == 2;
  const DeepSamples& form = frame.form;
  const DeepCodes codes(form);
  const PlainLevels level(frame.rounding);
  const auto use_strip = [&](std::uint32_t row, const LumaRows& lines, std::uint32_t at) {
    const std::conditional_t<kSaturated, ByLines, ByGains> change(form, table, numbers);
    YuvStrip<kSampling, kPaired> strip;
    strip.load(frame, row, lines, at);
    std::conditional_t<kRounded, ByteStrip<kSampling, kPaired>, YuvStrip<kSampling, kPaired>> out;
    const auto put = [&](int word, const std::uint32_t(&luma)[kRows][2],
                         const std::uint32_t(&chroma)[2][2]) {
      // `count` codes from the `first` on, into whole words.
      const auto put_codes = [&](std::uint32_t* to, int first, const std::uint32_t* from,
                                 int count) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
          constexpr int kEach = kRounded ? 4 : 2;
          const int place = (first + i) % kEach;
          const std::uint32_t part =
              kRounded ? level(from[i]) << (8 * place) : from[i] << (16 * place + codes.shift);
          std::uint32_t& whole = to[(first + i) / kEach];
          whole = place == 0 ? part : whole | part;
        }
      };
#pragma unroll
      for (int line = 0; line < kRows; ++line)
        put_codes(out.luma[line], 2 * word, luma[line], 2);
#pragma unroll
      for (int c = 0; c < 2; ++c)
        put_codes(out.chroma[c], kShared ? word : 2 * word, chroma[c], kShared ? 1 : 2);
    };
    change_strip<kSampling, kPaired>(form, codes, change, strip, put);
    if constexpr (kRounded) {
      out.store(frame.rounding, row, lines, at);
    } else {
      out.store(frame, row, lines, at);
    }
  };
  const auto use_cell = [&](std::uint32_t row, std::uint32_t column) {
    apply_left_over<kSampling, kRounded, kSaturated>(frame, table, row, column);
  };
  for_each_strip<kSampling>(frame, use_strip, use_cell);
}

}  // namespace

void deep_apply_strips(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                       const LaunchDevice& device, cudaStream_t stream) {
  with_yuv_strips(frame, [&](auto sampling, auto paired) {
    with_constant<false, true>(frame.rounding.active, [&](auto rounded) {
      with_constant<false, true>(saturates, [&](auto saturated) {
        constexpr Sampling kSampling = decltype(sampling)::value;
        const auto kernel =
            deep_strips_kernel<kSampling, decltype(paired)::value, decltype(rounded)::value,
                               decltype(saturated)::value>;
        launch_early(device, "launching deep_apply", kernel, dim3(strip_grid<kSampling>(frame)),
                     dim3(kStripBlock), stream, frame, change_by(tables), LineNumbers(frame.form));
      });
    });
  });
}

}  // namespace equalux::cuda
