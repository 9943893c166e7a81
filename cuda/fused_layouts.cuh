#pragma once

#include <cstdint>

#include "chunk_copy.cuh"
#include "fused_curve.cuh"
#include "fused_params.h"
#include "pixel_vector.cuh"
#include "value_counter.cuh"

/// What the fused kernel knows of each family of formats: which bytes make a chunk, which values
/// are counted, and how a chunk is scaled in its slot of shared memory.
///
/// A layout has
///   kPixels, kPixelsPerLane           of a whole chunk
///   kSpans, capacity(s), offset(s)    its pieces of device memory, and where they lie in a slot
///   span(params, s, chunk)            plane, row, first byte and bytes of a piece
///   count(params, slot, lane, chunk, counter), apply(params, slot, lane, chunk, gains)
namespace equalux::cuda {

/// Where a chunk lies.
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

/// How many of `count` items from `first` on exist, for a run of `each`.
__device__ __forceinline__ int clamp_count(int count, int first, int each) {
  return min(max(count - first, 0), each);
}

__device__ __forceinline__ uint4 load_vector(const std::uint8_t* from) {
  return *reinterpret_cast<const uint4*>(from);
}

/// Three vectors of a lane as words: vector k of the chunk lies at first + k step.
__device__ __forceinline__ void load_vectors(const std::uint8_t* first, int step,
                                             std::uint32_t (&words)[12]) {
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const uint4 v = load_vector(first + k * step);
    words[4 * k] = v.x;
    words[4 * k + 1] = v.y;
    words[4 * k + 2] = v.z;
    words[4 * k + 3] = v.w;
  }
}

template <int kWords>
__device__ __forceinline__ void store_words(std::uint8_t* to, const std::uint32_t* words) {
  static_assert(kWords == 2 || kWords == 4);
  if constexpr (kWords == 4) {
    *reinterpret_cast<uint4*>(to) = uint4{words[0], words[1], words[2], words[3]};
  } else {
    *reinterpret_cast<uint2*>(to) = uint2{words[0], words[1]};
  }
}

/// Counts the first `valid` of a pair.
template <typename Counter>
__device__ __forceinline__ void count_some(Counter& counter, std::uint32_t pair, int valid) {
  if (valid >= 1) counter.add(pair & 0xFFFFU);
  if (valid >= 2) counter.add(pair >> 16);
}

/// One packed plane whose lanes take whole pixels: the base of gray8 and the RGB forms.
template <int kBytes>
struct PackedLayout {
  static constexpr bool kChroma = false;
  static constexpr int kPixels = kChunkBytes / kBytes;
  static constexpr int kPixelsPerLane = kPixels / kLanes;
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
                                               int lane, const Chunk& chunk, Counter& counter) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int valid = clamp_count(chunk.pixels, (k * kLanes + lane) * 16, 16);
      if (valid == 16) {
#pragma unroll
        for (int i = 0; i < 16; i += 2) {
          counter.add_pair(__byte_perm(words[4 * k + i / 4], 0, i % 4 == 0 ? 0x4140 : 0x4342));
        }
      } else {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          if (i < valid) counter.add(byte_of(words, 16 * k + i));
        }
      }
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams&, std::uint8_t* slot, int lane,
                                               const Chunk&, const Gains& gains) {
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
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      store_words<4>(slot + (k * kLanes + lane) * kVectorBytes, words + 4 * k);
    }
  }
};

/// Three bytes a pixel; a lane takes 48 neighbouring bytes, 16 pixels. Their order among the three
/// does not matter. Lanes 48 bytes apart meet in no bank.
struct Rgb3Layout : PackedLayout<3> {
  static constexpr int kLaneBytes = 3 * kVectorBytes;

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams&, const std::uint8_t* slot,
                                               int lane, const Chunk& chunk, Counter& counter) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kLaneBytes, kVectorBytes, words);
    const auto values = [&](int pixel) {  // of two pixels
      const int a = 3 * pixel;
      const int b = a + 3;
      return pair_of_upper(__vimax3_u16x2(upper_bytes(words, a, b),
                                          upper_bytes(words, a + 1, b + 1),
                                          upper_bytes(words, a + 2, b + 2)));
    };
    const int valid = clamp_count(chunk.pixels, lane * 16, 16);
    if (valid == 16) {
      std::uint32_t pairs[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) pairs[i] = values(2 * i);
#pragma unroll
      for (int i = 0; i < 8; ++i) counter.add_pair(pairs[i]);
    } else {
#pragma unroll
      for (int i = 0; i < 16; i += 2) count_some(counter, values(i), valid - i);
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams&, std::uint8_t* slot, int lane,
                                               const Chunk&, const Gains& gains) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kLaneBytes, kVectorBytes, words);
    // Four pixels are three words.
#pragma unroll
    for (int four = 0; four < 4; ++four) {
      std::uint32_t scaled[12];
#pragma unroll
      for (int pixel = 0; pixel < 4; ++pixel) {
        std::uint32_t code[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) code[c] = byte_times_256(words + 3 * four, 3 * pixel + c);
        const float gain = gains.gain_at_times_256(max(max(code[0], code[1]), code[2]));
#pragma unroll
        for (int c = 0; c < 3; ++c) scaled[3 * pixel + c] = scale_rounded(code[c], gain);
      }
#pragma unroll
      for (int w = 0; w < 3; ++w) {
        words[3 * four + w] =
            pack(scaled[4 * w], scaled[4 * w + 1], scaled[4 * w + 2], scaled[4 * w + 3]);
      }
    }
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      store_words<4>(slot + lane * kLaneBytes + k * kVectorBytes, words + 4 * k);
    }
  }
};

/// Four bytes a pixel, of which the one at kCopied is copied.
template <int kCopied>
struct Rgb4Layout : PackedLayout<4> {
  static constexpr int kColor = kCopied == 0 ? 1 : 0;  ///< first of the three colour bytes

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams&, const std::uint8_t* slot,
                                               int lane, const Chunk& chunk, Counter& counter) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
    const auto values = [&](int w) {  // of two pixels, a word each
      const int a = 4 * w + kColor;
      const int b = a + 4;
      return pair_of_upper(__vimax3_u16x2(upper_bytes(words, a, b),
                                          upper_bytes(words, a + 1, b + 1),
                                          upper_bytes(words, a + 2, b + 2)));
    };
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int valid = clamp_count(chunk.pixels, (k * kLanes + lane) * 4, 4);
      if (valid == 4) {
        counter.add_pair(values(4 * k));
        counter.add_pair(values(4 * k + 2));
      } else {
        count_some(counter, values(4 * k), valid);
        count_some(counter, values(4 * k + 2), valid - 2);
      }
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams&, std::uint8_t* slot, int lane,
                                               const Chunk&, const Gains& gains) {
    std::uint32_t words[12];
    load_vectors(slot + lane * kVectorBytes, kLanes * kVectorBytes, words);
#pragma unroll
    for (int w = 0; w < 12; ++w) {
      std::uint32_t code[3];
#pragma unroll
      for (int c = 0; c < 3; ++c) code[c] = byte_times_256(words + w, kColor + c);
      const float gain = gains.gain_at_times_256(max(max(code[0], code[1]), code[2]));
      std::uint32_t bytes[4];
      bytes[kCopied] = byte_of(words + w, kCopied);
#pragma unroll
      for (int c = 0; c < 3; ++c) bytes[kColor + c] = scale_rounded(code[c], gain);
      words[w] = pack(bytes[0], bytes[1], bytes[2], bytes[3]);
    }
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      store_words<4>(slot + (k * kLanes + lane) * kVectorBytes, words + 4 * k);
    }
  }
};

}  // namespace equalux::cuda
