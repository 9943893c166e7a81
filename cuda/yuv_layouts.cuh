#pragma once

#include <cstdint>

#include "yuv_cells.cuh"

/// The YCbCr layouts of the fused kernel. Beside what fused_layouts.cuh asks for they have
///   kColumns, kRows                       luma samples of a cell
///   luma_at(row, x), cb_at(x), cr_at(x)   where the samples of column x lie in a slot
///   lane_of(x)                            which lane works on them
///   kKeepsExtraLuma                       whether an odd row has a luma byte too many in memory
/// with which partial_cells.cuh treats cells that the frame has only in part.
namespace equalux::cuda {

__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t* words) {
  const uint4 v = load_vector(from);
  words[0] = v.x;
  words[1] = v.y;
  words[2] = v.z;
  words[3] = v.w;
}

__device__ __forceinline__ void store_words(std::uint8_t* to, const std::uint32_t* words) {
  *reinterpret_cast<uint4*>(to) = uint4{words[0], words[1], words[2], words[3]};
}

/// Low bytes of the halves of four words, and of their high halves: Cb and Cr of four cells.
__device__ __forceinline__ uint2 split_halves(const std::uint32_t* halves) {
  const std::uint32_t low = __byte_perm(halves[0], halves[1], 0x6240);
  const std::uint32_t high = __byte_perm(halves[2], halves[3], 0x6240);
  return {__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632)};
}

/// What the planar layouts share: rows of luma in the first pieces of a slot, 512 columns each, of
/// which a lane takes 16 neighbours. `Derived` loads and stores their chroma.
template <typename Derived, int kColumnsOfCell, int kRowsOfCell, bool kInterleaved>
struct CellLayout {
  static constexpr bool kChroma = true;
  static constexpr bool kKeepsExtraLuma = false;
  static constexpr int kColumns = kColumnsOfCell;
  static constexpr int kRows = kRowsOfCell;
  static constexpr int kPixels = 16 * kLanes;  ///< columns
  static constexpr int kPixelsPerLane = 16 * kRows;
  static constexpr int kChromaBegin = 512 * kRows;
  using Cells = LaneCells<kColumns, kRows, 8, kInterleaved>;

  static __device__ int luma_at(int row, int x) { return 512 * row + x; }
  static __device__ int lane_of(int x) { return x / 16; }

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams& p, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
    count_cells<Cells, kRows, 8>(p, load(slot, lane), counter);
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams& p, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
    Cells cells = load(slot, lane);
    std::uint32_t scaled[Cells::kCells];
    scale_cells<Derived, 8>(p, slot, lane * 16, cells, scaled, gains);
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      store_words(slot + 512 * row + lane * 16, cells.luma[row]);
    Derived::store_chroma(slot + kChromaBegin, lane, scaled);
  }

 private:
  static __device__ __forceinline__ Cells load(const std::uint8_t* slot, int lane) {
    Cells cells;
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      load_words(slot + 512 * row + lane * 16, cells.luma[row]);
    Derived::load_chroma(slot + kChromaBegin, lane, cells.chroma);
    return cells;
  }
};

/// A row of luma of a line of 4:2:0 chroma; the second may be missing.
__device__ __forceinline__ SpanPlace luma_place_420(const FusedParams& p, int which,
                                                    const Chunk& chunk) {
  const LumaRows rows =
      luma_rows_of(static_cast<int>(chunk.line), static_cast<int>(p.height), p.interlaced);
  if (which == 0) return {0, static_cast<std::uint32_t>(rows.first), chunk.x, chunk.pixels};
  return {0, static_cast<std::uint32_t>(rows.second), chunk.x,
          rows.second == rows.first ? 0 : chunk.pixels};
}

struct Nv12Layout : CellLayout<Nv12Layout, 2, 2, true> {
  static constexpr int kSpans = 3;
  static constexpr int capacity(int) { return 512; }
  static constexpr int offset(int s) { return 512 * s; }
  static __device__ SpanPlace span(const FusedParams& p, int s, const Chunk& chunk) {
    if (s < 2) return luma_place_420(p, s, chunk);
    return {1, chunk.line, chunk.x, (chunk.pixels + 1) / 2 * 2};
  }
  static __device__ int cb_at(int x) { return kChromaBegin + x / 2 * 2; }
  static __device__ int cr_at(int x) { return cb_at(x) + 1; }
  static __device__ __forceinline__ void load_chroma(const std::uint8_t* from, int lane,
                                                     std::uint32_t* words) {
    load_words(from + lane * 16, words);
  }
  static __device__ __forceinline__ void store_chroma(std::uint8_t* to, int lane,
                                                      const std::uint32_t (&scaled)[8]) {
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = __byte_perm(scaled[2 * i], scaled[2 * i + 1], 0x6420);
    store_words(to + lane * 16, words);
  }
};

/// Chroma of half the luma's width in planes of its own.
template <typename Derived, int kRowsOfCell>
struct HalfChromaLayout : CellLayout<Derived, 2, kRowsOfCell, false> {
  using Base = CellLayout<Derived, 2, kRowsOfCell, false>;
  static constexpr int kSpans = kRowsOfCell + 2;
  static constexpr int capacity(int s) { return s < kRowsOfCell ? 512 : 256; }
  static constexpr int offset(int s) {
    return s < kRowsOfCell ? 512 * s : Base::kChromaBegin + 256 * (s - kRowsOfCell);
  }
  static __device__ SpanPlace chroma_place(int s, const Chunk& chunk) {
    return {s - kRowsOfCell + 1, chunk.line, chunk.x / 2, (chunk.pixels + 1) / 2};
  }
  static __device__ int cb_at(int x) { return Base::kChromaBegin + x / 2; }
  static __device__ int cr_at(int x) { return cb_at(x) + 256; }
  static __device__ __forceinline__ void load_chroma(const std::uint8_t* from, int lane,
                                                     std::uint32_t* words) {
    const uint2 cb = *reinterpret_cast<const uint2*>(from + lane * 8);
    const uint2 cr = *reinterpret_cast<const uint2*>(from + 256 + lane * 8);
    words[0] = cb.x;
    words[1] = cb.y;
    words[2] = cr.x;
    words[3] = cr.y;
  }
  static __device__ __forceinline__ void store_chroma(std::uint8_t* to, int lane,
                                                      const std::uint32_t (&scaled)[8]) {
    const uint2 first = split_halves(scaled);
    const uint2 second = split_halves(scaled + 4);
    *reinterpret_cast<uint2*>(to + lane * 8) = uint2{first.x, second.x};
    *reinterpret_cast<uint2*>(to + 256 + lane * 8) = uint2{first.y, second.y};
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

struct Y444Layout : CellLayout<Y444Layout, 1, 1, false> {
  static constexpr int kSpans = 3;
  static constexpr int capacity(int) { return 512; }
  static constexpr int offset(int s) { return 512 * s; }
  static __device__ SpanPlace span(const FusedParams&, int s, const Chunk& chunk) {
    return {s, chunk.line, chunk.x, chunk.pixels};
  }
  static __device__ int cb_at(int x) { return kChromaBegin + x; }
  static __device__ int cr_at(int x) { return kChromaBegin + 512 + x; }
  static __device__ __forceinline__ void load_chroma(const std::uint8_t* from, int lane,
                                                     std::uint32_t* words) {
    load_words(from + lane * 16, words);
    load_words(from + 512 + lane * 16, words + 4);
  }
  static __device__ __forceinline__ void store_chroma(std::uint8_t* to, int lane,
                                                      const std::uint32_t (&scaled)[16]) {
    std::uint32_t cb[4];
    std::uint32_t cr[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint2 four = split_halves(scaled + 4 * i);
      cb[i] = four.x;
      cr[i] = four.y;
    }
    store_words(to + lane * 16, cb);
    store_words(to + 512 + lane * 16, cr);
  }
};

/// Packed 4:2:2: four bytes hold two luma samples and their Cb and Cr; kLuma is the first luma
/// byte's place, 0 in YUY2 and 1 in UYVY. A lane's vector is four such cells.
template <int kLuma>
struct Packed422Layout {
  static constexpr bool kChroma = true;
  static constexpr bool kKeepsExtraLuma = true;
  static constexpr int kColumns = 2;
  static constexpr int kRows = 1;
  static constexpr int kPixels = kChunkBytes / 2;
  static constexpr int kPixelsPerLane = kPixels / kLanes;
  static constexpr int kSpans = 1;
  using Cells = LaneCells<2, 1, 4, true>;
  static constexpr int capacity(int) { return kChunkBytes; }
  static constexpr int offset(int) { return 0; }
  static __device__ SpanPlace span(const FusedParams&, int, const Chunk& chunk) {
    return {0, chunk.line, chunk.x * 2, (chunk.pixels + 1) / 2 * 4};
  }
  static __device__ int luma_at(int, int x) { return 2 * x + kLuma; }
  static __device__ int cb_at(int x) { return x / 2 * 4 + 1 - kLuma; }
  static __device__ int cr_at(int x) { return cb_at(x) + 2; }
  static __device__ int lane_of(int x) { return x / 8 % kLanes; }

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams& p, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      count_cells<Cells, 1, 4>(p, load(slot + (k * kLanes + lane) * kVectorBytes), counter);
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams& p, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int vector = k * kLanes + lane;
      Cells cells = load(slot + vector * kVectorBytes);
      std::uint32_t scaled[4];
      scale_cells<Packed422Layout, 4>(p, slot, vector * 8, cells, scaled, gains);
      store(slot + vector * kVectorBytes, cells, scaled);
    }
  }

 private:
  static constexpr unsigned kEven = 0x6420;
  static constexpr unsigned kOdd = 0x7531;

  static __device__ __forceinline__ Cells load(const std::uint8_t* from) {
    constexpr unsigned luma = kLuma == 0 ? kEven : kOdd;
    constexpr unsigned chroma = kLuma == 0 ? kOdd : kEven;
    const uint4 v = load_vector(from);
    Cells cells;
    cells.luma[0][0] = __byte_perm(v.x, v.y, luma);
    cells.luma[0][1] = __byte_perm(v.z, v.w, luma);
    cells.chroma[0] = __byte_perm(v.x, v.y, chroma);
    cells.chroma[1] = __byte_perm(v.z, v.w, chroma);
    return cells;
  }

  static __device__ __forceinline__ void store(std::uint8_t* to, const Cells& cells,
                                               const std::uint32_t (&scaled)[4]) {
    // Bytes 0 and 2 of a cell's word are its Cb and Cr.
    constexpr unsigned kFirst = kLuma == 0 ? 0x6140 : 0x1604;
    constexpr unsigned kSecond = kLuma == 0 ? 0x6342 : 0x3624;
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = __byte_perm(cells.luma[0][i / 2], scaled[i], i % 2 == 0 ? kFirst : kSecond);
    }
    store_words(to, words);
  }
};

}  // namespace equalux::cuda
