#pragma once

#include <cstdint>

#include "cuda/device/pixel_vector.cuh"
#include "cuda/device/warp.h"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/grid_histogram.cuh"
#include "cuda/equalize/limited_curve.cuh"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/near_half.h"
#include "src/equalize/opencv_curve.h"
#include "src/equalize/saturation.h"
#include "src/equalize/tone/tone_curve.h"

/// Gain table of the frame's histogram. Every block makes it for itself, which costs less than a
/// second barrier of the grid.
namespace equalux::cuda {

/// Distance by which a gain is moved off a half that it would round wrong at, relative to gain + 1;
/// see float_gain().
inline constexpr double kNudge = 0x1p-23;

/// Shared memory of a block for its curve.
struct CurveScratch {
  union {
    std::uint64_t chroma[256];  ///< gain_48() >> 8, for formats with chroma
    CurveSteps steps;           ///< used before the gains are known
  };
  double ratio[256];          ///< gain; before it is known 1 / v
  std::uint32_t cdf[256];     ///< cumulative histogram; W of a curve that is not plain
  std::uint8_t present[256];  ///< 1 where the frame has v; other gains need not be exact
  std::uint8_t last_of_bin[256];
  CurveState state;
  std::uint32_t warp_counts[4];
  int warp_first[4];           ///< first value that is present; 256 = none
  std::uint16_t factors[256];  ///< factors k of saturation, where it changes
};

/// Access of a lane to the gain table. A row for each value has a copy of its gain for each lane,
/// so that lookups have no bank conflicts.
template <int kStride>
class GainTable {
 public:
  static constexpr bool kSaturates = false;
  [[nodiscard]] __device__ __forceinline__ const GainTable& in_chunk(std::uint32_t) const {
    return *this;
  }

  __device__ GainTable(const std::uint8_t* table, const std::uint64_t* chroma, int lane)
      : table_(table), chroma_(chroma), mine_(static_cast<std::uint32_t>(lane * 4)) {}

  [[nodiscard]] __device__ __forceinline__ float gain_at_times_256(std::uint32_t value) const {
    return at(value / kPerStride + mine_);
  }

  /// Byte offset of a value's gain, in the lane's column.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place_of(std::uint32_t value) const {
    return value * kStride + mine_;
  }
  /// Byte offset of the gain of `bits` less kBase, by one multiplication and addition.
  template <std::uint32_t kBase>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place_above(std::uint32_t bits) const {
    return bits * kStride + (mine_ - kBase * kStride);
  }
  /// Gain of a sum: of a code, times 256, and of `above`, up to the largest value. `above` and
  /// `most` are byte offsets, so that the sum is the address. Negative sums give the gain of 0.
  [[nodiscard]] __device__ __forceinline__ float gain_of_sum(std::uint32_t code_times_256,
                                                             std::uint32_t above,
                                                             std::uint32_t most) const {
    const auto code =
        static_cast<std::int32_t>(code_times_256) / static_cast<std::int32_t>(kPerStride);
    return at(static_cast<std::uint32_t>(__viaddmin_s32_relu(code, static_cast<std::int32_t>(above),
                                                             static_cast<std::int32_t>(most))));
  }
  /// Gain of chroma, gain_48() >> 8.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t chroma_gain(std::uint32_t value) const {
    return chroma_[value];
  }

 private:
  static constexpr std::uint32_t kPerStride = 256 / kStride;

  [[nodiscard]] __device__ __forceinline__ float at(std::uint32_t offset) const {
    return *reinterpret_cast<const float*>(table_ + offset);
  }

  const std::uint8_t* table_;
  const std::uint64_t* chroma_;
  std::uint32_t mine_;
};

/// Gain as it is stored in the table.
__device__ __forceinline__ float table_gain(double gain) {
  return static_cast<float>(gain) * kGainScale;
}

/// Fills a value's row with copies of its gain, 16 bytes at a time. Rows begin at different banks,
/// so that lanes with a value each have no bank conflicts.
template <int kStride>
__device__ __forceinline__ void fill_row(std::uint8_t* table, unsigned v, float gain) {
  constexpr unsigned kVectors = kLanes * 4 / kVectorBytes;
  std::uint8_t* row = table + v * kStride;
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    *reinterpret_cast<float4*>(row + (i + v) % kVectors * kVectorBytes) =
        float4{gain, gain, gain, gain};
  }
}

/// Threads that scan the histogram, two values each.
inline constexpr int kScanThreads = 128;

/// Subtracts a frame's excluded samples from the counts of a pair of values, unless all samples are
/// excluded.
__device__ __forceinline__ void leave_out(const FusedParams& p, const ExcludedCounts& excluded,
                                          int pair, uint2& counts) {
  const uint2 less = __ldcg(reinterpret_cast<const uint2*>(excluded.counts) + pair);
  if (__ldcg(&excluded.total) == p.samples) return;
  counts.x -= less.x;
  counts.y -= less.y;
}

/// Makes cumulative sums of the frame's histogram, for which it waits: the barrier of the grid.
/// Called by all threads of the block.
__device__ __forceinline__ void scan_counts(const FusedParams& p, GridHistogram& histogram,
                                            const ExcludedCounts& excluded, CurveScratch& s) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  uint2 counts{0, 0};
  std::uint32_t sum = 0;
  if (thread < kScanThreads) {
    counts = await_grid(histogram, thread);
    // Samples of chunks beyond the right edge were counted, too.
    if (p.padding_value == 2 * thread) counts.x -= p.padding;
    if (p.padding_value == 2 * thread + 1) counts.y -= p.padding;
    s.present[2 * thread] = counts.x != 0 ? 1 : 0;
    s.present[2 * thread + 1] = counts.y != 0 ? 1 : 0;
    if (p.excludes) leave_out(p, excluded, thread, counts);
    const int first_even = __ffs(static_cast<int>(__ballot_sync(0xFFFFFFFFU, counts.x != 0)));
    const int first_odd = __ffs(static_cast<int>(__ballot_sync(0xFFFFFFFFU, counts.y != 0)));
    sum = counts.x + counts.y;
#pragma unroll
    for (int step = 1; step < kLanes; step *= 2) {
      const std::uint32_t below = __shfl_up_sync(0xFFFFFFFFU, sum, step);
      if (lane >= step) sum += below;
    }
    if (lane == kLanes - 1) {
      const int even = first_even == 0 ? 256 : 2 * (warp * kLanes + first_even - 1);
      const int odd = first_odd == 0 ? 256 : 2 * (warp * kLanes + first_odd - 1) + 1;
      s.warp_counts[warp] = sum;
      s.warp_first[warp] = min(even, odd);
    }
  }
  __syncthreads();
  if (thread < kScanThreads) {
#pragma unroll
    for (int w = 0; w < kScanThreads / kLanes - 1; ++w)
      sum += w < warp ? s.warp_counts[w] : 0;
    s.cdf[2 * thread] = sum - counts.y;
    s.cdf[2 * thread + 1] = sum;
    if (p.excludes && thread == kScanThreads - 1) {
      s.state.per_pixel = __drcp_rn(static_cast<double>(sum)) * tone::kWhole;
    }
  }
  __syncthreads();
}

/// Scale of the curve. Needs scan_counts().
__device__ __forceinline__ CurveScale scale_of(const FusedParams& p, const CurveScratch& s) {
  int first = 256;
#pragma unroll
  for (int w = 0; w < kScanThreads / kLanes; ++w)
    first = min(first, s.warp_first[w]);
  return curve_scale(p.scaler, s.cdf[s.last_of_bin[0]], s.cdf[s.last_of_bin[first]], s.cdf[255]);
}

/// Gain of one value as a fraction.
__device__ __forceinline__ GainFraction fraction_of(const FusedParams& p, const CurveScratch& s,
                                                    const CurveScale& scale, int v) {
  if (p.shapes_curve) return tone::gain_fraction(static_cast<std::uint32_t>(v), s.cdf[v]);
  return gain_fraction(scale, s.cdf[s.last_of_bin[v]], static_cast<std::uint32_t>(v),
                       static_cast<std::uint32_t>(p.weights.luma_max));
}

/// Largest code that the gain of v scales: v itself, except for the largest value, which brighter
/// luma codes have, too.
__device__ __forceinline__ int max_code(const FusedParams& p, int v) {
  return v == p.weights.luma_max ? 255 - p.weights.luma_offset : v;
}

/// Moves a value's gain off the half that code_near_half() found, to the side on which the exact
/// gain lies. Called by a warp, each lane of which writes its copy.
template <int kStride>
__device__ __forceinline__ void move_gain(const FusedParams& p, const CurveScratch& s,
                                          const CurveScale& scale, int v, int code,
                                          std::uint8_t* table) {
  const GainFraction exact = fraction_of(p, s, scale, v);
  const double ratio = s.ratio[v];
  const std::uint64_t below = __double2uint_rd(code * ratio);
  const bool reaches =
      2 * static_cast<std::uint64_t>(code) * exact.numerator >= (2 * below + 1) * exact.denominator;
  const double moved = ratio + (ratio + 1.0) * (reaches ? kNudge : -kNudge);
  reinterpret_cast<float*>(table + v * kStride)[threadIdx.x % kLanes] = table_gain(moved);
}

/// Replaces the cumulative sums by W of OpenCV's curve, whose levels are whole. Needs
/// scan_counts().
template <int kThreads>
__device__ __forceinline__ void make_opencv_curve(CurveScratch& s) {
  int darkest = 256;
#pragma unroll
  for (int w = 0; w < kScanThreads / kLanes; ++w)
    darkest = min(darkest, s.warp_first[w]);
  const std::uint32_t offset = s.cdf[darkest];
  const std::uint32_t others = s.cdf[255] - offset;
  __syncthreads();
  for (int v = static_cast<int>(threadIdx.x); v < 256; v += kThreads) {
    int level = v;
    if (others != 0) {
      level = v <= darkest ? 0 : opencv::level_of(s.cdf[v] - offset, opencv::level_scale(others));
    }
    s.cdf[v] = tone::unchanged(static_cast<std::uint32_t>(level));
  }
  __syncthreads();
}

/// Makes the frame's curve in the scratch: cumulative sums, or W where the curve is not plain. With
/// `keeps` it adds the frame to the scratch's history. Called by all threads of all blocks.
template <int kThreads>
__device__ __forceinline__ void make_frame_curve(const FusedParams& p, GridHistogram& histogram,
                                                 const ExcludedCounts& excluded, bool keeps,
                                                 CurveScratch& s) {
  scan_counts(p, histogram, excluded, s);
  if (!p.shapes_curve) return;
  if (p.opencv_curve) return make_opencv_curve<kThreads>(s);
  if (p.fixed_curve) {
    for (unsigned v = threadIdx.x; v < 256; v += kThreads)
      s.cdf[v] = p.state->fixed_curve[v];
    __syncthreads();
    return;
  }
  finish_curve<kThreads>(keeps ? &s.state.ahead.history : nullptr, s.last_of_bin, s.cdf, s.steps,
                         s.state);
  __syncthreads();
}

/// Stores the history, and what the next frame's curve needs of it, in device memory. Called by one
/// block, after a barrier behind make_frame_curve().
template <int kThreads>
__device__ __noinline__ void keep_curve(FusedState& to, CurveScratch& s) {
  store_state<kThreads>(to.history, s.state.ahead.history);
  __syncthreads();
  prepare_curve<kThreads>(s.last_of_bin, s.steps, s.state);
  __syncthreads();
  store_state<kThreads>(to.ahead, s.state.ahead);
}

/// Fills `table`, 256 rows of kStride bytes, with gains times kGainScale, and with kChroma the
/// scratch's gains of chroma. Needs make_frame_curve(), and `ratio` and `last_of_bin` of the
/// scratch. Called by all threads of the block, for which the table is complete on return.
template <int kThreads, int kStride, bool kChroma>
__device__ __forceinline__ void make_gain_table(const FusedParams& p, CurveScratch& s,
                                                std::uint8_t* table) {
  const int thread = static_cast<int>(threadIdx.x);
  CurveScale scale{};
  double per_span = 1.0 / (1U << tone::kCurveBits);
  if (!p.shapes_curve) {
    scale = scale_of(p, s);
    // The host has the reciprocal of all samples, which is most frames' span: a division takes
    // long.
    per_span = scale.span == p.samples ? p.per_sample : __drcp_rn(static_cast<double>(scale.span));
  }
#pragma unroll 1
  for (int v = thread; v < 256; v += kThreads) {
    // Two roundings more than a division has do no harm, as whole numbers decide near halves.
    const GainFraction exact = fraction_of(p, s, scale, v);
    const double inverse = exact.denominator == 1 ? 1.0 : s.ratio[v] * per_span;
    const double ratio = static_cast<double>(exact.numerator) * inverse;
    const auto gain = static_cast<float>(ratio);
    s.ratio[v] = ratio;
    if constexpr (kChroma) s.chroma[v] = gain_48(exact, ratio, inverse) >> 8;
    fill_row<kStride>(table, static_cast<unsigned>(v), table_gain(ratio));
    const auto fraction = static_cast<std::uint32_t>(__double2ull_rd(ratio * 0x1p32));
    const std::uint32_t error = __double2uint_ru(fabs(gain - ratio) * 0x1p32);
    const int code = s.present[v] != 0 ? code_near_half(gain, fraction, error, max_code(p, v)) : 0;
    __syncwarp();
    unsigned lanes = __ballot_sync(0xFFFFFFFFU, code != 0);
#pragma unroll 1
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = __ffs(static_cast<int>(lanes)) - 1;
      move_gain<kStride>(p, s, scale, __shfl_sync(0xFFFFFFFFU, v, lane),
                         __shfl_sync(0xFFFFFFFFU, code, lane), table);
    }
  }
  __syncthreads();
}

/// Stores k by the value of a result for the pass that follows. Needs make_frame_curve() and a
/// curve that is not plain. Called by one block.
template <int kThreads>
__device__ __noinline__ void keep_factors_of_results(const FusedParams& p, const CurveScratch& s) {
  const auto max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    p.factors_of_results[v] = static_cast<std::uint16_t>(
        saturation::factor_of_result(p.tone.saturation, s.cdf, v, max_value));
  }
}

/// Adds the frame's curve to the state's sums. Needs make_frame_curve(). Called by one block.
template <int kThreads>
__device__ __forceinline__ void collect_curve(const FusedParams& p, const CurveScratch& s) {
  const auto max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  const CurveScale scale = p.shapes_curve ? CurveScale{} : scale_of(p, s);
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    p.state->curve_sums[v] +=
        p.shapes_curve ? s.cdf[v] : plain_level(scale, s.cdf[s.last_of_bin[v]], v, max_value);
  }
}

}  // namespace equalux::cuda
