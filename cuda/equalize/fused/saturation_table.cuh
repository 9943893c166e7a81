#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_config.h"
#include "cuda/equalize/fused/fused_curve.cuh"
#include "src/equalize/saturation.h"

/// What the fused kernel looks up where a frame's saturation changes: in place of one gain for each
/// value two numbers in single precision, and for what lies near a half the whole numbers that
/// decide.
namespace equalux::cuda {

/// What channels of a value v become: level - slope (v - c), as long as k takes S to 1 at most.
struct LevelSlope {
  float level;  ///< V', 0 for v = 0
  float slope;  ///< k V' / v, which is the gain of chroma
};

/// Where a thread finds them; a counterpart of GainTable, in the same shared memory. With 256 bytes
/// for each value every lane has a copy of its own, so that no lane waits for another's bank.
template <int kStride>
class SaturationTable {
 public:
  static constexpr bool kSaturates = true;

  __device__ SaturationTable(const std::uint8_t* table, const CurveScratch& scratch, int lane)
      : table_(table),
        scratch_(scratch),
        mine_(kCopies ? static_cast<std::uint32_t>(lane) * kEntry : 0) {}

  [[nodiscard]] __device__ __forceinline__ LevelSlope at(std::uint32_t v) const {
    const float2 entry = *reinterpret_cast<const float2*>(table_ + v * kStep + mine_);
    return {entry.x, entry.y};
  }
  /// W, with tone::kCurveBits.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t level(std::int32_t v) const {
    return scratch_.cdf[v];
  }
  /// k of v in f for a pixel whose least channel lies `below` under v.
  [[nodiscard]] __device__ __forceinline__ saturation::Factor factor(std::int32_t v,
                                                                     std::int32_t below) const {
    return saturation::factor_of(scratch_.factors[v], v, below);
  }
  /// gain_48() >> 8.
  [[nodiscard]] __device__ __forceinline__ std::int64_t share(std::int32_t v) const {
    return static_cast<std::int64_t>(scratch_.chroma[v]);
  }

  /// Fills the rows of a value.
  static __device__ __forceinline__ void fill(std::uint8_t* table, unsigned v, LevelSlope entry) {
    std::uint8_t* row = table + v * kStep;
    if constexpr (kCopies) {
      constexpr unsigned kVectors = kLanes * kEntry / kVectorBytes;
      // Neighbouring values begin at different banks.
#pragma unroll
      for (unsigned i = 0; i < kVectors; ++i) {
        *reinterpret_cast<float4*>(row + (i + v) % kVectors * kVectorBytes) =
            float4{entry.level, entry.slope, entry.level, entry.slope};
      }
    } else {
      *reinterpret_cast<float2*>(row) = float2{entry.level, entry.slope};
    }
  }

 private:
  static constexpr std::uint32_t kEntry = sizeof(float2);
  static constexpr bool kCopies = kStride >= static_cast<int>(kLanes * kEntry);
  static constexpr std::uint32_t kStep = kCopies ? kStride : kEntry;

  const std::uint8_t* table_;
  const CurveScratch& scratch_;
  std::uint32_t mine_;
};

/// Fills `table` after make_frame_curve(), as make_gain_table() does for gains: numbers in single
/// precision that are off by 2^-24 of themselves at most, and k and the shares of chroma of the
/// scratch. The curve is not plain.
template <int kThreads, int kStride, bool kChroma>
__device__ __forceinline__ void make_saturation_table(const FusedParams& p, CurveScratch& s,
                                                      std::uint8_t* table) {
  const auto max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  constexpr double kPerLevel = 1.0 / (1U << tone::kCurveBits);
  constexpr double kPerFactor = 1.0 / saturation::kOne;
#pragma unroll 1
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    const std::uint32_t k = saturation::factor_at(p.tone.saturation, s.cdf, v, max_value);
    const GainFraction exact = tone::gain_fraction(v, s.cdf[v]);
    const double inverse = exact.denominator == 1 ? 1.0 : s.ratio[v] * kPerLevel;
    const double ratio = static_cast<double>(exact.numerator) * inverse;
    s.factors[v] = static_cast<std::uint16_t>(k);
    if constexpr (kChroma) s.chroma[v] = gain_48(exact, ratio, inverse) >> 8;
    // A pixel of v = 0 has no S to gain: either its chroma is 0 too, or its least channel lies
    // below black.
    LevelSlope entry{0, fminf(static_cast<float>(k * kPerFactor), 1.0f)};
    if (v != 0) {
      entry.level = static_cast<float>(s.cdf[v] * kPerLevel);
      entry.slope = static_cast<float>(ratio * k * kPerFactor);
    }
    SaturationTable<kStride>::fill(table, v, entry);
  }
  __syncthreads();
}

}  // namespace equalux::cuda
