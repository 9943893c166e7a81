#pragma once

#include <cstdint>

#include "fused_config.h"
#include "fused_params.h"
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
  double ratio[256];             ///< the gain
  std::uint32_t fraction[256];   ///< of the gain, times 2^32
  std::uint32_t tolerance[256];  ///< how near to a half is too near, times 2^32
  std::uint32_t cdf[256];
  std::uint32_t nudge[256];
  std::uint8_t present[256];  ///< whether the frame has v; what it has not needs no exact gain
  std::uint8_t last_of_bin[256];
  CurveScale scale;
};

/// Where a thread finds its gains. The table has a row for each value, with a copy of the value's
/// gain for each lane, so that no lane waits for another's bank.
template <int kStride>
class GainTable {
 public:
  __device__ GainTable(const std::uint8_t* table, const std::uint64_t* chroma, int lane)
      : mine_(table + lane * 4), chroma_(chroma) {}

  [[nodiscard]] __device__ __forceinline__ float gain(std::uint32_t value) const {
    return *reinterpret_cast<const float*>(mine_ + value * kStride);
  }
  [[nodiscard]] __device__ __forceinline__ float gain_at_times_256(std::uint32_t value) const {
    const std::uint32_t row = kStride == 256 ? value : value / (256 / kStride);
    return *reinterpret_cast<const float*>(mine_ + row);
  }
  /// Of the value in a word's high half; the low half is below 2^8.
  [[nodiscard]] __device__ __forceinline__ float gain_of_high(std::uint32_t pair) const {
    return *reinterpret_cast<const float*>(mine_ + pair / (65536 / kStride));
  }
  /// gain_48() >> 8.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t chroma_gain(std::uint32_t value) const {
    return chroma_[value];
  }

 private:
  const std::uint8_t* mine_;
  const std::uint64_t* chroma_;
};

/// Inclusive sums of the 256 counts, and the curve's scale. The first warp calls it.
__device__ __forceinline__ void scan_counts(const FusedParams& p, const std::uint32_t* counts,
                                            CurveScratch& s) {
  constexpr int kEach = 256 / kLanes;
  const int lane = static_cast<int>(threadIdx.x);
  const auto* mine = reinterpret_cast<const uint4*>(counts + lane * kEach);
  const uint4 low = __ldcg(mine);
  const uint4 high = __ldcg(mine + 1);
  std::uint32_t sums[kEach] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  int first = 256;
#pragma unroll
  for (int i = kEach - 1; i >= 0; --i) {
    s.present[lane * kEach + i] = sums[i] != 0 ? 1 : 0;
    if (sums[i] != 0) first = lane * kEach + i;
  }
#pragma unroll
  for (int i = 1; i < kEach; ++i) sums[i] += sums[i - 1];
  std::uint32_t before = sums[kEach - 1];
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(0xFFFFFFFFU, before, step);
    if (lane >= step) before += below;
    first = min(first, __shfl_xor_sync(0xFFFFFFFFU, first, step));
  }
  before -= sums[kEach - 1];
#pragma unroll
  for (int i = 0; i < kEach; ++i) s.cdf[lane * kEach + i] = before + sums[i];
  __syncwarp();
  if (lane == 0) {
    s.scale = curve_scale(p.scaler, s.cdf[s.last_of_bin[0]], s.cdf[s.last_of_bin[first]],
                          s.cdf[255]);
  }
}

/// The fraction of gain of one value.
__device__ __forceinline__ GainFraction fraction_of(const FusedParams& p, const CurveScratch& s,
                                                    std::uint32_t v) {
  return gain_fraction(s.scale, s.cdf[s.last_of_bin[v]], v,
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

/// The first code of a row that comes so near to a half that only whole numbers can decide; 0 where
/// there is none.
inline __device__ __noinline__ int code_at_half(const CurveScratch& s, int v, int begin, int most,
                                                int step) {
  for (int c = begin; c <= most; c += step) {
    const std::uint32_t past = s.fraction[v] * static_cast<std::uint32_t>(c) - 0x80000000U;
    if (is_unsure(past)) return c;
  }
  return 0;
}

/// Whether code c times the gain of v reaches the half that it comes near, in whole numbers.
inline __device__ __noinline__ bool reaches_half(const FusedParams& p, const CurveScratch& s, int v,
                                                 int c) {
  const GainFraction exact = fraction_of(p, s, static_cast<std::uint32_t>(v));
  const auto below = static_cast<std::uint64_t>(c * s.ratio[v]);
  return 2 * static_cast<std::uint64_t>(c) * exact.numerator >=
         (2 * below + 1) * exact.denominator;
}

/// Looks among the codes first, first + kStep, ... of a value for products with its gain that come
/// so near to a half that single precision might round them wrong: a few in a frame. Products are
/// taken modulo 1, in units of 2^-32.
///
/// Codes up to a third of the largest need no look: an odd multiple of theirs lies above, and its
/// product comes as near to a half in proportion.
template <int kStep>
__device__ __forceinline__ void find_nudges(const FusedParams& p, CurveScratch& s, int v,
                                            int first) {
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
    // The distance of the code that came nearest. A value's products come near to one half only, so
    // that any of its codes decides, also one past the largest.
    const std::uint32_t past = nearest - tolerance;
    bool reached = past < kHalf;
    if (is_unsure(past)) {
      const int code = code_at_half(s, v, begin, most, kStep);
      if (code == 0) continue;
      reached = reaches_half(p, s, v, code);
    }
    atomicOr(&s.nudge[v], static_cast<std::uint32_t>(reached ? Nudge::up : Nudge::down));
  }
}

/// Fills `table`, 256 rows of kStride bytes, from the counts of the whole frame; gains are times
/// kGainScale, with kChroma times 2^-23. All threads of the block call it; the table is complete
/// when it returns.
template <int kThreads, int kStride, bool kChroma>
__device__ __forceinline__ void make_gain_table(const FusedParams& p, const std::uint32_t* counts,
                                                CurveScratch& s, std::uint8_t* table) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kLanes) scan_counts(p, counts, s);
  __syncthreads();
#pragma unroll 1
  for (int v = thread; v < 256; v += kThreads) {
    const GainFraction exact = fraction_of(p, s, static_cast<std::uint32_t>(v));
    s.ratio[v] = static_cast<double>(exact.numerator) / static_cast<double>(exact.denominator);
    s.nudge[v] = 0;
    s.fraction[v] = static_cast<std::uint32_t>(__double2ull_rd(s.ratio[v] * 0x1p32));
    // kNudge of the largest product, and more than cutting off the fraction may lose.
    s.tolerance[v] = __double2uint_ru((s.ratio[v] + 1.0) * max_code(p, v) * (kNudge * 0x1p32)) + 512;
    if constexpr (kChroma) s.chroma[v] = gain_48(exact) >> 8;
  }
  __syncthreads();
  {
    // Values v and 255 - v have as many codes together as any other such pair.
    const int first = 1 + thread / 128;
#pragma unroll 1
    for (int v = thread % 128; v < 256; v = v < 128 ? 255 - v : 256) {
      if (s.present[v] != 0) find_nudges<kThreads / 128>(p, s, v, first);
    }
  }
  __syncthreads();
  // Copies of one gain fill a row, 16 bytes at a time; each thread begins at another bank.
  constexpr int kVectors = kLanes * 4 / kVectorBytes;
  constexpr float kScale = kChroma ? 0x1p-23f : kGainScale;
  constexpr int kSharing = kThreads > 256 ? kThreads / 256 : 1;
  for (int v = thread / kSharing; v < 256; v += kThreads / kSharing) {
    auto gain = static_cast<float>(s.ratio[v]);
    if (s.nudge[v] != 0) {
      const double width = (s.ratio[v] + 1.0) * kNudge;
      gain = static_cast<float>(s.nudge[v] == static_cast<std::uint32_t>(Nudge::up)
                                    ? s.ratio[v] + width
                                    : s.ratio[v] - width);
    }
    gain *= kScale;
    const float4 copies{gain, gain, gain, gain};
#pragma unroll
    for (int i = thread % kSharing; i < kVectors; i += kSharing) {
      *reinterpret_cast<float4*>(table + v * kStride + (i + v) % kVectors * kVectorBytes) = copies;
    }
  }
  __syncthreads();
}

}  // namespace equalux::cuda
