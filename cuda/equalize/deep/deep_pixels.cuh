#pragma once

#include <cstdint>

#include "cuda/device/chunk_copy.cuh"
#include "cuda/equalize/deep/deep_strips.cuh"

/// Strips of eight packed pixels, or of eight samples of gray, of 16 bits, and spans of strips.
namespace equalux::cuda {

/// Order of the words of a pixel in memory.
enum class DeepPixels : std::uint8_t { gray, colours, colours_then_alpha, alpha_then_colours };

constexpr int words_of(DeepPixels pixels) {
  if (pixels == DeepPixels::gray) return 1;
  return pixels == DeepPixels::colours ? 3 : 4;
}
/// Returns the number of the first colour word.
constexpr int first_colour(DeepPixels pixels) {
  return pixels == DeepPixels::alpha_then_colours ? 1 : 0;
}
constexpr Sampling sampling_of(DeepPixels pixels) {
  return pixels == DeepPixels::gray ? Sampling::gray : Sampling::rgb;
}

/// 32 neighbouring strips of a row, one for each lane of a warp; fewer at the end of a row.
struct PixelSpan {
  std::uint32_t row;
  std::uint32_t first;  ///< its first strip
  int strips;

  [[nodiscard]] __device__ __forceinline__ bool whole() const { return strips == kLanes; }
};

/// Returns the number of spans in a row.
__host__ __device__ inline std::uint32_t spans_across(const DeepFrame& frame) {
  constexpr std::uint32_t kColumns = kLanes * kStripColumns;
  return (frame.columns + kColumns - 1) / kColumns;
}

/// Calls use_span(span, lane) once for every span, with all lanes of a warp, and use_cell(row,
/// column) for every pixel that is in no strip, spread over all warps of the grid.
template <typename UseSpan, typename UseCell>
__device__ __forceinline__ void for_each_span(const DeepFrame& frame, const UseSpan& use_span,
                                              const UseCell& use_cell) {
  const std::uint32_t across = spans_across(frame);
  const std::uint32_t whole = static_cast<std::uint32_t>(frame.width) / kStripColumns;
  const std::uint32_t warps = gridDim.x * (blockDim.x / kLanes);
  const std::uint32_t first = blockIdx.x * (blockDim.x / kLanes) + threadIdx.x / kLanes;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  for_items_of_rows(frame, across, first, warps, [&](std::uint32_t row, std::uint32_t at) {
    const std::uint32_t strip = kLanes * at;
    const auto strips = static_cast<int>(min(whole - min(whole, strip), std::uint32_t{kLanes}));
    use_span(PixelSpan{row, strip, strips}, lane);
    const std::uint32_t column =
        kStripColumns * (strip + strips) + static_cast<std::uint32_t>(lane);
    if (strips < kLanes && column < frame.columns) use_cell(row, column);
  });
}

/// The codes of a lane's eight pixels of a span, two per word as they are in memory. A warp loads
/// and stores a span in vectors of 16 bytes, where neighbouring lanes take neighbouring vectors: a
/// lane that took a strip of its own would touch parts of cache lines. Two pixels of four words are
/// a vector, and a strip of gray is one; strips of three words a pixel are exchanged in shared
/// memory, where 16 bytes of each lane, 48 apart, do not collide.
template <DeepPixels kPixels>
struct PixelStrip {
  static constexpr int kWords = words_of(kPixels);
  static constexpr int kBytes = 2 * kStripColumns * kWords;  ///< of a strip
  /// Bytes of shared memory that a warp needs, aligned to 16.
  static constexpr int kSlotBytes = kWords == 3 ? kLanes * kBytes : 0;

  std::uint32_t words[4 * kWords];

  /// Loads a span, with zeros where it has no pixels; `slot` is the warp's shared memory.
  __device__ __forceinline__ void load(const DeepFrame& frame, const PixelSpan& span, int lane,
                                       std::uint8_t* slot) {
    const std::uint8_t* const from =
        frame.planes[0].from(span.row) + kBytes * std::int64_t{span.first};
    if constexpr (kSlotBytes != 0) {
      __syncwarp();
      if (span.whole()) {
        load_whole<kSlotBytes>(slot, from, lane);
      } else {
        load_some<true, kSlotBytes>(slot, from, kBytes * span.strips, lane);
      }
      copies_commit();
      copies_wait<0>();
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        set_vector(i, reinterpret_cast<const uint4*>(slot)[kWords * lane + i]);
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const int at = kLanes * i + lane;
        set_vector(i, at < kWords * span.strips ? reinterpret_cast<const uint4*>(from)[at]
                                                : uint4{0, 0, 0, 0});
      }
    }
  }
  /// Loads a span, or zeros, without shared memory: pixels of three words by strips, which takes
  /// less time where nothing is stored.
  __device__ __forceinline__ void load_values(const DeepFrame& frame, const PixelSpan& span,
                                              int lane) {
    if constexpr (kWords != 3) {
      load(frame, span, lane, nullptr);
    } else {
      const auto* const from = reinterpret_cast<const uint4*>(
          frame.planes[0].from(span.row) + kBytes * (std::int64_t{span.first} + lane));
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        set_vector(i, lane < span.strips ? from[i] : uint4{0, 0, 0, 0});
    }
  }
  /// Returns whether the span has a lane's pixel.
  [[nodiscard]] static __device__ __forceinline__ bool has(const PixelSpan& span, int lane,
                                                           int pixel) {
    return kWords == 4 ? kLanes * (pixel / 2) + lane < 4 * span.strips : lane < span.strips;
  }

  /// Stores a span; the slot may be that of load().
  __device__ __forceinline__ void store(const DeepFrame& frame, const PixelSpan& span, int lane,
                                        std::uint8_t* slot) const {
    auto* const to =
        reinterpret_cast<uint4*>(frame.planes[0].to(span.row) + kBytes * std::int64_t{span.first});
    store_vectors(to, span, lane, slot, [&](int i) {
      return uint4{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
    });
  }
  /// Rounds the codes to bytes, in the same order, and stores them.
  __device__ __forceinline__ void store_bytes(const DeepRounding& rounding, const PixelSpan& span,
                                              int lane, std::uint8_t* slot) const {
    auto* const to =
        reinterpret_cast<uint2*>(rounding.out[0].row(static_cast<std::int32_t>(span.row)) -
                                 first_colour(kPixels) + kBytes / 2 * std::int64_t{span.first});
    // rounded_level() of 8 bits: one half is added without overflow, and the upper bytes are taken.
    const auto two = [&](int i) { return __vminu2(words[i], 0xFF7FFF7F) + 0x00800080; };
    const auto four = [&](int i) { return __byte_perm(two(i), two(i + 1), 0x7531); };
    store_vectors(to, span, lane, slot, [&](int i) { return uint2{four(4 * i), four(4 * i + 2)}; });
  }

  /// Returns word `word` of a pixel; both numbers are constants in unrolled loops.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t code(int pixel, int word) const {
    const int i = pixel * kWords + word;
    return i % 2 == 0 ? words[i / 2] & 0xFFFF : words[i / 2] >> 16;
  }
  /// Returns the same with `upper` in the upper 16 bits, whose lower 16 are 0.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t code_with(int pixel, int word,
                                                                   std::uint32_t upper) const {
    const int i = pixel * kWords + word;
    return __byte_perm(words[i / 2], upper, i % 2 == 0 ? 0x7610 : 0x7632);
  }
  __device__ __forceinline__ void set(int pixel, int word, std::uint32_t code) {
    const int i = pixel * kWords + word;
    words[i / 2] = __byte_perm(words[i / 2], code, i % 2 == 0 ? 0x3254 : 0x5410);
  }
  /// Returns the largest colour, or the sample of gray.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t value(int pixel) const {
    if constexpr (kPixels == DeepPixels::gray) {
      return code(pixel, 0);
    } else {
      constexpr int kFirst = first_colour(kPixels);
      return max(code(pixel, kFirst), max(code(pixel, kFirst + 1), code(pixel, kFirst + 2)));
    }
  }

 private:
  __device__ __forceinline__ void set_vector(int i, const uint4& vector) {
    words[4 * i] = vector.x;
    words[4 * i + 1] = vector.y;
    words[4 * i + 2] = vector.z;
    words[4 * i + 3] = vector.w;
  }
  /// Stores a lane's vectors, vector(i), in the order of load().
  template <typename Vector, typename MakeVector>
  __device__ __forceinline__ void store_vectors(Vector* to, const PixelSpan& span, int lane,
                                                std::uint8_t* slot,
                                                const MakeVector& vector) const {
    auto* const exchanged = reinterpret_cast<Vector*>(slot);
    if constexpr (kSlotBytes != 0) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        exchanged[kWords * lane + i] = vector(i);
      __syncwarp();
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int at = kLanes * i + lane;
      if (at >= kWords * span.strips) continue;
      __stcs(&to[at], kSlotBytes != 0 ? exchanged[at] : vector(i));
    }
  }
};

/// Calls use(pixels) with the order of words as a compile-time constant.
template <typename Use>
void with_pixel_strips(const DeepFrame& frame, const Use& use) {
  using enum DeepPixels;
  const DeepPixels pixels = frame.sampling == Sampling::gray ? gray
                            : frame.step == 6                ? colours
                            : frame.color_offset == 0        ? colours_then_alpha
                                                             : alpha_then_colours;
  with_constant<gray, colours, colours_then_alpha, alpha_then_colours>(pixels, use);
}

}  // namespace equalux::cuda
