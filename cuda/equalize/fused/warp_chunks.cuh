#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/chunk_copy.cuh"
#include "cuda/device/for_constants.cuh"
#include "cuda/equalize/fused/fused_config.h"
#include "cuda/equalize/fused/fused_layouts.cuh"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/partial_cells.cuh"

/// Chunks of a warp, and their way between device memory, slots and the layout's arithmetic.
///
/// SpanChunks takes frames of any size and, byte by byte, of any alignment: a chunk is a part of
/// one line. FlatChunks takes frames in which no lane's part is ever cut: a lane has the same part
/// of each chunk from its copy to its store, so that warps need no barrier, and a chunk goes on in
/// the next line, so that lanes are idle in the last chunk only.
namespace equalux::cuda {

#if defined(__CUDA_ARCH__)
inline constexpr int kArch = __CUDA_ARCH__;
#else
inline constexpr int kArch = 900;
#endif
inline constexpr FusedConfig kConfig = fused_config(kArch);

/// Slots of one warp, and its number of chunks. Consecutive chunks belong to consecutive blocks:
/// all blocks walk through the frame together, which suits DRAM, and their numbers of chunks differ
/// by one at most.
class WarpSlots {
 public:
  __device__ WarpSlots(const FusedParams& p, std::uint8_t* ring)
      : p_(p),
        slots_(ring + threadIdx.x / kLanes * (kConfig.slots * kChunkBytes)),
        lane_(static_cast<int>(threadIdx.x) % kLanes),
        first_(threadIdx.x / kLanes * p.workers + blockIdx.x) {
    const auto most = static_cast<int>(p.chunks_of_warp + (first_ < p.longer_warps ? 1 : 0));
    count_ = blockIdx.x < p.workers ? most : 0;
  }

  [[nodiscard]] __device__ int count() const { return count_; }
  [[nodiscard]] __device__ std::uint8_t* slot(int i) const {
    return slots_ + i % kConfig.slots * kChunkBytes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint8_t* slot_after(std::uint8_t* slot) const {
    return slot == slots_ + (kConfig.slots - 1) * kChunkBytes ? slots_ : slot + kChunkBytes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint8_t* slot_before(std::uint8_t* slot) const {
    return slot == slots_ ? slots_ + (kConfig.slots - 1) * kChunkBytes : slot - kChunkBytes;
  }

 protected:
  /// Number in the frame of the warp's chunk i.
  [[nodiscard]] __device__ std::uint32_t number(int i) const {
    return first_ + static_cast<std::uint32_t>(i) * (p_.workers * kConfig.warps);
  }

  const FusedParams& p_;
  std::uint8_t* slots_;
  int lane_;

 private:
  std::uint32_t first_;
  int count_;
};

/// Chunks that are parts of a line, as the layout's spans; without kAligned byte by byte.
template <typename Layout, bool kAligned>
class SpanChunks : public WarpSlots {
 public:
  /// Position of a chunk, counted in chunks. A step forward or back takes a few additions.
  struct Place {
    std::uint32_t line;
    std::uint32_t column;
  };

  using WarpSlots::WarpSlots;

  /// Position of the warp's chunk i in the input, and in the output.
  [[nodiscard]] __device__ Place input(int i) const {
    return {number(i) / p_.columns, number(i) % p_.columns};
  }
  [[nodiscard]] __device__ Place output(int i) const { return input(i); }

  __device__ __forceinline__ void forward(Place& at) const {
    at.line += p_.step.line;
    at.column += p_.step.column;
    if (at.column >= p_.columns) {
      at.column -= p_.columns;
      ++at.line;
    }
  }
  __device__ __forceinline__ void input_back(Place& at) const {
    at.line -= p_.step.line;
    if (at.column < p_.step.column) {
      at.column += p_.columns;
      --at.line;
    }
    at.column -= p_.step.column;
  }
  __device__ __forceinline__ void output_back(Place& at) const { input_back(at); }

  /// Starts the copy of a chunk into a slot.
  __device__ __forceinline__ void load(const Place& at, std::uint8_t* slot) const {
    const Chunk chunk = this->chunk(at);
    const bool whole = is_whole(chunk);
    for_constants<Layout::kSpans>([&](auto s) {
      const SpanPlace place = Layout::span(p_, s, chunk);
      const std::uint8_t* from = p_.in[place.plane] + offset(place, p_.in_stride[place.plane]);
      if (whole) {
        load_whole<Layout::capacity(s)>(slot + Layout::offset(s), from, lane_);
      } else {
        load_some<kAligned, Layout::capacity(s)>(slot + Layout::offset(s), from, place.bytes,
                                                 lane_);
      }
    });
  }

  /// Counts the values of a chunk in its slot. Moves `at` forward only for frames with partial
  /// cells, which need it.
  template <typename Counter>
  __device__ __forceinline__ void count_values(Place& at, const std::uint8_t* slot,
                                               Counter& counter) const {
    __syncwarp();
    Layout::count(p_, slot, lane_, counter);
    if constexpr (Layout::kChroma) {
      if (p_.has_partial_cells) {
        uncount_missing<Layout>(p_, slot, lane_, chunk(at), counter);
        forward(at);
      }
    }
    __syncwarp();
  }

  /// Position of the cell at a column of the chunk with that number.
  [[nodiscard]] __device__ Chunk cell_at(std::uint32_t number, std::uint32_t column) const {
    const std::uint32_t line = p_.by_columns.quotient(number);
    const std::uint32_t x = (number - line * p_.columns) * Layout::kPixels + column;
    const auto left = static_cast<int>(p_.width) - static_cast<int>(x);
    return {line, x, min(max(left, 0), Layout::kColumns)};
  }

  /// Scales a chunk in its slot and writes it.
  template <typename Gains>
  __device__ __forceinline__ void scale(const Place& at, std::uint8_t* slot,
                                        const Gains& gains) const {
    __syncwarp();
    const Chunk chunk = this->chunk(at);
    std::uint8_t extra = 0;
    if constexpr (Layout::kChroma) {
      if (p_.has_partial_cells) extra = mend_missing<Layout>(p_, slot, lane_, chunk);
    }
    Layout::apply(p_, slot, lane_, gains.in_chunk(at.line * p_.columns + at.column));
    if constexpr (Layout::kChroma) {
      if (Layout::kKeepsExtraLuma && p_.has_partial_cells) {
        keep_extra_luma<Layout>(slot, lane_, chunk, extra);
      }
    }
    __syncwarp();
    store(chunk, slot);
    __syncwarp();
  }

 private:
  [[nodiscard]] __device__ __forceinline__ Chunk chunk(const Place& at) const {
    const std::uint32_t x = at.column * Layout::kPixels;
    const std::uint32_t left = p_.width - x;
    return {at.line, x, left < Layout::kPixels ? static_cast<int>(left) : Layout::kPixels};
  }

  /// Writes the bytes that the frame has of a chunk, from its slot.
  __device__ __forceinline__ void store(const Chunk& chunk, const std::uint8_t* slot) const {
    const bool whole = is_whole(chunk);
    for_constants<Layout::kSpans>([&](auto s) {
      const SpanPlace place = Layout::span(p_, s, chunk);
      std::uint8_t* to = p_.out[place.plane] + offset(place, p_.out_stride[place.plane]);
      if (whole) {
        store_whole<Layout::capacity(s)>(to, slot + Layout::offset(s), lane_);
      } else {
        store_some<kAligned>(to, slot + Layout::offset(s), place.bytes, lane_);
      }
    });
  }

  [[nodiscard]] __device__ __forceinline__ bool is_whole(const Chunk& chunk) const {
    return kAligned && chunk.pixels == Layout::kPixels && !p_.lacks_rows;
  }
  static __device__ __forceinline__ std::int64_t offset(const SpanPlace& place,
                                                        std::int32_t stride) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(place.row)) * stride +
           place.first_byte;
  }
};

/// Chunks of kLanes consecutive parts, one for each lane, for a CellLayout. All planes are aligned
/// and smaller than 2^31 bytes, both of chroma have one stride, and lines consist of whole parts of
/// 16 columns with all their rows, which are neighbours.
template <typename Layout>
class FlatChunks : public WarpSlots {
 public:
  /// Position of a lane's part: its number in the frame and in its line, and byte offsets in the
  /// planes. Offsets are signed numbers modulo 2^32: of parts beyond the frame, which are not
  /// accessed, they may overflow.
  struct Place {
    std::uint32_t part;
    std::uint32_t column;
    std::uint32_t luma;
    std::uint32_t chroma;
  };

  __device__ FlatChunks(const FusedParams& p, std::uint8_t* ring)
      : WarpSlots(p, ring), in_(p, p.in_stride), out_(p, p.out_stride) {}

  [[nodiscard]] __device__ Place input(int i) const { return place(i, p_.in_stride); }
  [[nodiscard]] __device__ Place output(int i) const { return place(i, p_.out_stride); }

  __device__ __forceinline__ void forward(Place& at) const {
    at.part += in_.parts;
    at.column += p_.step.column;
    at.luma += in_.luma;
    at.chroma += in_.chroma;
    if (at.column >= p_.columns) {
      at.column -= p_.columns;
      at.luma += in_.next_luma;
      at.chroma += in_.next_chroma;
    }
  }
  __device__ __forceinline__ void input_back(Place& at) const { back(at, in_); }
  __device__ __forceinline__ void output_back(Place& at) const { back(at, out_); }

  /// Starts the copy of a chunk into a slot; parts beyond the frame become 0.
  __device__ __forceinline__ void load(const Place& at, std::uint8_t* slot) const {
    const bool exists = at.part < p_.parts;
    for_constants<Layout::kPieces>([&](auto i) {
      copy_all_or_nothing_async<Layout::piece_bytes(i)>(
          slot + Layout::place_in_slot(i, lane_), p_.in[plane(i)] + offset<i>(at, p_.in_stride[0]),
          exists);
    });
  }

  template <typename Counter>
  __device__ __forceinline__ void count_values(Place&, const std::uint8_t* slot,
                                               Counter& counter) const {
    Layout::count(p_, slot, lane_, counter);
  }

  /// Position of the cell at a column of the chunk that begins with part `first_part`.
  [[nodiscard]] __device__ Chunk cell_at(std::uint32_t first_part, std::uint32_t column) const {
    const std::uint32_t part = first_part + column / kPartColumns;
    const std::uint32_t line = p_.by_columns.quotient(part);
    return {line, (part - line * p_.columns) * kPartColumns + column % kPartColumns,
            part < p_.parts ? Layout::kColumns : 0};
  }

  /// Scales a chunk from its slot to device memory, in registers.
  template <typename Gains>
  __device__ __forceinline__ void scale(const Place& at, const std::uint8_t* slot,
                                        const Gains& gains) const {
    const std::uint32_t first_part = at.part - static_cast<std::uint32_t>(lane_);
    const auto cells = Layout::scaled(p_, slot, lane_, gains.in_chunk(first_part));
    if (at.part >= p_.parts) return;
    for_constants<Layout::kPieces>([&](auto i) {
      stream_words<Layout::piece_bytes(i)>(p_.out[plane(i)] + offset<i>(at, p_.out_stride[0]),
                                           Layout::words_of(cells, i));
    });
  }

 private:
  /// Distance from a warp's chunk to its next one, and what is added where that begins another
  /// line.
  struct Step {
    std::uint32_t parts;
    std::uint32_t luma;
    std::uint32_t chroma;
    std::uint32_t next_luma;
    std::uint32_t next_chroma;

    template <typename Strides>
    __device__ __forceinline__ Step(const FusedParams& p, const Strides& stride) {
      const std::uint32_t luma_line = Layout::kRows * static_cast<std::uint32_t>(stride[0]);
      const auto chroma_line = static_cast<std::uint32_t>(stride[1]);
      parts = p.workers * (kConfig.warps * kLanes);
      luma = p.step.line * luma_line + p.step.column * kLumaBytes;
      chroma = p.step.line * chroma_line + p.step.column * Layout::kChromaBytes;
      next_luma = luma_line - p.columns * kLumaBytes;
      next_chroma = chroma_line - p.columns * Layout::kChromaBytes;
    }
  };
  static constexpr std::uint32_t kLumaBytes = kPartColumns;

  template <typename Strides>
  [[nodiscard]] __device__ Place place(int i, const Strides& stride) const {
    const std::uint32_t part = number(i) * kLanes + static_cast<std::uint32_t>(lane_);
    const std::uint32_t line = part / p_.columns;
    const std::uint32_t column = part % p_.columns;
    return {part, column,
            line * Layout::kRows * static_cast<std::uint32_t>(stride[0]) + column * kLumaBytes,
            line * static_cast<std::uint32_t>(stride[1]) + column * Layout::kChromaBytes};
  }

  __device__ __forceinline__ void back(Place& at, const Step& step) const {
    at.part -= step.parts;
    at.luma -= step.luma;
    at.chroma -= step.chroma;
    if (at.column < p_.step.column) {
      at.column += p_.columns;
      at.luma -= step.next_luma;
      at.chroma -= step.next_chroma;
    }
    at.column -= p_.step.column;
  }

  static constexpr int plane(int piece) {
    return piece < Layout::kRows ? 0 : piece - Layout::kRows + 1;
  }
  /// Byte offset of a lane's part of piece kPiece in its plane.
  template <int kPiece>
  static __device__ __forceinline__ std::int64_t offset(const Place& at, std::int32_t luma_stride) {
    if constexpr (kPiece >= Layout::kRows) return static_cast<std::int32_t>(at.chroma);
    const auto luma = static_cast<std::int32_t>(at.luma);
    return kPiece == 1 ? luma + luma_stride : luma;
  }

  Step in_;
  Step out_;
};

}  // namespace equalux::cuda
