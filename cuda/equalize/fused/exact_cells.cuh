#pragma once

#include <cstdint>

#include "cuda/device/for_constants.cuh"
#include "cuda/equalize/fused/cell_reach.cuh"
#include "cuda/equalize/fused/fused_layouts.cuh"
#include "cuda/equalize/fused/open_cells.cuh"
#include "cuda/equalize/fused/saturate.cuh"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "cuda/equalize/fused/yuv_cells.cuh"
#include "src/equalize/saturation.h"
#include "src/format/pixel_math.h"

/// Exact change of saturation of YCbCr cells: in double precision, and in whole numbers where that
/// does not decide; and how a block decides the cells and pixels that it has left open. They are
/// rare, so that the code is short rather than fast.
namespace equalux::cuda {

/// Chroma of a cell, in whole numbers.
struct WholeChroma {
  std::uint32_t cb;
  std::uint32_t cr;
  std::int32_t above;  ///< largest channel less luma
  std::int32_t least;  ///< least channel less luma

  /// `samples` is the number of samples in a cell, by which the weights are larger.
  __device__ WholeChroma(const YuvFloats& k, int samples, std::uint32_t cb, std::uint32_t cr)
      : cb(cb), cr(cr) {
    const float scale = 1.0f / static_cast<float>(samples);
    const CellReach reach = reach_of(k, static_cast<float>(static_cast<int>(cb) - 128) * scale,
                                     static_cast<float>(static_cast<int>(cr) - 128) * scale);
    above = static_cast<std::int32_t>(reach.most - kIntegerBaseBits);
    least = static_cast<std::int32_t>(reach.least - kIntegerBaseBits);
  }
};

/// Luma sample in whole numbers, and its result.
class ExactLuma {
 public:
  template <typename Table>
  __device__ ExactLuma(const YuvWeights& k, const Table& table, std::uint32_t code,
                       const WholeChroma& chroma)
      : code_(code),
        y_(static_cast<std::int32_t>(code) - k.luma_offset),
        v_(y_ < 0 ? 0 : min(y_ + chroma.above, k.luma_max)),
        f_(table.factor(v_, v_ - y_ - chroma.least)),
        offset_(static_cast<std::uint32_t>(k.luma_offset)) {}

  /// Result of the sample. Double precision is off by less than 2^-43; a result that is not a half
  /// is at least 2^-39 away from one, as f has a denominator of 256 at most.
  template <typename Table>
  [[nodiscard]] __device__ std::uint32_t result(const Table& table) const {
    if (v_ == 0) return code_;
    constexpr double kPerLevel = 1.0 / (1U << tone::kCurveBits);
    const double inverse = table.inverse(v_);
    // Luma above v, which was clamped, is scaled as without a change of saturation.
    const double part =
        y_ >= v_ ? y_ * inverse : __fma_rn(-table.ratio_of(f_) * inverse, v_ - y_, 1.0);
    return offset_ + static_cast<std::uint32_t>(
                         __double2int_rd(table.level(v_) * kPerLevel * part + (0.5 + 0x1p-41)));
  }
  /// Share of the sample in the gain of chroma, in 2^-40.
  template <typename Table>
  [[nodiscard]] __device__ double share(const Table& table) const {
    return static_cast<double>(table.share(v_)) * table.ratio_of(f_);
  }
  template <typename Table>
  [[nodiscard]] __device__ std::int64_t whole_share(const Table& table) const {
    return saturation::scaled_share(table.share(v_), f_);
  }

 private:
  std::uint32_t code_;
  std::int32_t y_;  ///< above black
  std::int32_t v_;
  saturation::Factor f_;
  std::uint32_t offset_;
};

/// Rounds and clamps 128 + c times the mean of 2^kShift gains, whose sum is `shares`. Sets `unsure`
/// where the result may be on the wrong side of a half.
template <int kShift>
__device__ __forceinline__ std::uint32_t double_chroma(std::uint32_t code, double shares,
                                                       bool& unsure) {
  // Shares are rounded down, so their sum may lack one last place, and c' half of this.
  constexpr double kError = 0x1p-32;
  constexpr double kPerPlace = 1.0 / (std::int64_t{1} << (40 + kShift));
  const double x = __fma_rn(static_cast<std::int32_t>(code) - 128, shares * kPerPlace, 128.5);
  const int low = __double2int_rd(x - kError);
  unsure = unsure || low != __double2int_rd(x + kError);
  return static_cast<std::uint32_t>(min(max(low, 0), 255));
}

/// Results of a cell.
template <typename Layout>
struct ExactCell {
  std::uint32_t chroma;               ///< Cb and Cr in the halves
  std::uint32_t luma[Layout::kRows];  ///< bytes of a row, from the lowest on
};

/// Computes the cell at column `x` of a slot, by one lane.
template <typename Layout, typename Table>
__device__ __noinline__ ExactCell<Layout> saturate_cell_exact(const FusedParams& p,
                                                              const std::uint8_t* slot, int x,
                                                              const Table& table) {
  constexpr int kShift = Layout::Cells::kShift;
  const YuvWeights& k = p.weights;
  constexpr int kSamples = Layout::kRows * Layout::kColumns;
  const WholeChroma chroma(p.yuv, kSamples, slot[Layout::cb_at(x)], slot[Layout::cr_at(x)]);
  ExactCell<Layout> exact{};
  std::int64_t sum = 0;
#pragma unroll 1
  for (int i = 0; i < kSamples; ++i) {
    const int row = i / Layout::kColumns;
    const int column = i % Layout::kColumns;
    const ExactLuma luma(k, table, slot[Layout::luma_at(row, x + column)], chroma);
    exact.luma[Layout::kRows == 2 ? row : 0] |= luma.result(table) << (8 * column);
    sum += luma.whole_share(table);
  }
  const auto shares = static_cast<std::uint64_t>(sum);
  exact.chroma = scale_chroma<kShift>(chroma.cb, shares) | scale_chroma<kShift>(chroma.cr, shares)
                                                               << 16;
  return exact;
}

/// Writes a sample to the frame, where the frame has it. `place` is its offset in a slot that would
/// have only `cell`.
template <typename Layout>
__device__ __forceinline__ void put_sample(const FusedParams& p, const Chunk& cell, int place,
                                           std::uint32_t code) {
  for_constants<Layout::kSpans>([&](auto s) {
    const int byte = place - Layout::offset(s);
    if (byte < 0 || byte >= Layout::capacity(s)) return;
    const SpanPlace span = Layout::span(p, s, cell);
    if (byte >= span.bytes) return;
    const auto row = static_cast<std::int32_t>(span.row);
    std::uint8_t* to = p.out[span.plane] +
                       static_cast<std::int64_t>(row) * p.out_stride[span.plane] + span.first_byte;
    to[byte] = static_cast<std::uint8_t>(code);
  });
}

/// Decides the cells that the block has left open, a sample by each lane; shares are summed by
/// shuffles. Called by all threads of the block, after a barrier behind the stores of all its
/// chunks.
template <typename Layout, int kWarps, typename Chunks, typename Table>
__device__ __forceinline__ void close_cells(const FusedParams& p, const Chunks& chunks,
                                            const Table& table, const OpenCells& open, int thread) {
  constexpr int kSamples = Layout::kRows * Layout::kColumns;
  constexpr int kShift = Layout::Cells::kShift;
  constexpr std::uint32_t kCellsEach = kLanes / kSamples;  // cells of a warp at a time
  constexpr unsigned kAll = 0xFFFFFFFFU;
  const std::uint32_t count = open.count();
  const auto sample = static_cast<std::uint32_t>(thread) % kSamples;
  // Even warps do luma while odd warps do chroma: the end of the frame waits for this.
  const int warp = thread / kLanes;
  const bool takes_luma = warp % 2 == 0;
#pragma unroll 1
  for (std::uint32_t first = static_cast<std::uint32_t>(warp) / 2 * kCellsEach; first < count;
       first += kWarps / 2 * kCellsEach) {
    const std::uint32_t i = first + static_cast<std::uint32_t>(thread) % kLanes / kSamples;
    const OpenCell& cell = open[min(i, count - 1)];
    const WholeChroma chroma(p.yuv, kSamples, cell.chroma & 0xFFFFU, cell.chroma >> 16);
    const ExactLuma luma(p.weights, table, cell.samples >> (8 * sample) & 0xFFU, chroma);
    Chunk place = chunks.cell_at(cell.chunk, cell.column);
    if (i >= count) place.pixels = 0;
    if (takes_luma) {
      const auto column = static_cast<int>(sample) % Layout::kColumns;
      if (column >= place.pixels) continue;
      put_sample<Layout>(p, place,
                         Layout::luma_at(static_cast<int>(sample) / Layout::kColumns, column),
                         luma.result(table));
      continue;
    }
    double shares = luma.share(table);
#pragma unroll
    for (int step = 1; step < kSamples; step *= 2)
      shares += __shfl_xor_sync(kAll, shares, step);
    bool unsure = false;
    std::uint32_t cb = double_chroma<kShift>(chroma.cb, shares, unsure);
    std::uint32_t cr = double_chroma<kShift>(chroma.cr, shares, unsure);
    if (__any_sync(kAll, unsure)) {
      std::int64_t sum = luma.whole_share(table);
#pragma unroll
      for (int step = 1; step < kSamples; step *= 2)
        sum += __shfl_xor_sync(kAll, sum, step);
      cb = scale_chroma<kShift>(chroma.cb, static_cast<std::uint64_t>(sum));
      cr = scale_chroma<kShift>(chroma.cr, static_cast<std::uint64_t>(sum));
    }
    if (sample == 0 && place.pixels != 0) {
      put_sample<Layout>(p, place, Layout::cb_at(0), cb);
      put_sample<Layout>(p, place, Layout::cr_at(0), cr);
    }
  }
}

/// Decides the pixels that the block has left open, four lanes each, three of which have a colour.
/// Called as close_cells() is.
template <typename Layout, int kWarps, typename Chunks, typename Table>
__device__ __forceinline__ void close_pixels(const FusedParams& p, const Chunks& chunks,
                                             const Table& table, const OpenCells& open,
                                             int thread) {
  constexpr int kLanesEach = 4;
  const int colour = thread % kLanesEach;
  if (colour == 3) return;
  const std::uint32_t count = open.count();
#pragma unroll 1
  for (std::uint32_t i = static_cast<std::uint32_t>(thread) / kLanesEach; i < count;
       i += kWarps * kLanes / kLanesEach) {
    const OpenCell& cell = open[i];
    const ExactPixel pixel(table, cell.samples);
    put_sample<Layout>(p, chunks.cell_at(cell.chunk, cell.column), Layout::kColor + colour,
                       pixel.result(colour));
  }
}

}  // namespace equalux::cuda
