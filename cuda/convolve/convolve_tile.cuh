#pragma once

#include <cstdint>

#include "cuda/convolve/convolve.h"
#include "cuda/device/chunk_copy.cuh"

/// A warp's rows of a plane in shared memory.
namespace equalux::cuda {

constexpr int kLaneBytes = 16;              // of a row that a lane holds
constexpr int kTile = kLanes * kLaneBytes;  // bytes of a row that a warp holds

/// A row of a warp's tile in shared memory, with 16 bytes on either side.
struct alignas(16) TileRow {
  static constexpr int kSide = 16;
  std::uint8_t bytes[kSide + kTile + kSide];

  /// Returns the byte `at` bytes after the tile's first one; `at` is -kSide to kTile + kSide - 1.
  __device__ std::uint8_t* at(int at) { return bytes + kSide + at; }
};

/// Loads a warp's tile: kTile bytes of each row from byte `begin` on. Addresses and strides are
/// multiples of kGranule.
template <int kStep, int kGranule>
class Tile {
 public:
  __device__ Tile(const BytePlane& plane, Outside outside, int begin, int lane)
      : plane_(plane),
        outside_(outside),
        begin_(begin),
        lane_(lane),
        valid_(plane.width * kStep - begin),
        side_at_(lane == 0 ? -TileRow::kSide : kTile),
        side_valid_(lane == 0            ? (begin > 0 ? TileRow::kSide : 0)
                    : lane == kLanes - 1 ? valid_ - kTile
                                         : 0),
        edge_(begin == 0 || kTile + kStep > valid_),
        ragged_(valid_ < kTile + TileRow::kSide && valid_ % kLaneBytes != 0),
        before_(border_index(-1, plane.rows, outside.border)),
        after_(border_index(plane.rows, plane.rows, outside.border)),
        first_(plane.in + begin) {}

  /// Starts the copy of row y with the neighbouring bytes on both sides that the plane has. y may
  /// be -1, and anything beyond the last row counts as the row after it.
  __device__ void load(TileRow& to, int y) const {
    const int index = y < 0 ? before_ : y >= plane_.rows ? after_ : y;
    if (index < 0) {
      fill(to);
      return;
    }
    const std::uint8_t* row = first_ + index * plane_.in_stride;
    if constexpr (kGranule == 16) {
      const int at = lane_ * kLaneBytes;
      if (ragged_) {
        copy_vector(to.at(at), row + at, valid_ - at);
        copy_vector(to.at(side_at_), row + side_at_, side_valid_);
      } else {
        copy_vector_async_if(at < valid_, to.at(at), row + at);
        copy_vector_async_if(side_valid_ > 0, to.at(side_at_), row + side_at_);
      }
    } else {
      load_granules(to, row);
    }
  }

  /// Writes the pixels to the left and right of the plane into row y, once it has arrived. All
  /// lanes must call it.
  __device__ void mend_sides(TileRow& row, int y) const {
    if (!edge_ || (y < 0 && before_ < 0) || (y >= plane_.rows && after_ < 0)) return;
    if (lane_ < 2 * kStep) {
      const bool before = lane_ < kStep;
      const int pixel = before ? -1 : plane_.width;
      const int channel = before ? lane_ : lane_ - kStep;
      const int at = pixel * kStep + channel - begin_;
      if (at >= -kStep && at < kTile + kStep) {
        const int from = border_index(pixel, plane_.width, outside_.border);
        *row.at(at) = from < 0 ? outside_.value : *row.at(from * kStep + channel - begin_);
      }
    }
    __syncwarp();
  }

 private:
  __device__ void fill(TileRow& to) const {
    const std::uint32_t all = outside_.value * 0x01010101U;
    auto* vectors = reinterpret_cast<uint4*>(to.bytes);
    vectors[lane_] = {all, all, all, all};
    if (lane_ < 2) vectors[kLanes + lane_] = {all, all, all, all};
  }

  static __device__ void copy_vector(std::uint8_t* to, const std::uint8_t* from, int valid) {
    if (valid >= kLaneBytes) {
      copy_vector_async(to, from);
    } else if (valid > 0) {
      copy_some_async(to, from, valid);
    }
  }

  __device__ void load_granules(TileRow& to, const std::uint8_t* row) const {
#pragma unroll
    for (int i = 0; i < kTile / kGranule / kLanes + 1; ++i) {
      const int at = (i * kLanes + lane_) * kGranule - TileRow::kSide;
      if (at >= kTile + TileRow::kSide || begin_ + at < 0 || at >= valid_) continue;
      if (kGranule == 4 && at + 4 <= valid_) {
        copy_word_async(to.at(at), row + at);
      } else {
#pragma unroll
        for (int b = 0; b < kGranule; ++b) {
          if (at + b < valid_) *to.at(at + b) = row[at + b];
        }
      }
    }
  }

  const BytePlane& plane_;
  Outside outside_;
  int begin_;
  int lane_;
  int valid_;       // bytes of the row from begin_ on
  int side_at_;     // where the first and the last lane copy 16 more bytes
  int side_valid_;  // those that the plane has
  bool edge_;
  bool ragged_;  // some lane's 16 bytes begin in the plane and end outside
  int before_;   // rows that stand for the ones above and below the plane; -1: the constant
  int after_;
  const std::uint8_t* first_;
};

}  // namespace equalux::cuda
