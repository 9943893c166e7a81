#pragma once

#include <cstdint>

#include "fused_config.h"
#include "fused_params.h"
#include "grid_histogram.cuh"
#include "pixel_vector.cuh"
#include "tone_curve.h"

/// From the frame's histogram to the table of gains, in every block for itself: that costs less
/// than a second barrier of the grid.
namespace equalux::cuda {

/// Which way a gain moves off a half it would round wrong at; see float_gain().
enum class Nudge : std::uint32_t { none = 0, down = 1, up = 2 };

/// How far, times gain + 1: 2^-22.
inline constexpr double kNudge = 0x1p-22;

struct CurveScratch {
  std::uint64_t chroma[256];     ///< gain_48() >> 8, for formats with chroma
  double ratio[256];             ///< the gain; before it is known, 1 / v
  std::uint32_t fraction[256];   ///< of the gain, times 2^32
  std::uint32_t tolerance[256];  ///< how near to a half is too near, times 2^32
  std::uint32_t cdf[256];
  std::uint32_t nudge[256];
  std::uint8_t present[256];  ///< whether the frame has v; what it has not needs no exact gain
  std::uint8_t last_of_bin[256];
  std::uint32_t warp_counts[256 / kLanes];
  int warp_first[256 / kLanes];  ///< the first value that is present, or 256
};

/// Where a thread finds its gains. The table has a row for each value, with a copy of the value's
/// gain for each lane, so that no lane waits for another's bank.
template <int kStride>
class GainTable {
 public:
  __device__ GainTable(const std::uint8_t* table, const std::uint64_t* chroma, int lane)
      : table_(table), chroma_(chroma), mine_(static_cast<std::uint32_t>(lane * 4)) {}

  /// Of the value that is byte kByte of a word.
  template <int kByte>
  [[nodiscard]] __device__ __forceinline__ float gain_of_byte(std::uint32_t word) const {
    if constexpr (kStride == 256) {  // The value and the lane are the bytes of the address.
      return at(__byte_perm(word, mine_, 0x7604 | kByte << 4));
    } else {
      return at(__byte_perm(word, 0, 0x4440 | kByte) * kStride + mine_);
    }
  }
  [[nodiscard]] __device__ __forceinline__ float gain_at_times_256(std::uint32_t value) const {
    return at((kStride == 256 ? value : value / (256 / kStride)) + mine_);
  }
  /// gain_48() >> 8.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t chroma_gain(std::uint32_t value) const {
    return chroma_[value];
  }

 private:
  [[nodiscard]] __device__ __forceinline__ float at(std::uint32_t offset) const {
    return *reinterpret_cast<const float*>(table_ + offset);
  }

  const std::uint8_t* table_;
  const std::uint64_t* chroma_;
  std::uint32_t mine_;
};

/// Values that a thread takes care of; the threads that have none stand behind.
constexpr int values_each(int threads) {
  return threads < 256 ? 256 / threads : 1;
}

/// Fills the table from ratio and nudge.
template <int kThreads, int kStride, bool kChroma>
__device__ __forceinline__ void fill_rows(const CurveScratch& s, std::uint8_t* table) {
  constexpr float kScale = kChroma ? 1.0f : kGainScale;
  const int thread = static_cast<int>(threadIdx.x);
  // Copies of one gain fill a row, 16 bytes at a time; each thread begins at another bank.
  constexpr int kVectors = kLanes * 4 / kVectorBytes;
  constexpr int kSharing = kThreads > 256 ? kThreads / 256 : 1;
  for (int v = thread / kSharing; v < 256; v += kThreads / kSharing) {
    // Without a branch: code that is seldom run would have to be fetched from far away.
    const double way = s.nudge[v] == 0                                       ? 0.0
                       : s.nudge[v] == static_cast<std::uint32_t>(Nudge::up) ? kNudge
                                                                             : -kNudge;
    const float gain = static_cast<float>(s.ratio[v] + (s.ratio[v] + 1.0) * way) * kScale;
    const float4 copies{gain, gain, gain, gain};
#pragma unroll
    for (int i = thread % kSharing; i < kVectors; i += kSharing) {
      *reinterpret_cast<float4*>(table + v * kStride +
                                 (i + v * kSharing) % kVectors * kVectorBytes) = copies;
    }
  }
}

/// The cumulative sums of the frame's counts, which the grid hands over here. All threads of the
/// block call it.
template <int kThreads>
__device__ __forceinline__ void scan_counts(GridHistogram& histogram, CurveScratch& s) {
  constexpr int kEach = values_each(kThreads);
  constexpr int kWarps = 256 / kEach / kLanes;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  const bool busy = warp < kWarps;
  std::uint32_t sums[kEach] = {};
  std::uint32_t before = 0;
  if (busy) {
    int first = 256;
#pragma unroll
    for (int i = kEach - 1; i >= 0; --i) {
      sums[i] = await_grid(histogram, thread * kEach + i);
      s.present[thread * kEach + i] = sums[i] != 0 ? 1 : 0;
      if (sums[i] != 0) first = thread * kEach + i;
    }
#pragma unroll
    for (int i = 1; i < kEach; ++i)
      sums[i] += sums[i - 1];
    before = sums[kEach - 1];
#pragma unroll
    for (int step = 1; step < kLanes; step *= 2) {
      first = min(first, __shfl_xor_sync(0xFFFFFFFFU, first, step));
      const std::uint32_t below = __shfl_up_sync(0xFFFFFFFFU, before, step);
      if (lane >= step) before += below;
    }
    if (lane == kLanes - 1) {
      s.warp_counts[warp] = before;
      s.warp_first[warp] = first;
    }
    before -= sums[kEach - 1];
  }
  __syncthreads();
  if (busy) {
#pragma unroll
    for (int w = 0; w < kWarps - 1; ++w)
      before += w < warp ? s.warp_counts[w] : 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      s.cdf[thread * kEach + i] = before + sums[i];
  }
  __syncthreads();
}

/// After scan_counts().
template <int kThreads>
__device__ __forceinline__ CurveScale scale_of(const FusedParams& p, const CurveScratch& s) {
  int first = 256;
#pragma unroll
  for (int w = 0; w < 256 / values_each(kThreads) / kLanes; ++w)
    first = min(first, s.warp_first[w]);
  return curve_scale(p.scaler, s.cdf[s.last_of_bin[0]], s.cdf[s.last_of_bin[first]], s.cdf[255]);
}

/// The gain of one value as a fraction.
__device__ __forceinline__ GainFraction fraction_of(const FusedParams& p, const CurveScratch& s,
                                                    const CurveScale& scale, int v) {
  return gain_fraction(scale, s.cdf[s.last_of_bin[v]], static_cast<std::uint32_t>(v),
                       static_cast<std::uint32_t>(p.weights.luma_max));
}

/// The largest code that is scaled by the gain of v: only at M can a luma code lie above its v.
__device__ __forceinline__ int max_code(const FusedParams& p, int v) {
  return v == p.weights.luma_max ? 255 - p.weights.luma_offset : v;
}

/// More than the digits cut off a fraction can make of a product with a code.
inline constexpr std::uint32_t kCutOff = 512;

/// Whether a product's distance from one half, modulo 1 in units of 2^-32, is less than that.
__device__ __forceinline__ bool is_unsure(std::uint32_t past) {
  return past + kCutOff <= 2 * kCutOff;
}

/// Whether code c times the gain of v reaches the half that it comes near, in whole numbers.
__device__ __forceinline__ bool reaches_half(const GainFraction& exact, double ratio, int c) {
  const auto below = static_cast<std::uint64_t>(c * ratio);
  return 2 * static_cast<std::uint64_t>(c) * exact.numerator >= (2 * below + 1) * exact.denominator;
}

/// Looks among the codes first, first + kStep, ... of a value for a product with its gain that
/// comes so near to a half that single precision might round it wrong: a few in a frame. Products
/// are taken modulo 1, in units of 2^-32. A value's products come near to one half only, so that
/// any of its codes decides, also one past the largest.
///
/// Codes up to a third of the largest need no look: an odd multiple of theirs lies above, and its
/// product comes as near to a half in proportion.
template <int kStep>
__device__ __forceinline__ Nudge find_nudge(const FusedParams& p, const CurveScratch& s,
                                            const CurveScale& scale, int v, int first) {
  constexpr int kTogether = 8;  // so many do not wait for each other
  constexpr std::uint32_t kHalf = 0x80000000U;
  const int most = max_code(p, v);
  const std::uint32_t fraction = s.fraction[v];
  const std::uint32_t tolerance = s.tolerance[v];
  const std::uint32_t stride = fraction * kStep;
  for (int begin = first + most / 3 / kStep * kStep; begin <= most; begin += kTogether * kStep) {
    const std::uint32_t product = fraction * static_cast<std::uint32_t>(begin) - kHalf + tolerance;
    std::uint32_t nearest = product;
#pragma unroll
    for (int i = 1; i < kTogether; ++i) {
      nearest = min(nearest, product + stride * static_cast<std::uint32_t>(i));
    }
    if (nearest > 2 * tolerance) continue;
    // The distance of the code that came nearest, or on a tie of one of those that did.
    const std::uint32_t past = nearest - tolerance;
    if (!is_unsure(past)) return past < kHalf ? Nudge::up : Nudge::down;
    int code = begin;
    std::uint32_t its_product = product;
    while (its_product != nearest) {
      code += kStep;
      its_product += stride;
    }
    return reaches_half(fraction_of(p, s, scale, v), s.ratio[v], code) ? Nudge::up : Nudge::down;
  }
  return Nudge::none;
}

/// Fills `table`, 256 rows of kStride bytes, from the counts of the whole frame; gains are times
/// kGainScale, but with kChroma as they are. All threads of the block call it, with ratio and
/// last_of_bin of the scratch prepared; the table is complete when it returns.
template <int kThreads, int kStride, bool kChroma>
__device__ __forceinline__ void make_gain_table(const FusedParams& p, GridHistogram& histogram,
                                                CurveScratch& s, std::uint8_t* table) {
  const int thread = static_cast<int>(threadIdx.x);
  scan_counts<kThreads>(histogram, s);
  const CurveScale scale = scale_of<kThreads>(p, s);
#pragma unroll 1
  for (int v = thread; v < 256; v += kThreads) {
    // Two roundings more than a division, and no matter: only the fraction decides about ties.
    const GainFraction exact = fraction_of(p, s, scale, v);
    const double inverse =
        exact.denominator == 1 ? 1.0 : s.ratio[v] * __drcp_rn(static_cast<double>(scale.span));
    const double ratio = static_cast<double>(exact.numerator) * inverse;
    s.ratio[v] = ratio;
    s.nudge[v] = 0;
    s.fraction[v] = static_cast<std::uint32_t>(__double2ull_rd(ratio * 0x1p32));
    // kNudge of the largest product, and more than cutting off the fraction may lose.
    s.tolerance[v] = __double2uint_ru((ratio + 1.0) * max_code(p, v) * (kNudge * 0x1p32)) + 512;
    if constexpr (kChroma) s.chroma[v] = gain_48(exact, ratio, inverse) >> 8;
  }
  __syncthreads();
  {
    // Values v and 255 - v have as many codes together as any other such pair.
    const int first = 1 + thread / 128;
#pragma unroll 1
    for (int v = thread % 128; v < 256; v = v < 128 ? 255 - v : 256) {
      if (s.present[v] == 0) continue;
      const Nudge nudge = find_nudge<kThreads / 128>(p, s, scale, v, first);
      if (nudge != Nudge::none) atomicOr(&s.nudge[v], static_cast<std::uint32_t>(nudge));
    }
  }
  __syncthreads();
  fill_rows<kThreads, kStride, kChroma>(s, table);
  __syncthreads();
}

}  // namespace equalux::cuda
