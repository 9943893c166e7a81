#pragma once

#include <cstdint>

#include "cuda/device/warp.h"
#include "cuda/equalize/fused/fused_curve.cuh"
#include "cuda/equalize/fused/open_cells.cuh"
#include "src/equalize/saturated_codes.h"
#include "src/equalize/saturation.h"

/// Tables of the fused kernel where a frame's saturation changes: two numbers for each value in
/// place of one gain, and whole numbers that decide what those leave open.
namespace equalux::cuda {

/// Lines in whole numbers for packed pixels; counterpart of GainTable, in the same shared memory. A
/// warp reads 8 bytes a lane in two halves, so sixteen copies of a value's line, 128 bytes, avoid
/// bank conflicts.
template <int kStride>
class LineTable {
 public:
  static constexpr bool kSaturates = true;

  __device__ LineTable(const std::uint8_t* table, const CurveScratch& scratch, int lane,
                       const OpenCells& open)
      : table_(table),
        scratch_(scratch),
        open_(open),
        mine_(static_cast<std::uint32_t>(lane) % kCopies * kEntry) {}

  /// Returns a table that leaves open pixels of this chunk.
  [[nodiscard]] __device__ __forceinline__ LineTable in_chunk(std::uint32_t chunk) const {
    LineTable table = *this;
    table.chunk_ = chunk;
    return table;
  }
  /// Leaves a pixel at a column of the chunk open until the block's end. Returns false where there
  /// is no room.
  [[nodiscard]] __device__ __forceinline__ bool leave_open(std::uint32_t colours,
                                                           std::uint32_t column) const {
    return open_.add({colours, 0, chunk_, column});
  }

  /// Line of a value.
  [[nodiscard]] __device__ __forceinline__ saturation::Line at(std::uint32_t v) const {
    const uint2 entry = *reinterpret_cast<const uint2*>(table_ + v * kStride + mine_);
    return {entry.x, entry.y};
  }
  /// Level W of a value, with tone::kCurveBits.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t level(std::int32_t v) const {
    return scratch_.cdf[v];
  }
  /// Slope `level` / n in 2^-saturation::kLineBits; see limited_slope().
  [[nodiscard]] __device__ __forceinline__ std::uint32_t slope(std::uint32_t level,
                                                               std::int32_t n) const {
    return saturation::limited_slope(level,
                                     static_cast<std::uint32_t>(__double2loint(scratch_.ratio[n])));
  }
  /// Factor f of a pixel of value v whose least channel is `below` less, from k of v.
  [[nodiscard]] __device__ __forceinline__ saturation::Factor factor(std::int32_t v,
                                                                     std::int32_t below) const {
    return saturation::factor_of(scratch_.factors[v], v, below);
  }

  /// Fills the row of a value.
  static __device__ __forceinline__ void fill(std::uint8_t* table, unsigned v,
                                              const saturation::Line& line) {
    std::uint8_t* row = table + v * kStride;
    constexpr unsigned kVectors = kCopies * kEntry / kVectorBytes;
    // Rows begin at different banks, so that lanes with a value each have no bank conflicts.
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) {
      *reinterpret_cast<uint4*>(row + (i + v) % kVectors * kVectorBytes) =
          uint4{line.slope, line.base, line.slope, line.base};
    }
  }

 private:
  static constexpr std::uint32_t kEntry = sizeof(uint2);
  static constexpr std::uint32_t kCopies = kLanes / 2;
  static_assert(kStride >= static_cast<int>(kCopies * kEntry));

  const std::uint8_t* table_;
  const CurveScratch& scratch_;
  OpenCells open_;
  std::uint32_t mine_;
  std::uint32_t chunk_ = 0;
};

/// Line of a value v, whose channels c become level - slope (v - c) as long as k takes S to 1 at
/// most.
struct LevelSlope {
  float level;  ///< V' on the base of results; V' = 0 for v = 0
  float slope;  ///< k V' / v, the gain of chroma
};

/// Numbers of a value v whose least channel lies below black, or that was clamped.
struct LevelGain {
  float level;  ///< V', 0 for v = 0
  float gain;   ///< V' / v, 1 for v = 0
};

/// Table for YCbCr, whose chroma needs the slope as a gain: two pairs of floats for each value. A
/// warp reads 8 bytes a lane in two halves: with 256 bytes for each value either pair has copies
/// for all lanes of a half, so that there are no bank conflicts.
template <int kStride>
class SlopeTable {
 public:
  static constexpr bool kSaturates = true;

  __device__ SlopeTable(const std::uint8_t* table, const CurveScratch& scratch, int lane,
                        const OpenCells& open)
      : table_(table),
        scratch_(scratch),
        open_(open),
        mine_(static_cast<std::uint32_t>(lane) % kCopies * kEntry) {}

  /// Returns a table that leaves open cells of this chunk.
  [[nodiscard]] __device__ __forceinline__ SlopeTable in_chunk(std::uint32_t chunk) const {
    SlopeTable table = *this;
    table.chunk_ = chunk;
    return table;
  }
  /// Leaves a cell at a column of the chunk's slot open until the block's end. Returns false where
  /// there is no room.
  template <typename Layout>
  [[nodiscard]] __device__ __forceinline__ bool leave_open(const std::uint8_t* slot,
                                                           int column) const {
    return open_.add(cell_in_slot<Layout>(slot, chunk_, column));
  }

  /// Byte offset of a value's entry.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place_of(std::uint32_t v) const {
    return v * kStride + mine_;
  }
  /// Entry at a byte offset.
  [[nodiscard]] __device__ __forceinline__ LevelSlope slope_at(std::uint32_t place) const {
    const float2 entry = *reinterpret_cast<const float2*>(table_ + place);
    return {entry.x, entry.y};
  }
  [[nodiscard]] __device__ __forceinline__ LevelGain gain_at(std::uint32_t place) const {
    const float2 entry = *reinterpret_cast<const float2*>(table_ + place + kHalf);
    return {entry.x, entry.y};
  }
  /// Byte offset of the entry of `bits` less kBase plus `more`.
  template <std::uint32_t kBase>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place_above(std::uint32_t bits,
                                                                     std::int32_t more) const {
    return bits * kStride + (mine_ - kBase * kStride + static_cast<std::uint32_t>(more) * kStride);
  }
  /// Byte offset of the entry of a sum, in one instruction: byte kByte of a word, and the value
  /// whose byte offset is `above`.
  template <int kByte>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place_of_sum(std::uint32_t word,
                                                                      std::uint32_t above) const {
    constexpr unsigned kFactor = kByte % 2 == 0 ? kStride : static_cast<unsigned>(kStride) << 16;
    return kByte < 2 ? __dp2a_lo(kFactor, word, above) : __dp2a_hi(kFactor, word, above);
  }
  /// Level W of a value, with tone::kCurveBits.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t level(std::int32_t v) const {
    return scratch_.cdf[v];
  }
  /// 1 / v in double precision.
  [[nodiscard]] __device__ __forceinline__ double inverse(std::int32_t v) const {
    return scratch_.ratio[v];
  }
  /// Factor f of a pixel of value v whose least channel is `below` less, from k of v.
  [[nodiscard]] __device__ __forceinline__ saturation::Factor factor(std::int32_t v,
                                                                     std::int32_t below) const {
    return saturation::factor_of(scratch_.factors[v], v, below);
  }
  /// Factor f in double precision, off by 2^-52 of itself at most.
  [[nodiscard]] __device__ __forceinline__ double ratio_of(saturation::Factor f) const {
    if (f.q == saturation::kOne) return f.p * (1.0 / saturation::kOne);
    return f.p * scratch_.ratio[f.q];
  }
  /// Gain of chroma, gain_48() >> 8.
  [[nodiscard]] __device__ __forceinline__ std::int64_t share(std::int32_t v) const {
    return static_cast<std::int64_t>(scratch_.chroma[v]);
  }

  /// Fills the row of a value.
  static __device__ __forceinline__ void fill(std::uint8_t* table, unsigned v,
                                              const LevelSlope& slope, const LevelGain& gain) {
    constexpr unsigned kVectors = kHalf / kVectorBytes;
    std::uint8_t* row = table + v * kStride;
    // Rows begin at different banks, so that lanes with a value each have no bank conflicts.
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) {
      std::uint8_t* to = row + (i + v) % kVectors * kVectorBytes;
      *reinterpret_cast<float4*>(to) = float4{slope.level, slope.slope, slope.level, slope.slope};
      *reinterpret_cast<float4*>(to + kHalf) = float4{gain.level, gain.gain, gain.level, gain.gain};
    }
  }

 private:
  static constexpr std::uint32_t kEntry = sizeof(float2);
  static constexpr std::uint32_t kHalf = kStride / 2;
  static constexpr std::uint32_t kCopies = kHalf / kEntry;
  static_assert(kCopies <= kLanes / 2);

  const std::uint8_t* table_;
  const CurveScratch& scratch_;
  OpenCells open_;
  std::uint32_t mine_;
  std::uint32_t chunk_ = 0;
};

/// Counts the ends of the curve in the scratch. Called by all threads of the block.
template <int kThreads>
__device__ __forceinline__ saturation::Ends ends_of_curve(const CurveScratch& s,
                                                          std::uint32_t max_value) {
  const std::uint32_t most = s.cdf[max_value];
  int blacks = 0;
  int whites = 0;
#pragma unroll
  for (std::uint32_t first = 0; first < 256; first += kThreads) {
    const std::uint32_t v = first + threadIdx.x;
    const bool counts = v <= max_value;
    blacks += __syncthreads_count(counts && s.cdf[v] == 0);
    whites += __syncthreads_count(counts && s.cdf[v] == most);
  }
  return saturation::ends_of(static_cast<std::uint32_t>(blacks), static_cast<std::uint32_t>(whites),
                             max_value);
}

/// Fills `table`, and what it needs of the scratch; counterpart of make_gain_table(). Needs
/// make_frame_curve() and a curve that is not plain. Called by all threads of the block.
template <int kThreads, int kStride, bool kChroma>
__device__ __forceinline__ void make_saturation_table(const FusedParams& p, CurveScratch& s,
                                                      std::uint8_t* table) {
  const auto max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  saturation::Ends ends{};
  if (p.tone.saturation.most != saturation::kOne) ends = ends_of_curve<kThreads>(s, max_value);
  constexpr double kPerLevel = 1.0 / (1U << tone::kCurveBits);
  constexpr double kPerFactor = 1.0 / saturation::kOne;
#pragma unroll 1
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    const std::uint32_t k = p.factors != nullptr
                                ? __ldg(p.factors + v)
                                : saturation::factor_at(p.tone.saturation, s.cdf, ends, v);
    const double inverse = s.ratio[v];
    s.factors[v] = static_cast<std::uint16_t>(k);
    if constexpr (kChroma) {
      const GainFraction exact = tone::gain_fraction(v, s.cdf[v]);
      const double unit = exact.denominator == 1 ? 1.0 : inverse * kPerLevel;
      const double ratio = static_cast<double>(exact.numerator) * unit;
      s.chroma[v] = gain_48(exact, ratio, unit) >> 8;
      // A pixel of v = 0 has no S to gain: its chroma is 0, too, or its least channel lies below
      // black.
      LevelGain gain{0, 1};
      float slope = fminf(static_cast<float>(k * kPerFactor), 1.0f);
      // Rounding to floats is off by 2^-24 of the numbers at most.
      if (v != 0) {
        gain = {static_cast<float>(s.cdf[v] * kPerLevel), static_cast<float>(ratio)};
        slope = static_cast<float>(ratio * k * kPerFactor);
      }
      SlopeTable<kStride>::fill(table, v, {__fadd_rn(gain.level, p.code_base), slope}, gain);
    } else {
      LineTable<kStride>::fill(table, v, saturation::line_of(k, s.cdf[v], v, inverse));
      // Only this thread has read the word before, so it may now hold the inverse for limited
      // lines.
      s.ratio[v] = __hiloint2double(0, static_cast<int>(saturation::limited_inverse(v)));
    }
  }
  __syncthreads();
}

}  // namespace equalux::cuda
