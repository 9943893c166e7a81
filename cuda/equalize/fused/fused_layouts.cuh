#pragma once

#include <cstdint>

#include "cuda/device/chunk_copy.cuh"
#include "cuda/device/pixel_vector.cuh"
#include "cuda/device/value_counter.cuh"
#include "cuda/equalize/fused/fused_curve.cuh"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/saturate.cuh"

/// Layouts of the fused kernel: for each family of formats the bytes of a chunk, the values that
/// are counted, and the arithmetic on a chunk in its slot of shared memory. Packed families are
/// here, those of YCbCr in yuv_layouts.cuh.
///
/// A layout has
///   kPixels                        pixels of a whole chunk
///   kChroma, kHasParts             true for YCbCr, and for a CellLayout
///   kSpans, capacity(s), offset(s) its pieces in device memory: number, bytes, offset in a slot
///   span(params, s, chunk)         plane, row, first byte and bytes of a piece
///   count(params, slot, lane, counter), apply(params, slot, lane, gains)
/// The last two always take a whole chunk: bytes that the frame does not have are 0 in the slot, so
/// that lanes do not diverge at an edge. These zeros are counted, and subtracted at the end.
namespace equalux::cuda {

/// Position of a chunk in the frame.
struct Chunk {
  std::uint32_t line;
  std::uint32_t x;  ///< first pixel
  int pixels;       ///< of the line, at most the layout's kPixels
};

struct SpanPlace {
  int plane;
  std::uint32_t row;
  std::uint32_t first_byte;
  int bytes;  ///< 0 where the piece is missing
};

/// Loads three vectors of a lane as words. Vectors are `step` bytes apart.
__device__ __forceinline__ void load_vectors(const std::uint8_t* first, int step,
                                             std::uint32_t (&words)[12]) {
#pragma unroll
  for (int k = 0; k < 3; ++k)
    load_words<16>(first + k * step, words + 4 * k);
}

__device__ __forceinline__ void store_vectors(std::uint8_t* first, int step,
                                              const std::uint32_t (&words)[12]) {
#pragma unroll
  for (int k = 0; k < 3; ++k)
    store_words<16>(first + k * step, words + 4 * k);
}

/// Base of gray8 and the RGB layouts: one packed plane, with whole pixels for each lane.
template <int kBytes>
struct PackedLayout {
  static constexpr bool kChroma = false;
  static constexpr bool kHasParts = false;
  static constexpr int kPixels = kChunkBytes / kBytes;
  static constexpr int kColumns = 1;
  static constexpr int kSpans = 1;
  static constexpr int capacity(int) { return kChunkBytes; }
  static constexpr int offset(int) { return 0; }
  static __device__ SpanPlace span(const FusedParams&, int, const Chunk& chunk) {
    return {0, chunk.line, chunk.x * kBytes, chunk.pixels * kBytes};
  }
};

struct GrayLayout : PackedLayout<1> {
  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams&, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
#pragma unroll
    for (int w = 0; w < 12; ++w) {
      counter.template add_pair<0>(words[w]);
      counter.template add_pair<1>(words[w]);
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams&, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
#pragma unroll
    for (int w = 0; w < 12; ++w) {
      std::uint32_t scaled[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t code = byte_times_256(words + w, i);
        scaled[i] = scale_rounded(code, gains.gain_at_times_256(code));
      }
      words[w] = pack(scaled[0], scaled[1], scaled[2], scaled[3]);
    }
    store_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
  }
};

/// Three bytes a pixel, in any order of colours. A lane has 48 neighbouring bytes, 16 pixels:
/// vectors of lanes at that distance have no bank conflicts.
struct Rgb3Layout : PackedLayout<3> {
  static constexpr int kLaneBytes = 3 * kVectorBytes;
  static constexpr int kColor = 0;  ///< first of the three colour bytes

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams&, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kLaneBytes, kVectorBytes, words);
    std::uint32_t pairs[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int a = 6 * i;
      const int b = a + 3;
      pairs[i] = __vimax3_u16x2(upper_bytes(words, a, b), upper_bytes(words, a + 1, b + 1),
                                upper_bytes(words, a + 2, b + 2));
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
      counter.template add_pair<1>(pairs[i]);
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams&, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kLaneBytes, kVectorBytes, words);
    if constexpr (Gains::kSaturates) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        saturate_pixels<8, 3, kColor>(gains, slot, words + 6 * half, [&](int pixel) {
          return lane * (kLaneBytes / 3) + 8 * half + pixel;
        });
      }
    } else {
      // Three words hold four pixels.
#pragma unroll
      for (int four = 0; four < 4; ++four)
        scale_pixels(gains, words + 3 * four);
    }
    store_vectors(slot + lane * kLaneBytes, kVectorBytes, words);
  }

 private:
  template <typename Gains>
  static __device__ __forceinline__ void scale_pixels(const Gains& gains, std::uint32_t* words) {
    std::uint32_t scaled[12];
#pragma unroll
    for (int pixel = 0; pixel < 4; ++pixel) {
      std::uint32_t code[3];
#pragma unroll
      for (int c = 0; c < 3; ++c)
        code[c] = byte_times_256(words, 3 * pixel + c);
      const float gain = gains.gain_at_times_256(max(max(code[0], code[1]), code[2]));
#pragma unroll
      for (int c = 0; c < 3; ++c)
        scaled[3 * pixel + c] = scale_rounded(code[c], gain);
    }
#pragma unroll
    for (int w = 0; w < 3; ++w)
      words[w] = pack(scaled[4 * w], scaled[4 * w + 1], scaled[4 * w + 2], scaled[4 * w + 3]);
  }
};

/// Four bytes a pixel, of which the one at kCopied is copied.
template <int kCopied>
struct Rgb4Layout : PackedLayout<4> {
  static constexpr int kColor = kCopied == 0 ? 1 : 0;  ///< first of the three colour bytes

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams&, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
#pragma unroll
    for (int w = 0; w < 12; w += 2) {
      const int a = 4 * w + kColor;
      const int b = a + 4;
      counter.template add_pair<1>(__vimax3_u16x2(upper_bytes(words, a, b),
                                                  upper_bytes(words, a + 1, b + 1),
                                                  upper_bytes(words, a + 2, b + 2)));
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams&, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
    if constexpr (Gains::kSaturates) {
      saturate_pixels<12, 4, kColor>(gains, slot, words, [&](int pixel) {
        return (pixel / 4 * kLanes + lane) * 4 + pixel % 4;
      });
    } else {
#pragma unroll
      for (int w = 0; w < 12; ++w)
        scale_pixel(gains, words, w);
    }
    store_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
  }

 private:
  template <typename Gains>
  static __device__ __forceinline__ void scale_pixel(const Gains& gains, std::uint32_t (&words)[12],
                                                     int w) {
    std::uint32_t code[3];
#pragma unroll
    for (int c = 0; c < 3; ++c)
      code[c] = byte_times_256(words + w, kColor + c);
    const float gain = gains.gain_at_times_256(max(max(code[0], code[1]), code[2]));
    std::uint32_t bytes[4];
    bytes[kCopied] = byte_of(words + w, kCopied);
#pragma unroll
    for (int c = 0; c < 3; ++c)
      bytes[kColor + c] = scale_rounded(code[c], gain);
    words[w] = pack(bytes[0], bytes[1], bytes[2], bytes[3]);
  }
};

}  // namespace equalux::cuda
