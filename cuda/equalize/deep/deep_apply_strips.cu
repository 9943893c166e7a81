#include <cmath>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_change.cuh"
#include "cuda/equalize/deep/deep_strips.cuh"
#include "cuda/equalize/deep/whole_doubles.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// Constants of a format for saturation, computed once on the host.
struct LineNumbers {
  double luma_base;      ///< added to a luma result, it rounds to a whole number and adds black
  double chroma_base;    ///< added to a chroma product, it rounds and adds the middle
  double chroma_middle;  ///< 2^52 plus the middle
  double chroma_more;    ///< amount by which products of chroma are made too large
  double chroma_sure;    ///< distance from a whole number up to which a product is certain
  double most_inverse;   ///< 1 / M

  /// The most by which terms of the definition can lie below slopes: for the largest k and chroma,
  /// plus roundings, in units of chroma_more.
  static constexpr double kMostShort =
      static_cast<double>(saturation::kMost) / saturation::kOne + 2.25;

  explicit LineNumbers(const DeepSamples& form)
      : luma_base(kSignedWhole + form.weights.luma_offset),
        chroma_base(kSignedWhole + form.chroma_middle),
        chroma_middle(kTwo52 + form.chroma_middle),
        chroma_more(std::ldexp(1.0, -form.depth - 8)),
        chroma_sure(0.5 - std::ldexp(kMostShort, -form.depth - 8)),
        most_inverse(1.0 / form.weights.luma_max) {}
};

/// Scales a cell by gains; saturation does not change. kWide: 16 bits.
template <bool kWide>
class ByGains {
 public:
  struct Sum {
    std::uint64_t gains = 0;  ///< their sum without the bits that shares lack, or that of shares
  };
  struct Colour {
    std::int32_t above;  ///< of V over luma, from the code to v
  };

  __device__ ByGains(const DeepSamples& form, const DeepChange& change, const LineNumbers&)
      : form_(form), gains_(change.gains), scaled_(form.depth) {}

  [[nodiscard]] __device__ __forceinline__ Colour colour(std::int32_t u, std::int32_t w) const {
    return {deep_value_above_luma<StripProduct<kWide>>(form_.weights, u, w)};
  }

  /// Looks up the gain of a value; for v = 0 it is 1.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t at(std::int32_t v) const {
    return __ldg(&gains_[v]);
  }

  /// Scales a cell's luma codes; v and entries belong to them.
  template <int kCount>
  __device__ __forceinline__ Sum luma(const std::uint32_t (&codes)[kCount],
                                      const std::int32_t (&/*v*/)[kCount],
                                      const std::uint64_t (&entries)[kCount],
                                      const Colour& /*colour*/,
                                      std::uint32_t (&results)[kCount]) const {
    const auto black = static_cast<std::uint32_t>(form_.weights.luma_offset);
    Sum sum;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum.gains += kWide ? entries[i] >> 8 : entries[i] & ~std::uint64_t{0xFF};
      const std::uint32_t scaled = min(black + scaled_(codes[i] - black, entries[i]),
                                       static_cast<std::uint32_t>(form_.most));
      results[i] = codes[i] < black ? codes[i] : scaled;
    }
    return sum;
  }

  /// Scales the chroma of a cell of 2^kLog2 luma samples.
  template <int kLog2>
  __device__ __forceinline__ void chroma(std::int32_t u, std::int32_t w, const Sum& sum,
                                         const std::uint32_t (&/*luma*/)[1 << kLog2],
                                         std::uint32_t& cb, std::uint32_t& cr) const {
    const auto shares = static_cast<std::int64_t>(kWide ? sum.gains : sum.gains >> 8);
    cb = chroma_of<kLog2>(u, shares);
    cr = chroma_of<kLog2>(w, shares);
  }

 private:
  /// Computes deep_scaled_chroma(). With up to 12 bits a product is below 2^56 and its whole part
  /// below 2^31.
  template <int kLog2>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t chroma_of(std::int32_t u,
                                                                   std::int64_t shares) const {
    if constexpr (kWide)
      return static_cast<std::uint32_t>(deep_scaled_chroma(form_, u, shares, kLog2));
    const int bits = deep_share_bits(form_.depth) + kLog2;
    const auto scaled =
        static_cast<std::int32_t>((u * shares + (std::int64_t{1} << (bits - 1))) >> bits);
    return static_cast<std::uint32_t>(__viaddmin_s32_relu(scaled, form_.chroma_middle, form_.most));
  }

  const DeepSamples& form_;
  const std::uint64_t* gains_;
  HalfProducts scaled_;
};

/// The luma codes of a cell.
template <int kCount>
struct CellLuma {
  std::uint32_t codes[kCount];
};

/// Computes the chroma of a cell of 2^kLog2 luma codes by the definition, in integers, Cb in the
/// lower half: for the few cells that have a result near a half. Not inlined, so that it costs the
/// others no registers.
template <int kLog2>
__device__ __noinline__ std::uint32_t exact_chroma(const DeepSamples& form,
                                                   const DeepChange& change, std::int32_t u,
                                                   std::int32_t w, CellLuma<1 << kLog2> luma) {
  const std::int32_t above = deep_value_above_luma(form.weights, u, w);
  const std::int32_t least = saturation::least_above_luma(form.weights, u, w);
  std::int64_t sum = 0;
#pragma unroll
  for (const std::uint32_t code : luma.codes) {
    const std::int32_t y = static_cast<std::int32_t>(code) - form.weights.luma_offset;
    const std::int32_t v =
        y < 0 ? 0 : yuv_value(form.weights, static_cast<std::int32_t>(code), above);
    sum += change.share(v, change.factor(v, v - (y + least)));
  }
  return static_cast<std::uint32_t>(deep_scaled_chroma(form, u, sum, kLog2) |
                                    deep_scaled_chroma(form, w, sum, kLog2) << 16);
}

/// Computes a luma code by the definition, in integers; `least` is that of the least channel above
/// luma. For the few results of 16 bits that are near a half.
__device__ __noinline__ std::uint32_t exact_luma(const DeepSamples& form, const DeepChange& change,
                                                 std::uint32_t code, std::int32_t v,
                                                 std::int32_t least) {
  const std::int32_t y = static_cast<std::int32_t>(code) - form.weights.luma_offset;
  return static_cast<std::uint32_t>(form.weights.luma_offset +
                                    change.saturated(change.factor(v, v - (y + least)), v, y));
}

/// Computes the slope where S reaches 1: V' divided by the distance of the least channel below v,
/// whose inverse is `inverse`. The V' of a line is slightly too large, which 2 - kAboveValue
/// corrects.
__device__ __forceinline__ double slope_to_black(const DeepLine& line, double inverse) {
  return line.value * (2.0 - kAboveValue) * inverse;
}

/// Changes value and saturation of a cell by lines; DeepLine says why luma is exact. Chroma is
/// scaled by the mean of the cell's slopes, which is slightly more than the definition's, whose
/// terms are rounded down. So chroma near a half may be rounded the wrong way and is computed
/// again. So may luma of 16 bits (kWide).
template <bool kWide>
class ByLines {
 public:
  /// Sums over the luma samples of a cell.
  struct Sum {
    double slopes = 0;
    int exact = 1;  ///< its last bit is 1 where all lines are exact and S stays below 1
  };
  struct Colour {
    std::int32_t above;  ///< of V over luma, from the code to v
    std::int32_t range;  ///< of V over the least channel
  };

  __device__ ByLines(const DeepSamples& form, const DeepChange& change, const LineNumbers& numbers)
      : form_(form), change_(change), numbers_(numbers) {}

  [[nodiscard]] __device__ __forceinline__ Colour colour(std::int32_t u, std::int32_t w) const {
    using Product = StripProduct<kWide>;
    const std::int32_t above = deep_value_above_luma<Product>(form_.weights, u, w);
    const std::int32_t least = saturation::least_above_luma<Product>(form_.weights, u, w);
    return {above, above - least};
  }

  [[nodiscard]] __device__ __forceinline__ DeepLine at(std::int32_t v) const {
    const auto words = __ldg(reinterpret_cast<const double2*>(&change_.lines[v]));
    return {words.x, words.y};
  }

  /// Changes a cell's luma codes; v and lines belong to them. Where all channels are between black
  /// and white, v - y and v - m are the same for all samples of the cell, so that no sample
  /// branches on its own and the long operations of all samples overlap.
  template <int kCount>
  __device__ __forceinline__ Sum luma(const std::uint32_t (&codes)[kCount],
                                      const std::int32_t (&v)[kCount],
                                      const DeepLine (&lines)[kCount], const Colour& colour,
                                      std::uint32_t (&results)[kCount]) const {
    std::uint32_t least = codes[0];
    std::uint32_t most = codes[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      least = min(least, codes[i]);
      most = max(most, codes[i]);
    }
    const std::int32_t up = colour.above - form_.weights.luma_offset;
    // Luma stays as it is where v is 0, which the code below does not test.
    if (static_cast<std::int32_t>(least) + up < max(colour.range, 1) ||
        static_cast<std::int32_t>(most) + up > form_.weights.luma_max)
      return luma_beyond(codes, v, lines, colour, results);
    const double range = whole_number(static_cast<std::uint32_t>(colour.range));
    const double less = whole_number(static_cast<std::uint32_t>(colour.above));
    Sum sum;
    double slopes[kCount];
    bool serves[kCount];
    bool all = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum.exact &= __double2loint(lines[i].value);
      slopes[i] = lines[i].slope;
      serves[i] = slopes[i] * range <= lines[i].value;
      all = all && serves[i];
    }
    if (!all) {
      sum.exact = 0;
      const double inverse = inverse_of(range);
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        slopes[i] = serves[i] ? slopes[i] : slope_to_black(lines[i], inverse);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum.slopes += slopes[i];
      const double result = fma(-slopes[i], less, lines[i].value);
      results[i] = code_of(result);
      if (is_near_half(result) && serves[i] && !is_exact(lines[i]))
        results[i] = exact_luma(form_, change_, codes[i], v[i], colour.above - colour.range);
    }
    return sum;
  }

  /// Changes a cell's chroma; `luma` are its luma codes.
  template <int kLog2>
  __device__ __forceinline__ void chroma(std::int32_t u, std::int32_t w, const Sum& sum,
                                         const std::uint32_t (&luma)[1 << kLog2], std::uint32_t& cb,
                                         std::uint32_t& cr) const {
    const double slopes = sum.slopes * (1.0 / (1 << kLog2));
    bool near_half = false;
    cb = chroma_of(u, slopes, near_half);
    cr = chroma_of(w, slopes, near_half);
    if (near_half && (sum.exact & 1) == 0) {
      CellLuma<1 << kLog2> cell;
#pragma unroll
      for (int i = 0; i < 1 << kLog2; ++i)
        cell.codes[i] = luma[i];
      const std::uint32_t both = exact_chroma<kLog2>(form_, change_, u, w, cell);
      cb = both & 0xFFFF;
      cr = both >> 16;
    }
  }

 private:
  /// Changes the luma of a cell in which some channel is below black or above white, one sample at
  /// a time.
  template <int kCount>
  __device__ __forceinline__ Sum luma_beyond(const std::uint32_t (&codes)[kCount],
                                             const std::int32_t (&v)[kCount],
                                             const DeepLine (&lines)[kCount], const Colour& colour,
                                             std::uint32_t (&results)[kCount]) const {
    const std::int32_t most = form_.weights.luma_max;
    Sum sum;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const DeepLine& line = lines[i];
      const std::int32_t y = static_cast<std::int32_t>(codes[i]) - form_.weights.luma_offset;
      // S is 1 or more where the least channel is below black.
      const std::int32_t below = max(min(v[i] - (y + colour.above - colour.range), v[i]), 0);
      const double number = whole_number(static_cast<std::uint32_t>(below));
      const bool serves = line.slope * number <= line.value;
      const double slope = serves ? line.slope : slope_to_black(line, inverse_of(number));
      sum.exact &= serves ? __double2loint(line.value) : 0;
      sum.slopes += slope;
      // Luma above v is scaled as without saturation.
      const double result = y > most ? y * (line.value * numbers_.most_inverse)
                                     : fma(-slope, static_cast<double>(v[i] - y), line.value);
      results[i] = v[i] == 0 ? codes[i] : code_of(result);
      if (v[i] != 0 && y <= most && is_near_half(result) && serves && !is_exact(line))
        results[i] = exact_luma(form_, change_, codes[i], v[i], colour.above - colour.range);
    }
    return sum;
  }

  /// Returns the code of a luma result.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t code_of(double result) const {
    return static_cast<std::uint32_t>(__double2loint(result + numbers_.luma_base));
  }

  /// Returns whether a luma result may be rounded the wrong way, if its line is not exact.
  [[nodiscard]] static __device__ __forceinline__ bool is_near_half(double result) {
    return kWide && fabs(result - ((result + kSignedWhole) - kSignedWhole)) > kSureLine;
  }

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

/// Changes a strip. put(word, luma, chroma) gets the codes of one word of luma of each row, with
/// one code of each chroma plane, or two where every luma sample has its own.
template <Sampling kSampling, bool kPaired, typename Change, typename Put>
__device__ __forceinline__ void change_strip(const DeepSamples& form, const DeepCodes& codes,
                                             const Change& change,
                                             const YuvStrip<kSampling, kPaired>& strip,
                                             const Put& put) {
  constexpr int kRows = cell_rows(kSampling);
  constexpr int kColumns = cell_columns(kSampling);
  constexpr int kCount = kRows * kColumns;
  constexpr int kLog2 = kCount / 2;
  static_assert(1 << kLog2 == kCount);
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    std::uint32_t luma[kRows][2];
    std::uint32_t chroma[2][2];
#pragma unroll
    for (int i = 0; i < 2 / kColumns; ++i) {
      const int cell = 2 / kColumns * word + i;
      const auto less_middle = [&](int c) {
        const std::uint32_t words = strip.chroma[c][cell / 2];
        const std::uint32_t code = cell % 2 == 0 ? codes.code<0>(words) : codes.code<1>(words);
        return static_cast<std::int32_t>(code) - form.chroma_middle;
      };
      const std::int32_t u = less_middle(0);
      const std::int32_t w = less_middle(1);
      const typename Change::Colour colour = change.colour(u, w);
      // Issues all look-ups of a cell before the first result is used, which overlaps their
      // latency.
      std::uint32_t from[kCount];
      std::int32_t v[kCount];
      decltype(change.at(0)) entries[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const std::uint32_t words = strip.luma[k / kColumns][word];
        from[k] = (i + k) % 2 == 0 ? codes.code<0>(words) : codes.code<1>(words);
        const std::int32_t y = static_cast<std::int32_t>(from[k]) - form.weights.luma_offset;
        v[k] = y < 0 ? 0 : __viaddmin_s32_relu(y, colour.above, form.weights.luma_max);
        entries[k] = change.at(v[k]);
      }
      std::uint32_t results[kCount];
      const typename Change::Sum sum = change.luma(from, v, entries, colour, results);
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        luma[k / kColumns][(i + k) % 2] = results[k];
      change.template chroma<kLog2>(u, w, sum, from, chroma[0][i], chroma[1][i]);
    }
    put(word, luma, chroma);
  }
}

/// Changes a cell that is in no strip; not inlined, so that it costs strips no registers.
template <Sampling kSampling, bool kRounded, bool kSaturated>
__device__ __noinline__ void apply_left_over(const DeepFrame& frame, const DeepChange& table,
                                             std::uint32_t row, std::uint32_t column) {
  apply_deep_cell<kSampling, true, kRounded, kSaturated>(frame, table, row, column);
}

/// Block size, and blocks that a multiprocessor must have room for, or 0 for no demand. With
/// saturation a thread needs 72 registers, of which smaller blocks leave fewer unused.
template <bool kSaturated>
inline constexpr unsigned kStripThreads = kSaturated ? kStripBlock / 2 : kStripBlock;
template <bool kSaturated>
inline constexpr unsigned kBlocks = kSaturated ? 7 : 0;

/// Changes a frame of YCbCr, one strip of eight luma columns with their chroma per thread, in wide
/// loads and stores; the strip is in registers. Cells that are in no strip go one per thread.
/// Tables of gains or lines are read through the caches.
template <Sampling kSampling, bool kPaired, bool kWide, bool kRounded, bool kSaturated>
__global__ void __launch_bounds__(kStripThreads<kSaturated>, kBlocks<kSaturated>)
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
    const std::conditional_t<kSaturated, ByLines<kWide>, ByGains<kWide>> change(form, table,
                                                                                numbers);
    YuvStrip<kSampling, kPaired> strip;
    strip.load(frame, row, lines, at);
    std::conditional_t<kRounded, ByteStrip<kSampling, kPaired>, YuvStrip<kSampling, kPaired>> out;
    const auto put = [&](int word, const std::uint32_t(&luma)[kRows][2],
                         const std::uint32_t(&chroma)[2][2]) {
      // Puts `count` codes, from number `first` on, into whole words.
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
  with_yuv_strips(frame, [&](auto sampling, auto paired, auto wide) {
    with_constant<false, true>(frame.rounding.active, [&](auto rounded) {
      with_constant<false, true>(saturates, [&](auto saturated) {
        constexpr Sampling kSampling = decltype(sampling)::value;
        constexpr bool kWide = decltype(wide)::value;
        constexpr bool kRounded = !kWide && decltype(rounded)::value;  // see writes_yuv_strips()
        constexpr bool kSaturated = decltype(saturated)::value;
        constexpr unsigned kBlock = kStripThreads<kSaturated>;
        launch_early(
            device, "launching deep_apply",
            deep_strips_kernel<kSampling, decltype(paired)::value, kWide, kRounded, kSaturated>,
            dim3(strip_grid<kSampling>(frame, kBlock)), dim3(kBlock), stream, frame,
            change_by(tables), LineNumbers(frame.form));
      });
    });
  });
}

}  // namespace equalux::cuda
