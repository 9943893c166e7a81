#pragma once

#include <cstdint>

#include "cuda/device/for_constants.cuh"
#include "cuda/equalize/fused/saturate_cells.cuh"
#include "cuda/equalize/fused/yuv_cells.cuh"
#include "src/format/layout.h"

/// YCbCr layouts of the fused kernel. Beside the members that fused_layouts.cuh lists they have
///   kColumns, kRows                       luma samples of a cell
///   luma_at(row, x), cb_at(x), cr_at(x)   offsets of column x's samples in a slot
///   lane_of(x)                            lane that works on column x
///   column_of_cell(cell)                  column of a lane's cell, from its first one on
///   kKeepsExtraLuma                       true where odd rows have a luma byte too many in memory
/// for partial_cells.cuh, which treats cells that the frame has only in part.
namespace equalux::cuda {

/// Scales a lane's cells, with a change of saturation where the table has it.
template <typename Layout, int kPairs, typename Table>
__device__ __forceinline__ void change_lane(const FusedParams& p, const std::uint8_t* slot,
                                            int first_column, typename Layout::Cells& cells,
                                            const Table& table) {
  if constexpr (Table::kSaturates) {
    saturate_lane<Layout, kPairs>(p, slot, first_column, cells, table);
  } else {
    scale_lane<Layout, kPairs>(p, slot, first_column, cells, table);
  }
}

/// Base of the planar layouts. A slot has pieces: rows of luma of 512 columns, of which a lane has
/// 16 neighbouring ones, and behind them one or two pieces of chroma.
template <typename Derived, int kColumnsOfCell, int kRowsOfCell, bool kInterleaved>
struct CellLayout {
  static constexpr bool kChroma = true;
  static constexpr bool kHasParts = true;
  static constexpr bool kKeepsExtraLuma = false;
  static constexpr int kColumns = kColumnsOfCell;
  static constexpr int kRows = kRowsOfCell;
  static constexpr int kPixels = 16 * kLanes;  ///< columns
  static constexpr int kChromaBegin = 512 * kRows;
  using Cells = LaneCells<kColumns, kRows, 8, kInterleaved>;
  /// Chroma of a lane: number of pieces, and bytes of each.
  static constexpr int kChromaPieces = kInterleaved ? 1 : 2;
  static constexpr int kChromaBytes = 2 * Cells::kCells / kChromaPieces;
  static constexpr int kPieces = kRows + kChromaPieces;

  static constexpr __device__ int column_of_cell(int cell) { return kColumns * cell; }
  static __device__ int luma_at(int row, int x) { return 512 * row + x; }
  static __device__ int lane_of(int x) { return x / 16; }
  /// Bytes of a lane in piece i, and their offset in a slot.
  static constexpr int piece_bytes(int i) { return i < kRows ? 16 : kChromaBytes; }
  static constexpr __device__ int place_in_slot(int i, int lane) {
    return i < kRows ? 512 * i + 16 * lane
                     : kChromaBegin + (i - kRows) * kLanes * kChromaBytes + kChromaBytes * lane;
  }

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams& p, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
    count_cells<Cells, kRows, 8>(p, load(slot, lane), counter);
  }

  /// Returns the lane's cells, scaled. Leaves the slot unchanged.
  template <typename Gains>
  static __device__ __forceinline__ Cells scaled(const FusedParams& p, const std::uint8_t* slot,
                                                 int lane, const Gains& gains) {
    Cells cells = load(slot, lane);
    change_lane<Derived, 8>(p, slot, lane * 16, cells, gains);
    return cells;
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams& p, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
    const Cells cells = scaled(p, slot, lane, gains);
    for_constants<kPieces>([&](auto i) {
      store_words<piece_bytes(i)>(slot + place_in_slot(i, lane), words_of(cells, i));
    });
  }

  /// Words of piece i.
  template <typename AnyCells>
  static __device__ __forceinline__ auto* words_of(AnyCells& cells, int i) {
    return i < kRows ? cells.luma[i] : cells.chroma + (i - kRows) * (kChromaBytes / 4);
  }

 private:
  static __device__ __forceinline__ Cells load(const std::uint8_t* slot, int lane) {
    Cells cells;
    for_constants<kPieces>([&](auto i) {
      load_words<piece_bytes(i)>(slot + place_in_slot(i, lane), words_of(cells, i));
    });
    return cells;
  }
};

/// Row of luma that belongs to a line of 4:2:0 chroma. The second one may be missing.
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
};

/// Chroma of half the luma's width, in two planes.
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
};

/// Packed 4:2:2: four bytes hold two luma samples and their Cb and Cr. kLuma is the place of the
/// first luma byte: 0 in YUY2, 1 in UYVY.
template <int kLuma>
struct Packed422Places {
  static constexpr int kColumns = 2;
  static constexpr int kRows = 1;
  static __device__ int luma_at(int, int x) { return 2 * x + kLuma; }
  static __device__ int cb_at(int x) { return x / 2 * 4 + 1 - kLuma; }
  static __device__ int cr_at(int x) { return cb_at(x) + 2; }
};

/// Vectors of a lane, kVectors of four cells each. They are kLanes vectors apart, so that
/// neighbouring lanes load neighbouring vectors, without bank conflicts.
template <int kLuma, int kVectors>
struct Packed422Vectors : Packed422Places<kLuma> {
  static constexpr int kVectorCells = 4;
  static constexpr int kVectorColumns = 2 * kVectorCells;
  static constexpr int kPairs = kVectors * kVectorCells;
  using Cells = LaneCells<2, 1, kPairs, true>;
  static constexpr __device__ int column_of_cell(int cell) {
    if (kVectors == 1) return 2 * cell;
    return cell / kVectorCells * (kLanes * kVectorColumns) + cell % kVectorCells * 2;
  }

  static __device__ __forceinline__ Cells load(const std::uint8_t* first) {
    constexpr unsigned luma = kLuma == 0 ? kEven : kOdd;
    constexpr unsigned chroma = kLuma == 0 ? kOdd : kEven;
    Cells cells;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const auto v = *reinterpret_cast<const uint4*>(first + k * kLanes * kVectorBytes);
      cells.luma[0][2 * k] = __byte_perm(v.x, v.y, luma);
      cells.luma[0][2 * k + 1] = __byte_perm(v.z, v.w, luma);
      cells.chroma[2 * k] = __byte_perm(v.x, v.y, chroma);
      cells.chroma[2 * k + 1] = __byte_perm(v.z, v.w, chroma);
    }
    return cells;
  }

  static __device__ __forceinline__ void store(std::uint8_t* first, const Cells& cells) {
    // Selectors of bytes 0 and 1, and of bytes 2 and 3, of two words.
    constexpr unsigned kFirst = kLuma == 0 ? 0x5140 : 0x1504;
    constexpr unsigned kSecond = kLuma == 0 ? 0x7362 : 0x3726;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      std::uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int word = 2 * k + i / 2;
        words[i] =
            __byte_perm(cells.luma[0][word], cells.chroma[word], i % 2 == 0 ? kFirst : kSecond);
      }
      store_words<16>(first + k * kLanes * kVectorBytes, words);
    }
  }

 private:
  static constexpr unsigned kEven = 0x6420;
  static constexpr unsigned kOdd = 0x7531;
};

template <int kLuma>
struct Packed422Layout : Packed422Places<kLuma> {
  static constexpr bool kChroma = true;
  static constexpr bool kHasParts = false;
  static constexpr bool kKeepsExtraLuma = true;
  static constexpr int kPixels = kChunkBytes / 2;
  static constexpr int kSpans = 1;
  static constexpr int kVectors = 3;  ///< vectors of a lane
  using Cells = typename Packed422Vectors<kLuma, 1>::Cells;
  static constexpr int capacity(int) { return kChunkBytes; }
  static constexpr int offset(int) { return 0; }
  static __device__ SpanPlace span(const FusedParams&, int, const Chunk& chunk) {
    return {0, chunk.line, chunk.x * 2, (chunk.pixels + 1) / 2 * 4};
  }
  static __device__ int lane_of(int x) { return x / 8 % kLanes; }

  template <typename Counter>
  static __device__ __forceinline__ void count(const FusedParams& p, const std::uint8_t* slot,
                                               int lane, Counter& counter) {
    using Vector = Packed422Vectors<kLuma, 1>;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      count_cells<Cells, 1, Vector::kPairs>(
          p, Vector::load(slot + (k * kLanes + lane) * kVectorBytes), counter);
    }
  }

  template <typename Gains>
  static __device__ __forceinline__ void apply(const FusedParams& p, std::uint8_t* slot, int lane,
                                               const Gains& gains) {
    // With a change of saturation, one test of the channels' range serves all vectors.
    constexpr int kAtOnce = Gains::kSaturates ? kVectors : 1;
    using Vectors = Packed422Vectors<kLuma, kAtOnce>;
#pragma unroll
    for (int k = 0; k < kVectors; k += kAtOnce) {
      const int vector = k * kLanes + lane;
      auto cells = Vectors::load(slot + vector * kVectorBytes);
      change_lane<Vectors, Vectors::kPairs>(p, slot, vector * Vectors::kVectorColumns, cells,
                                            gains);
      Vectors::store(slot + vector * kVectorBytes, cells);
    }
  }
};

}  // namespace equalux::cuda
