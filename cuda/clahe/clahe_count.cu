#include <algorithm>

#include "cuda/clahe/clahe.h"
#include "cuda/clahe/clahe_samples.cuh"
#include "cuda/device/value_counter.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// Block size: four warps share one table of value_counter.cuh, 32 KiB, which every device's shared
/// memory holds.
constexpr int kThreads = 128;
using Counter = const ValueCounter<1>;

/// Counts a packed line in groups: group g has columns 16 g to 16 g + 15.
template <typename Form>
struct PackedCount {
  static constexpr int kColumns = 16;

  static __device__ __forceinline__ void whole(const ClaheFrame& f, int line, int x,
                                               Counter& counter) {
    constexpr int kBytes = kColumns * Form::kStep;
    std::uint32_t words[kBytes / 4];
    load_words<kBytes>(row_of(f, 0, line) + static_cast<std::int64_t>(x) * Form::kStep, words);
    if constexpr (Form::kStep == 1) {
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        counter.template add_pair<0>(words[w]);
        counter.template add_pair<1>(words[w]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kColumns / 2; ++i) {
        const int a = 2 * i * Form::kStep + Form::kFirst;
        const int b = a + Form::kStep;
        counter.template add_pair<1>(__vimax3_u16x2(upper_bytes(words, a, b),
                                                    upper_bytes(words, a + 1, b + 1),
                                                    upper_bytes(words, a + 2, b + 2)));
      }
    }
  }

  static __device__ void some(const ClaheFrame& f, int line, int begin, int end, Counter& counter) {
    for (int x = begin; x < end; ++x) {
      const std::uint8_t* p =
          row_of(f, 0, line) + static_cast<std::int64_t>(x) * Form::kStep + Form::kFirst;
      std::uint32_t v = p[0];
      for (int c = 1; c < Form::kColours; ++c)
        v = max(v, static_cast<std::uint32_t>(p[c]));
      counter.add(v);
    }
  }
};

/// Counts a line of YCbCr in groups: group g has luma columns 8 g to 8 g + 7 of one or two rows,
/// with their chroma.
template <typename Form>
struct YuvCount {
  static constexpr int kColumns = 8;

  static __device__ __forceinline__ void whole(const ClaheFrame& f, int line, int x,
                                               Counter& counter) {
    const LineRows rows(f, line, Form::kRows);
    constexpr int kLumaBytes = kColumns * Form::kLumaStep;
    constexpr int kCells = kColumns / Form::kColumns;
    std::uint32_t luma[2][kLumaBytes / 4];
    load_words<kLumaBytes>(row_of(f, 0, rows.luma.first) + x * Form::kLumaStep, luma[0]);
    if (Form::kRows == 2)
      load_words<kLumaBytes>(row_of(f, 0, rows.luma.second) + x * Form::kLumaStep, luma[1]);
    std::uint32_t above[kCells];
    if constexpr (Form::kPacked) {
#pragma unroll
      for (int c = 0; c < kCells; ++c)
        above[c] =
            above_luma(f, byte_of(luma[0], Form::cb_at(c)), byte_of(luma[0], Form::cr_at(c)));
    } else {
      constexpr int kChromaBytes = kCells * Form::kChromaStep;
      const int at = x / Form::kColumns * Form::kChromaStep;
      std::uint32_t cb[kChromaBytes / 4];
      std::uint32_t cr[kChromaBytes / 4];
      load_words<kChromaBytes>(row_of(f, Form::kCbPlane, line) + at, cb);
      load_words<kChromaBytes>(row_of(f, Form::kCrPlane, line) + at, cr);
#pragma unroll
      for (int c = 0; c < kCells; ++c)
        above[c] = above_luma(f, byte_of(cb, Form::cb_at(c)), byte_of(cr, Form::cr_at(c)));
    }
    const auto count_row = [&](const std::uint32_t(&words)[kLumaBytes / 4]) {
#pragma unroll
      for (int i = 0; i < kColumns; i += 2) {
        const auto value = [&](int column) {
          return static_cast<std::uint32_t>(
              yuv_value(f.weights, static_cast<int>(byte_of(words, Form::luma_at(column))),
                        static_cast<int>(above[column / Form::kColumns])));
        };
        counter.template add_pair<0>(value(i) | value(i + 1) << 16);
      }
    };
    count_row(luma[0]);
    if (Form::kRows == 2 && rows.both) count_row(luma[1]);
  }

  static __device__ void some(const ClaheFrame& f, int line, int begin, int end, Counter& counter) {
    const LineRows rows(f, line, Form::kRows);
    for (int x = begin; x < end; ++x) {
      const int c = x / Form::kColumns;
      const std::uint32_t above = above_luma(f, row_of(f, Form::kCbPlane, line)[Form::cb_at(c)],
                                             row_of(f, Form::kCrPlane, line)[Form::cr_at(c)]);
      const auto count = [&](int row) {
        counter.add(static_cast<std::uint32_t>(
            yuv_value(f.weights, row_of(f, 0, row)[Form::luma_at(x)], static_cast<int>(above))));
      };
      count(rows.luma.first);
      if (rows.both) count(rows.luma.second);
    }
  }

 private:
  static __device__ __forceinline__ std::uint32_t above_luma(const ClaheFrame& f, std::uint32_t cb,
                                                             std::uint32_t cr) {
    return static_cast<std::uint32_t>(
        value_above_luma(f.weights, static_cast<int>(cb), static_cast<int>(cr)));
  }
};

/// Counts one band of a tile's lines per block. Its threads take one group of a line after another,
/// so that loads are coalesced and several lines are under way where tiles are narrow. Groups begin
/// at multiples of their width in the frame and are therefore aligned wherever the tile begins; the
/// first and the last group of a tile may lie in it only in part. Counters are in shared memory,
/// one per lane and value; the block adds its 256 sums to device memory with atomics.
template <typename Form>
__global__ void __launch_bounds__(kThreads)
    clahe_count_kernel(const __grid_constant__ ClaheFrame f) {
  using Count = std::conditional_t<Form::kYuv, YuvCount<Form>, PackedCount<Form>>;
  __shared__ __align__(16) std::uint8_t table[kTableBytes];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kTableBytes / 16; i += kThreads)
    reinterpret_cast<uint4*>(table)[i] = uint4{0, 0, 0, 0};
  const int tile = static_cast<int>(blockIdx.x) / f.bands;
  const int band = static_cast<int>(blockIdx.x) % f.bands;
  const int tile_x = tile % f.tiles_x;
  const int tile_y = tile / f.tiles_x;
  const int x0 = f.edge_x[tile_x] * f.cell_columns;
  const int x1 = min(f.edge_x[tile_x + 1] * f.cell_columns, f.width);
  const int lines = f.edge_y[tile_y + 1] - f.edge_y[tile_y];
  const auto line_of = [&](int b) {
    return f.edge_y[tile_y] + static_cast<int>(std::int64_t{b} * lines / f.bands);
  };
  const int last_line = line_of(band + 1);
  const int first_group = x0 / Count::kColumns;
  const int groups = (x1 + Count::kColumns - 1) / Count::kColumns - first_group;
  int line = line_of(band) + thread / groups;
  int group = thread % groups;
  const int line_step = kThreads / groups;
  const int group_step = kThreads % groups;
  wait_then_release();
  __syncthreads();
  Counter counter(table, thread / kLanes, thread % kLanes);
  while (line < last_line) {
    const int x = (first_group + group) * Count::kColumns;
    if (f.aligned && x >= x0 && x + Count::kColumns <= x1) {
      Count::whole(f, line, x, counter);
    } else {
      Count::some(f, line, max(x, x0), min(x + Count::kColumns, x1), counter);
    }
    line += line_step;
    group += group_step;
    if (group >= groups) {
      group -= groups;
      ++line;
    }
  }
  __syncthreads();
  std::uint32_t* counts = f.states[tile].counts;
  for (int v = thread; v < 256; v += kThreads)
    atomicAdd(counts + v, row_sum<1>(table, 0, v));
}

}  // namespace

void clahe_count(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream) {
  for_form(frame.format, [&](auto form) {
    const auto blocks = static_cast<unsigned>(frame.tiles_x * frame.tiles_y * frame.bands);
    launch_early(device, "launching the counting of tiles", clahe_count_kernel<decltype(form)>,
                 dim3(blocks), dim3(kThreads), stream, frame);
  });
}

LaunchDevice clahe_device() {
  return LaunchDevice::of(
      reinterpret_cast<const void*>(&clahe_count_kernel<Form<PixelFormat::rgb>>));
}

}  // namespace equalux::cuda
