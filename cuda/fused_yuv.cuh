#pragma once

#include <cstdint>

#include "fused_layouts.cuh"

/// The YCbCr layouts of the fused kernel. A cell is a chroma sample with the luma samples it covers;
/// a pair is two neighbouring luma samples of a row as two 16-bit halves of a word.
///
/// The arithmetic is that of pixel_math.h and tone_curve.h in other clothes: two samples an
/// instruction where 16 bits hold them, and single precision where it is exact, since that unit
/// would be idle otherwise.
namespace equalux::cuda {

/// Which luma samples of a pair of columns exist: 2 columns but at an odd right edge, 2 rows but
/// at an odd lower edge. Constant, and so without cost, for whole chunks.
struct CellShape {
  int columns;
  int rows;
};

/// 1.5 2^23: a float in [2^23, 2^24) has the integer part in its lowest bits.
inline constexpr float kWhole = 12582912.0f;

/// Byte `i` of words as a float, less `zero`; exact.
__device__ __forceinline__ float float_of_byte(const std::uint32_t* words, int i, float zero) {
  constexpr std::uint32_t kTwoTo23 = 0x4B000000U;
  const std::uint32_t bits = __byte_perm(words[i / 4], kTwoTo23, 0x7440 | (i % 4));
  return __fadd_rn(__uint_as_float(bits), -8388608.0f - zero);
}

/// Both halves of a word the same.
__device__ __forceinline__ std::uint32_t both(std::int32_t value) {
  const auto half = static_cast<std::uint32_t>(value) & 0xFFFFU;
  return half << 16 | half;
}

/// Samples 2j and 2j + 1 of a row.
__device__ __forceinline__ std::uint32_t pair_of(const std::uint32_t* words, int j) {
  return __byte_perm(words[j / 2], 0, j % 2 == 0 ? 0x4140 : 0x4342);
}

/// What every sample of a frame shares, in registers.
struct YuvConstants {
  std::uint32_t luma_offset;      ///< both halves
  std::uint32_t minus_offset;     ///< both halves
  std::uint32_t luma_max;         ///< both halves
  float offset;                   ///< of luma
  float above_base;               ///< kWhole less the offset
  float luma_base;                ///< 1 + offset 2^-23

  __device__ explicit YuvConstants(const YuvWeights& w)
      : luma_offset(both(w.luma_offset)),
        minus_offset(both(-w.luma_offset)),
        luma_max(both(w.luma_max)),
        offset(static_cast<float>(w.luma_offset)),
        above_base(kWhole - static_cast<float>(w.luma_offset)),
        luma_base(1.0f + static_cast<float>(w.luma_offset) * 0x1p-23f) {}
};

/// value_above_luma() less the luma offset, in the low 16 bits. All products and sums are integers
/// below 2^24, so single precision holds them exactly.
__device__ __forceinline__ std::uint32_t above_luma(const YuvFloats& k, const YuvConstants& c,
                                                    float u, float w) {
  const float red = __fmaf_rn(w, k.red_w, 32768.0f);
  const float green = __fmaf_rn(u, k.minus_green_u, __fmaf_rn(w, k.minus_green_w, 32768.0f));
  const float blue = __fmaf_rn(u, k.blue_u, 32768.0f);
  return __float_as_uint(
      __fmaf_rd(fmaxf(fmaxf(red, green), blue), 0x1p-16f, c.above_base));
}

/// The values of a pair; yuv_value().
__device__ __forceinline__ std::uint32_t pair_values(const YuvConstants& c, std::uint32_t luma,
                                                     std::uint32_t above) {
  return __viaddmin_s16x2_relu(luma, above, c.luma_max);
}

/// Where a pair's gains stand: its values, but 0, whose gain is 1, for samples below black.
__device__ __forceinline__ std::uint32_t pair_rows(const YuvConstants& c, std::uint32_t luma,
                                                   std::uint32_t values) {
  constexpr std::uint32_t kLeast = 0x80008000U;
  const std::uint32_t above_black = __viaddmax_s16x2(luma, c.minus_offset, kLeast);
  const std::uint32_t below = __byte_perm(above_black, 0, 0xBB99);  // each half's sign
  return values & ~below;
}

/// Chroma scaled in single precision, and how sure that is.
struct ScaledChroma {
  std::uint32_t code;  ///< in the lowest byte
  float distance;      ///< from the code's middle, in 2^-8
};

/// u times the mean gain, plus 128, in units of 2^-8, which saturation keeps in [0, 1].
__device__ __forceinline__ ScaledChroma scale_chroma_fast(float u, float mean_gain) {
  constexpr float kBase = 49152.0f;  // 1.5 2^15: the last place is 2^-8
  const float scaled = fminf(__saturatef(__fmaf_rn(u, mean_gain, 0.5f)), 255.0f / 256.0f);
  const float base = __fadd_rn(scaled, kBase);
  const float distance = __fadd_rn(scaled, -__fadd_rn(base, -kBase));
  return {__float_as_uint(base), fabsf(distance)};
}

/// Single precision and the nudged gains are off by less than 2^-13 of a code: u times the gain is
/// below 129, or the result is clamped. Nearer to a half than this, integers decide.
inline constexpr float kSureDistance = (0.5f - 0x1p-12f) * 0x1p-8f;

/// round-half-up of u G / (k 2^40), as a code; see scale_chroma_exact(). k = 2^log2_k.
__device__ __forceinline__ std::uint32_t scale_chroma(std::uint32_t code, std::uint64_t gain_sum,
                                                      int log2_k) {
  const std::int64_t product = static_cast<std::int64_t>(static_cast<std::int32_t>(code) - 128) *
                               static_cast<std::int64_t>(gain_sum);
  const std::int64_t half = std::int64_t{1} << (39 + log2_k);
  const auto scaled = static_cast<std::int32_t>((product + half) >> (40 + log2_k)) + 128;
  return static_cast<std::uint32_t>(min(max(scaled, 0), 255));
}

/// Sixteen columns of a lane in registers: cells of kColumns x kRows luma samples.
template <int kColumns, int kRows>
struct LaneCells {
  static constexpr int kCells = 16 / kColumns;
  static constexpr int kCellsAPair = 2 / kColumns;
  std::uint32_t luma[kRows][4];
  std::uint32_t cb[kCells / 4];
  std::uint32_t cr[kCells / 4];

  /// above_luma() for the two columns of pair j; u and w of its cells come along.
  __device__ __forceinline__ std::uint32_t above(const YuvFloats& k, const YuvConstants& c, int j,
                                                 float (&u)[kCellsAPair],
                                                 float (&w)[kCellsAPair]) const {
    std::uint32_t halves[kCellsAPair];
#pragma unroll
    for (int i = 0; i < kCellsAPair; ++i) {
      u[i] = float_of_byte(cb, j * kCellsAPair + i, 128.0f);
      w[i] = float_of_byte(cr, j * kCellsAPair + i, 128.0f);
      halves[i] = above_luma(k, c, u[i], w[i]);
    }
    return __byte_perm(halves[0], halves[kCellsAPair - 1], kCellsAPair == 2 ? 0x5410 : 0x1010);
  }
};

template <int kColumns, int kRows, typename Shape, typename Counter>
__device__ __forceinline__ void count_cells(const FusedParams& p,
                                            const LaneCells<kColumns, kRows>& cells, int pairs,
                                            Shape shape, Counter& counter) {
  using Cells = LaneCells<kColumns, kRows>;
  const YuvConstants c(p.weights);
  std::uint32_t values[8][kRows];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (j >= pairs) break;
    float u[Cells::kCellsAPair];
    float w[Cells::kCellsAPair];
    const std::uint32_t above = cells.above(p.yuv, c, j, u, w);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      values[j][row] = pair_values(c, pair_of(cells.luma[row], j), above);
    }
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (j >= pairs) break;
    const CellShape exists = shape(j);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (row >= exists.rows) continue;
      if (exists.columns == 2) {
        counter.add_pair(values[j][row]);
      } else if (exists.columns == 1) {
        counter.add(values[j][row] & 0xFFFFU);
      }
    }
  }
}

/// Scales in place; samples that do not exist keep what is there or are not stored.
template <int kColumns, int kRows, typename Shape, typename Gains>
__device__ __forceinline__ void scale_cells(const FusedParams& p,
                                            LaneCells<kColumns, kRows>& cells, int pairs,
                                            Shape shape, const Gains& gains) {
  using Cells = LaneCells<kColumns, kRows>;
  constexpr int kEach = Cells::kCellsAPair;
  const YuvConstants c(p.weights);
  std::uint32_t cb[Cells::kCells];
  std::uint32_t cr[Cells::kCells];
  std::uint32_t luma[kRows][16];
  std::uint32_t unsure = 0;  // cells whose chroma integers must decide
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (j >= pairs) break;
    float u[kEach];
    float w[kEach];
    const std::uint32_t above = cells.above(p.yuv, c, j, u, w);
    const CellShape exists = shape(j);
    std::uint32_t rows[kRows];
    float sum[2] = {0.0f, 0.0f};  // by column
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const std::uint32_t samples = pair_of(cells.luma[row], j);
      rows[row] = pair_rows(c, samples, pair_values(c, samples, above));
      const float gain[2] = {gains.gain(rows[row] & 0xFFFFU), gains.gain_of_high(rows[row])};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool there = row < exists.rows && i < exists.columns;
        const float code = float_of_byte(cells.luma[row], 2 * j + i, c.offset);
        const float scaled = __fmaf_rn(code, gain[i], c.luma_base);
        luma[row][2 * j + i] =
            there ? __float_as_uint(scaled) : byte_of(cells.luma[row], 2 * j + i);
        sum[i] = __fadd_rn(sum[i], there ? gain[i] : 0.0f);
      }
    }
    const bool two_rows = kRows == 2 && exists.rows == 2;
    const bool two_columns = kColumns == 2 && exists.columns == 2;
    // Gains are times 2^-23; chroma is scaled in units of 2^-8.
    const float unit = (two_rows ? 0.5f : 1.0f) * (two_columns ? 0.5f : 1.0f) * 0x1p15f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int cell = j * kEach + i;
      const float mean = __fmul_rn(kEach == 2 ? sum[i] : __fadd_rn(sum[0], sum[1]), unit);
      const ScaledChroma blue = scale_chroma_fast(u[i], mean);
      const ScaledChroma red = scale_chroma_fast(w[i], mean);
      cb[cell] = blue.code;
      cr[cell] = red.code;
      if (fmaxf(blue.distance, red.distance) > kSureDistance) unsure |= 1U << cell;
    }
  }
  if (unsure != 0) {
#pragma unroll
    for (int cell = 0; cell < Cells::kCells; ++cell) {
      if (cell >= pairs * kEach || (unsure >> cell & 1) == 0) continue;
      const int j = cell / kEach;
      float u[kEach];
      float w[kEach];
      const std::uint32_t above = cells.above(p.yuv, c, j, u, w);
      const CellShape exists = shape(j);
      const bool two_columns = kColumns == 2 && exists.columns == 2;
      std::uint64_t exact = 0;
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        if (row >= exists.rows) continue;
        const std::uint32_t samples = pair_of(cells.luma[row], j);
        const std::uint32_t own = pair_rows(c, samples, pair_values(c, samples, above));
        exact += gains.chroma_gain(cell % kEach == 1 ? own >> 16 : own & 0xFFFFU);
        if (two_columns) exact += gains.chroma_gain(own >> 16);
      }
      const int log2_k = (kRows == 2 && exists.rows == 2 ? 1 : 0) + (two_columns ? 1 : 0);
      cb[cell] = scale_chroma(byte_of(cells.cb, cell), exact, log2_k);
      cr[cell] = scale_chroma(byte_of(cells.cr, cell), exact, log2_k);
    }
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      cells.luma[row][i] = pack(luma[row][4 * i], luma[row][4 * i + 1], luma[row][4 * i + 2],
                                luma[row][4 * i + 3]);
    }
  }
#pragma unroll
  for (int i = 0; i < Cells::kCells / 4; ++i) {
    cells.cb[i] = pack(cb[4 * i], cb[4 * i + 1], cb[4 * i + 2], cb[4 * i + 3]);
    cells.cr[i] = pack(cr[4 * i], cr[4 * i + 1], cr[4 * i + 2], cr[4 * i + 3]);
  }
}

/// What the planar layouts share: `Derived` loads and stores LaneCells.
template <typename Derived, int kColumns, int kRows>
struct CellLayout {
  using Cells = LaneCells<kColumns, kRows>;
  static constexpr bool kChroma = true;
  static constexpr int kPixels = 16 * kLanes;  ///< columns
  static constexpr int kPixelsPerLane = 16 * kRows;

  static __device__ __forceinline__ bool has_second_row(const FusedParams& p, const Chunk& chunk) {
    if constexpr (kRows == 1) return true;
    const LumaRows rows = luma_rows_of(static_cast<int>(chunk.line), static_cast<int>(p.height),
                                       p.interlaced);
    return rows.second != rows.first;
  }

  /// Calls `work` with a function from a pair's number to its shape.
  template <typename Work>
  static __device__ __forceinline__ void with_shape(const FusedParams& p, int lane,
                                                    const Chunk& chunk, Work work) {
    const bool second = has_second_row(p, chunk);
    const int columns = chunk.pixels - lane * 16;
    if (columns >= 16 && second) {
      work([](int) { return CellShape{2, kRows}; });
    } else if (columns > 0) {
      work([=](int j) {
        return CellShape{min(max(columns - 2 * j, 0), 2), kRows == 2 && second ? 2 : 1};
      });
    }
  }

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams& p, const std::uint8_t* slot,
                                               int lane, const Chunk& chunk, Counter& counter) {
    const Cells cells = Derived::load(slot, lane);
    with_shape(p, lane, chunk, [&](auto shape) { count_cells(p, cells, 8, shape, counter); });
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams& p, std::uint8_t* slot, int lane,
                                               const Chunk& chunk, const Gains& gains) {
    Cells cells = Derived::load(slot, lane);
    with_shape(p, lane, chunk, [&](auto shape) { scale_cells(p, cells, 8, shape, gains); });
    Derived::store(slot, lane, cells);
  }
};

__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t (&words)[4]) {
  const uint4 v = load_vector(from);
  words[0] = v.x;
  words[1] = v.y;
  words[2] = v.z;
  words[3] = v.w;
}
__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t (&words)[2]) {
  const uint2 v = *reinterpret_cast<const uint2*>(from);
  words[0] = v.x;
  words[1] = v.y;
}

/// The luma rows of a line of 4:2:0 chroma.
__device__ __forceinline__ SpanPlace luma_place_420(const FusedParams& p, int which,
                                                    const Chunk& chunk) {
  const LumaRows rows =
      luma_rows_of(static_cast<int>(chunk.line), static_cast<int>(p.height), p.interlaced);
  if (which == 0) return {0, static_cast<std::uint32_t>(rows.first), chunk.x, chunk.pixels};
  return {0, static_cast<std::uint32_t>(rows.second), chunk.x,
          rows.second == rows.first ? 0 : chunk.pixels};
}

struct Nv12Layout : CellLayout<Nv12Layout, 2, 2> {
  static constexpr int kSpans = 3;
  static constexpr int capacity(int) { return 512; }
  static constexpr int offset(int s) { return 512 * s; }
  static __device__ SpanPlace span(const FusedParams& p, int s, const Chunk& chunk) {
    if (s < 2) return luma_place_420(p, s, chunk);
    return {1, chunk.line, chunk.x, (chunk.pixels + 1) / 2 * 2};
  }
  static __device__ __forceinline__ Cells load(const std::uint8_t* slot, int lane) {
    Cells cells;
    std::uint32_t pairs[4];
    load_words(slot + lane * 16, cells.luma[0]);
    load_words(slot + 512 + lane * 16, cells.luma[1]);
    load_words(slot + 1024 + lane * 16, pairs);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      cells.cb[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x6420);
      cells.cr[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x7531);
    }
    return cells;
  }
  static __device__ __forceinline__ void store(std::uint8_t* slot, int lane, const Cells& cells) {
    std::uint32_t pairs[4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      pairs[2 * i] = __byte_perm(cells.cb[i], cells.cr[i], 0x5140);
      pairs[2 * i + 1] = __byte_perm(cells.cb[i], cells.cr[i], 0x7362);
    }
    store_words<4>(slot + lane * 16, cells.luma[0]);
    store_words<4>(slot + 512 + lane * 16, cells.luma[1]);
    store_words<4>(slot + 1024 + lane * 16, pairs);
  }
};

/// Chroma of half the luma's width in planes of its own.
template <typename Derived, int kRows>
struct HalfChromaLayout : CellLayout<Derived, 2, kRows> {
  using Cells = LaneCells<2, kRows>;
  static constexpr int kSpans = kRows + 2;
  static constexpr int kChromaBegin = 512 * kRows;
  static constexpr int capacity(int s) { return s < kRows ? 512 : 256; }
  static constexpr int offset(int s) {
    return s < kRows ? 512 * s : kChromaBegin + 256 * (s - kRows);
  }
  static __device__ SpanPlace chroma_place(int s, const Chunk& chunk) {
    return {s - kRows + 1, chunk.line, chunk.x / 2, (chunk.pixels + 1) / 2};
  }
  static __device__ __forceinline__ Cells load(const std::uint8_t* slot, int lane) {
    Cells cells;
#pragma unroll
    for (int row = 0; row < kRows; ++row) load_words(slot + 512 * row + lane * 16, cells.luma[row]);
    load_words(slot + kChromaBegin + lane * 8, cells.cb);
    load_words(slot + kChromaBegin + 256 + lane * 8, cells.cr);
    return cells;
  }
  static __device__ __forceinline__ void store(std::uint8_t* slot, int lane, const Cells& cells) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      store_words<4>(slot + 512 * row + lane * 16, cells.luma[row]);
    }
    store_words<2>(slot + kChromaBegin + lane * 8, cells.cb);
    store_words<2>(slot + kChromaBegin + 256 + lane * 8, cells.cr);
  }
};

struct I420Layout : HalfChromaLayout<I420Layout, 2> {
  static __device__ SpanPlace span(const FusedParams& p, int s, const Chunk& chunk) {
    return s < 2 ? luma_place_420(p, s, chunk) : chroma_place(s, chunk);
  }
};

struct Y42bLayout : HalfChromaLayout<Y42bLayout, 1> {
  static __device__ SpanPlace span(const FusedParams&, int s, const Chunk& chunk) {
    if (s == 0) return {0, chunk.line, chunk.x, chunk.pixels};
    return chroma_place(s, chunk);
  }
};

struct Y444Layout : CellLayout<Y444Layout, 1, 1> {
  static constexpr int kSpans = 3;
  static constexpr int capacity(int) { return 512; }
  static constexpr int offset(int s) { return 512 * s; }
  static __device__ SpanPlace span(const FusedParams&, int s, const Chunk& chunk) {
    return {s, chunk.line, chunk.x, chunk.pixels};
  }
  static __device__ __forceinline__ Cells load(const std::uint8_t* slot, int lane) {
    Cells cells;
    load_words(slot + lane * 16, cells.luma[0]);
    load_words(slot + 512 + lane * 16, cells.cb);
    load_words(slot + 1024 + lane * 16, cells.cr);
    return cells;
  }
  static __device__ __forceinline__ void store(std::uint8_t* slot, int lane, const Cells& cells) {
    store_words<4>(slot + lane * 16, cells.luma[0]);
    store_words<4>(slot + 512 + lane * 16, cells.cb);
    store_words<4>(slot + 1024 + lane * 16, cells.cr);
  }
};

/// Packed 4:2:2: four bytes hold two luma samples and their Cb and Cr; kLuma is the first luma
/// byte's place, 0 in YUY2 and 1 in UYVY. A lane's vector is four such cells.
template <int kLuma>
struct Packed422Layout {
  static constexpr bool kChroma = true;
  static constexpr int kPixels = kChunkBytes / 2;
  static constexpr int kPixelsPerLane = kPixels / kLanes;
  static constexpr int kSpans = 1;
  static constexpr int kCells = 4;  ///< of a vector
  static constexpr int capacity(int) { return kChunkBytes; }
  static constexpr int offset(int) { return 0; }
  static __device__ SpanPlace span(const FusedParams&, int, const Chunk& chunk) {
    return {0, chunk.line, chunk.x * 2, (chunk.pixels + 1) / 2 * 4};
  }

  using Cells = LaneCells<2, 1>;

  /// The first four cells are a vector's; the rest is not used.
  static __device__ __forceinline__ Cells load(const std::uint8_t* from) {
    constexpr unsigned kEven = 0x6420;
    constexpr unsigned kOdd = 0x7531;
    const uint4 v = load_vector(from);
    constexpr unsigned luma = kLuma == 0 ? kEven : kOdd;
    constexpr unsigned chroma = kLuma == 0 ? kOdd : kEven;
    const std::uint32_t low = __byte_perm(v.x, v.y, chroma);
    const std::uint32_t high = __byte_perm(v.z, v.w, chroma);
    Cells cells{};
    cells.luma[0][0] = __byte_perm(v.x, v.y, luma);
    cells.luma[0][1] = __byte_perm(v.z, v.w, luma);
    cells.cb[0] = __byte_perm(low, high, kEven);
    cells.cr[0] = __byte_perm(low, high, kOdd);
    return cells;
  }

  static __device__ __forceinline__ void store(std::uint8_t* to, const Cells& cells) {
    const std::uint32_t low = __byte_perm(cells.cb[0], cells.cr[0], 0x5140);
    const std::uint32_t high = __byte_perm(cells.cb[0], cells.cr[0], 0x7362);
    constexpr unsigned first = kLuma == 0 ? 0x5140 : 0x1504;
    constexpr unsigned second = kLuma == 0 ? 0x7362 : 0x3726;
    const std::uint32_t words[4] = {__byte_perm(cells.luma[0][0], low, first),
                                    __byte_perm(cells.luma[0][0], low, second),
                                    __byte_perm(cells.luma[0][1], high, first),
                                    __byte_perm(cells.luma[0][1], high, second)};
    store_words<4>(to, words);
  }

  /// Calls `work` with the place of each vector and a function from a cell to its shape.
  template <typename Work>
  static __device__ __forceinline__ void with_vectors(int lane, const Chunk& chunk, Work work) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int at = (k * kLanes + lane) * kVectorBytes;
      const int columns = chunk.pixels - at / 2;
      if (columns >= 2 * kCells) {
        work(at, [](int) { return CellShape{2, 1}; });
      } else if (columns > 0) {
        work(at, [=](int j) { return CellShape{min(max(columns - 2 * j, 0), 2), 1}; });
      }
    }
  }

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams& p, const std::uint8_t* slot,
                                               int lane, const Chunk& chunk, Counter& counter) {
    with_vectors(lane, chunk, [&](int at, auto shape) {
      count_cells(p, load(slot + at), kCells, shape, counter);
    });
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams& p, std::uint8_t* slot, int lane,
                                               const Chunk& chunk, const Gains& gains) {
    with_vectors(lane, chunk, [&](int at, auto shape) {
      Cells cells = load(slot + at);
      scale_cells(p, cells, kCells, shape, gains);
      store(slot + at, cells);
    });
  }
};

}  // namespace equalux::cuda
