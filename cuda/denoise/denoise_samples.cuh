#pragma once

#include "cuda/denoise/denoise_stages.h"
#include "cuda/device/dependent_launch.cuh"

/// Device functions that the kernels of noise reduction share: samples of frames, windows of
/// planes, and curves.
namespace equalux::cuda {

/// Stored code of a sample: a number of Words::depth bits. Words may lie at odd addresses, and may
/// hold values beyond their depth, which are clamped.
__device__ __forceinline__ int code_at(const Samples<const std::uint8_t>& samples,
                                       denoise::Words words, int x, int y) {
  const std::uint8_t* const at = samples.at(x, y);
  if (words.depth == 8) return at[0];
  return min((at[0] | at[1] << 8) >> words.shift, (1 << words.depth) - 1);
}

/// Sample in denoise::kSampleBits bits.
__device__ __forceinline__ int sample_at(const Samples<const std::uint8_t>& samples,
                                         denoise::Words words, int x, int y) {
  return code_at(samples, words, x, y) << (denoise::kSampleBits - words.depth);
}

/// Neighbouring samples that a thread loads at a time.
constexpr int kFour = 4;

/// Loads the stored codes of four neighbouring samples of a row.
__device__ __forceinline__ void load_codes(const Samples<const std::uint8_t>& samples,
                                           denoise::Words words, int x, int y,
                                           int (&codes)[kFour]) {
  const std::uint8_t* const at = samples.at(x, y);
  if (words.depth == 8 && samples.step == 1 && reinterpret_cast<std::uintptr_t>(at) % kFour == 0) {
    const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(at);
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      codes[i] = static_cast<int>(word >> (8 * i) & 255);
  } else if (words.depth == 8) {
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      codes[i] = at[i * samples.step];
  } else {
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      codes[i] = code_at(samples, words, x + i, y);
  }
}

/// Loads four neighbouring numbers of a row from an address aligned to 8 bytes.
__device__ __forceinline__ void load_four(const std::int16_t* from, int (&numbers)[kFour]) {
  const auto four = *reinterpret_cast<const uint2*>(from);
  numbers[0] = static_cast<std::int16_t>(four.x);
  numbers[1] = static_cast<int>(four.x) >> 16;
  numbers[2] = static_cast<std::int16_t>(four.y);
  numbers[3] = static_cast<int>(four.y) >> 16;
}

/// Two 16-bit whole numbers in a register, the left one in the lower half.
using Pair = std::uint32_t;
__device__ __forceinline__ Pair pair_of(int left, int right) {
  return __byte_perm(static_cast<unsigned>(left), static_cast<unsigned>(right), 0x5410);
}
__device__ __forceinline__ int left_of(Pair pair) {
  return static_cast<std::int16_t>(pair);
}
__device__ __forceinline__ int right_of(Pair pair) {
  return static_cast<int>(pair) >> 16;
}
/// A number in both halves of a pair.
constexpr Pair twice(unsigned number) {
  return number << 16 | number;
}
/// Right number of a pair and left number of the pair behind it.
__device__ __forceinline__ Pair between(Pair pair, Pair behind) {
  return __byte_perm(pair, behind, 0x5432);
}

/// Clamps a place to 0 ... count - 1.
__device__ __forceinline__ int nearest_place(int x, int count) {
  return min(max(x, 0), count - 1);
}

/// Function object for samples of a picture's first component. Places beyond an edge give the
/// nearest sample.
struct PictureSamples {
  const Samples<const std::uint8_t>& samples;
  denoise::Words words;

  __device__ __forceinline__ int operator()(int x, int y) const {
    return sample_at(samples, words, nearest_place(x, samples.columns),
                     nearest_place(y, samples.rows));
  }
};

/// Function object for numbers of a plane. Places beyond an edge give the nearest number.
struct PlaneNumbers {
  const NumberPlane<std::int16_t>& plane;

  __device__ __forceinline__ int operator()(int x, int y) const {
    return plane.row(nearest_place(y, plane.rows))[nearest_place(x, plane.columns)];
  }
};

/// Entry of a table at a byte offset: an offset found by arithmetic on packed numbers needs no
/// multiplication for each entry.
template <typename Entry>
__device__ __forceinline__ Entry entry_at(const Entry* table, unsigned place) {
  return *reinterpret_cast<const Entry*>(reinterpret_cast<const char*>(table) + place);
}

/// denoise::LevelCurve as lines in shared memory, indexed by the upper six bits of a level: 64
/// entries in place of 16, as the upper byte of a level is the index without a shift.
struct CurveOfLevels {
  static constexpr int kEntries = 4 * denoise::kSegments;
  static constexpr int kPerSegment = kEntries / denoise::kSegments;
  /// Bits of a level that count, since a segment has 256 steps.
  static constexpr unsigned kLevelMask = denoise::kSampleMost & ~3U;
  static_assert(denoise::kKnotShift == 8 + 2);

  struct Line {
    std::int32_t begin;  ///< value at level 0, with the term that rounds it, in 2^-kKnotShift
    std::int32_t rise;
  };
  static constexpr unsigned kLineBytes = sizeof(Line);
  alignas(8) Line lines[kEntries];

  __device__ __forceinline__ void load(const denoise::LevelCurve& curve, int entry) {
    const int segment = entry / kPerSegment;
    const int rise = curve.rise[segment];
    lines[entry] = {(curve.knot[segment] << denoise::kKnotShift) + (1 << denoise::kKnotShift) / 2 -
                        rise * (segment << denoise::kKnotShift),
                    rise};
  }
  /// Value at a level, masked by kLevelMask. `upper` are the level's upper six bits.
  __device__ __forceinline__ int at(int level, unsigned upper) const {
    return value(lines[upper], level);
  }
  /// Value at a level by the byte offset of its line, which is its upper six bits times kLineBytes.
  __device__ __forceinline__ int at_place(int level, unsigned place) const {
    return value(entry_at(lines, place), level);
  }

 private:
  static __device__ __forceinline__ int value(Line line, int level) {
    return (line.begin + line.rise * level) >> denoise::kKnotShift;
  }
};

/// Blocks of a grid that cover n items, `of` for each block.
inline unsigned parts(int n, int of) {
  return static_cast<unsigned>((n + of - 1) / of);
}

}  // namespace equalux::cuda
