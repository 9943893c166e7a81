#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

using denoise::kTaps;
using denoise::Vector;

constexpr int kThreads = 256;
/// Blocks that a multiprocessor runs at a time at least: loads wait for long.
constexpr int kBlocks = 4;
/// Samples of the first component that a block of threads has; of others those that are covered.
constexpr int kTileColumns = 64;
constexpr int kTileRows = 32;
/// Deviations that are looked at on each side of a sample.
constexpr int kReach = 2;
/// A tile has a four beside its own on each side. A block that moves as one has whole fours of
/// every component.
constexpr int kPitchBeside = 2 * kFour;
constexpr int kRowsBeside = 2 * kReach;

/// A sample's code, and what is known of it where it comes from, in a word.
__device__ __forceinline__ std::uint32_t packed(int code, int estimate, int weight) {
  return static_cast<std::uint32_t>(code | estimate << 12 | weight << 26);
}
__device__ __forceinline__ int code_of(std::uint32_t word) {
  return static_cast<int>(word & 0xFFF);
}
__device__ __forceinline__ int estimate_of_word(std::uint32_t word) {
  return static_cast<int>(word >> 12 & 0x3FFF);
}
__device__ __forceinline__ int weight_of(std::uint32_t word) {
  return static_cast<int>(word >> 26);
}

/// What was known of four neighbouring samples.
struct Known {
  int estimate[kFour];
  int weight[kFour];
};

/// Places of a plane that exist, or the nearest ones of them.
template <bool kInside>
__device__ __forceinline__ int place_of(int x, int count) {
  return kInside ? x : nearest_place(x, count);
}

using MoveTaps = std::int16_t[kTaps];

/// Estimates that have come from elsewhere: interpolated, by taps, from what is around them. `x` is
/// the place of the first of four neighbours. kInside: all that is looked at is in the plane.
template <bool kInside>
__device__ __forceinline__ void interpolate(const MoveTaps* taps,
                                            const NumberPlane<std::int16_t>& plane, int parts_x,
                                            int parts_y, int x, int y, int (&estimates)[kFour]) {
  const int phase_x = denoise::phase_of(parts_x);
  const int phase_y = denoise::phase_of(parts_y);
  const int from_x = x + denoise::sample_before(parts_x);
  const int from_y = y + denoise::sample_before(parts_y);
  const std::int16_t* const taps_x = taps[phase_x];
  const std::int16_t* const taps_y = taps[phase_y];
  const int first = phase_y == 0 ? 2 : 0;
  const int last = phase_y == 0 ? 3 : kTaps;
  int sums[kFour] = {};
#pragma unroll 1
  for (int k = first; k < last; ++k) {
    const std::int16_t* const row = plane.row(place_of<kInside>(from_y + k - 2, plane.rows));
    int across[kFour];
    if (phase_x == 0) {
#pragma unroll
      for (int i = 0; i < kFour; ++i)
        across[i] = row[place_of<kInside>(from_x + i, plane.columns)];
    } else {
      int samples[kFour + kTaps - 1];
#pragma unroll
      for (int i = 0; i < kFour + kTaps - 1; ++i)
        samples[i] = row[place_of<kInside>(from_x + i - 2, plane.columns)];
#pragma unroll
      for (int i = 0; i < kFour; ++i) {
        int sum = 0;
#pragma unroll
        for (int t = 0; t < kTaps; ++t)
          sum += denoise::times(samples[i + t], taps_x[t]);
        across[i] = denoise::clamp(sum, 0, denoise::kSampleMost);
      }
    }
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      sums[i] = phase_y == 0 ? across[i] : sums[i] + denoise::times(across[i], taps_y[k]);
  }
#pragma unroll
  for (int i = 0; i < kFour; ++i)
    estimates[i] = denoise::clamp(sums[i], 0, denoise::kSampleMost);
}

/// What was known of four neighbouring samples where a vector points to.
__device__ __forceinline__ void find_moved(const KnownPlanes& known, const MoveTaps* taps,
                                           int parts_x, int parts_y, int x, int y, Known& result) {
  const int from_x = x + denoise::sample_before(parts_x);
  const int from_y = y + denoise::sample_before(parts_y);
  const bool inside = from_x >= 2 && from_x + kFour + kTaps - 3 <= known.estimate.columns &&
                      from_y >= 2 && from_y + kTaps - 2 <= known.estimate.rows;
  if (inside) {
    interpolate<true>(taps, known.estimate, parts_x, parts_y, x, y, result.estimate);
  } else {
    interpolate<false>(taps, known.estimate, parts_x, parts_y, x, y, result.estimate);
  }
  const int u = x + denoise::nearest_sample(parts_x);
  const int v = y + denoise::nearest_sample(parts_y);
  const bool between = denoise::phase_of(parts_x) != 0 || denoise::phase_of(parts_y) != 0;
#pragma unroll
  for (int i = 0; i < kFour; ++i) {
    int weight = 0;
    if (inside || (u + i >= 0 && v >= 0 && u + i < known.weight.columns && v < known.weight.rows))
      weight = known.weight.row(v)[u + i];
    result.weight[i] = between ? denoise::weight_between(weight) : weight;
  }
}

/// Of a component's tile of kColumns x kRows samples.
template <int kColumns, int kRows>
struct TileWords {
  static constexpr int kPitch = kColumns + kPitchBeside;
  /// A deviation, and above it its magnitude: sums of words are sums of both. Those of the tile and
  /// around it.
  alignas(16) std::int32_t deviations[kRows + kRowsBeside][kPitch];
  alignas(16) std::uint32_t samples[kRows][kColumns];  ///< packed()
};

/// What all components of a tile share.
struct Shared {
  alignas(4) std::uint8_t change[kTileRows][kTileColumns];  // of the first component
  SharedCurve inverse[kMostComponents];
  std::uint16_t certainty[denoise::kWeights];  // fractions
  std::uint16_t keep[denoise::kWeights];
};

/// Where a component's part of a tile begins.
struct Place {
  int x;
  int y;
};

__device__ __forceinline__ void lighten(int drift, int (&estimates)[kFour]) {
#pragma unroll
  for (int i = 0; i < kFour; ++i)
    estimates[i] = denoise::lightened(estimates[i], drift);
}

/// Samples of a row from column x on as they are stored, and what is known of them. What lies
/// outside the plane is what is at its edge.
__device__ __forceinline__ void find_known(const DenoisePicture& picture,
                                           const DenoiseComponent& component, int x, int y,
                                           int (&codes)[kFour], Known& known) {
  const bool inside = x >= 0 && x + kFour <= component.in.columns;
  // All of them are of one block: one of a plane's edge is, whose nearest ones are its own.
  const int block = (y << component.shift_y) / denoise::kBlock * picture.block_columns +
                    (nearest_place(x, component.in.columns) << component.shift_x) / denoise::kBlock;
  const Vector vector = picture.vectors[block];
  if (inside) {
    load_codes(component.in, picture.in_words, x, y, codes);
  } else {
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      codes[i] =
          code_at(component.in, picture.in_words, nearest_place(x + i, component.in.columns), y);
    }
  }
  const bool is_first = &component == &picture.components[0];
  const int drift = is_first && vector == Vector{0, 0} ? picture.drifts[block] : 0;
  if (inside && vector == Vector{0, 0}) {
    load_four(component.known.estimate.row(y) + x, known.estimate);
    if (drift != 0) lighten(drift, known.estimate);
    const std::uint32_t weights =
        *reinterpret_cast<const std::uint32_t*>(component.known.weight.row(y) + x);
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      known.weight[i] = static_cast<int>(weights >> (8 * i) & 255);
    return;
  }
  const int first = nearest_place(x, component.in.columns);
  find_moved(component.known, picture.tables->taps, denoise::phases_of(vector.x, component.shift_x),
             denoise::phases_of(vector.y, component.shift_y), first, y, known);
  if (drift != 0) lighten(drift, known.estimate);
  if (inside) return;
    // What is behind the last one that exists repeats it; before the first one nothing else is.
#pragma unroll
  for (int i = 1; i < kFour; ++i) {
    if (x + i > 0 && x + i < component.in.columns) continue;
    known.estimate[i] = known.estimate[i - 1];
    known.weight[i] = known.weight[i - 1];
  }
}

/// Deviations of four samples, and what is known of them, packed.
__device__ __forceinline__ void find_deviations(const DenoisePicture& picture,
                                                const DenoiseComponent& component,
                                                const SharedCurve& inverse, int x, int y,
                                                const Shared& shared, std::int32_t* deviations,
                                                std::uint32_t (&words)[kFour]) {
  const int up = denoise::kSampleBits - picture.in_words.depth;
  int codes[kFour];
  Known known;
  find_known(picture, component, x, nearest_place(y, component.in.rows), codes, known);
  int all[kFour];
#pragma unroll
  for (int i = 0; i < kFour; ++i) {
    const int deviation =
        denoise::deviation(codes[i] << up, known.estimate[i], inverse.at(known.estimate[i]),
                           shared.certainty[known.weight[i]]);
    all[i] = deviation + (abs(deviation) << 16);
    words[i] = packed(codes[i], known.estimate[i], known.weight[i]);
  }
  *reinterpret_cast<int4*>(deviations) = int4{all[0], all[1], all[2], all[3]};
}

/// What kWorkers threads do of a tile of a component. A worker has fours of the tile and around it
/// first, then kOwn, one below the other.
template <int kColumns, int kRows, int kWorkers>
class Part {
 public:
  using Words = TileWords<kColumns, kRows>;

  __device__ Part(const DenoisePicture& picture, int number, int worker, Words& words,
                  Shared& shared)
      : picture_(picture),
        component_(picture.components[number]),
        inverse_(shared.inverse[number]),
        worker_(worker),
        words_(words),
        shared_(shared),
        tile_{static_cast<int>(blockIdx.x) * kColumns, static_cast<int>(blockIdx.y) * kRows},
        any_(tile_.x < component_.in.columns && tile_.y < component_.in.rows) {}

  /// Deviations of the tile and around it. All threads of the block wait for each other behind.
  __device__ __forceinline__ void find() {
    constexpr int kAcross = kFours + 2;
    if (!any_) return;
#pragma unroll 1
    for (int n = worker_; n < kAcross * (kRows + kRowsBeside); n += kWorkers) {
      const int column = n % kAcross * kFour;
      const int row = n / kAcross;
      std::uint32_t samples[kFour];
      find_deviations(picture_, component_, inverse_, tile_.x + column - kFour,
                      tile_.y + row - kReach, shared_, &words_.deviations[row][column], samples);
      if (row >= kReach && row < kRows + kReach && column != 0 && column <= kColumns) {
        *reinterpret_cast<uint4*>(&words_.samples[row - kReach][column - kFour]) =
            uint4{samples[0], samples[1], samples[2], samples[3]};
      }
    }
  }

  /// Estimates and weights after the picture.
  __device__ __forceinline__ void update(bool first) {
    const int column = worker_ % kFours * kFour;
    const int row = worker_ / kFours * kOwn;
    if (!any_ || tile_.x + column >= component_.in.columns) return;
    // Sums of five rows, of the four columns and two on each side.
    Sums rows[kOwn + kRowsBeside];
#pragma unroll
    for (int k = 0; k < kOwn + kRowsBeside; ++k) {
      const std::int32_t* const at = &words_.deviations[row + k][column];
      const int2 left = *reinterpret_cast<const int2*>(at + kFour - kReach);
      const int4 middle = *reinterpret_cast<const int4*>(at + kFour);
      const int2 right = *reinterpret_cast<const int2*>(at + 2 * kFour);
      const int all[kFour + 2 * kReach] = {left.x,   left.y,   middle.x, middle.y,
                                           middle.z, middle.w, right.x,  right.y};
#pragma unroll
      for (int i = 0; i < kFour + 2 * kReach; ++i)
        rows[k].of[i] = all[i];
    }
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      if (tile_.y + row + k >= component_.in.rows) return;
      Sums sums = rows[k];
#pragma unroll
      for (int r = 1; r <= kRowsBeside; ++r) {
#pragma unroll
        for (int i = 0; i < kFour + 2 * kReach; ++i)
          sums.of[i] += rows[k + r].of[i];
      }
      update_four(first, column, row + k, sums, rows[k + kReach]);
    }
  }

 private:
  static constexpr int kFours = kColumns / kFour;
  static constexpr int kOwn = kFours * kRows / kWorkers;
  static_assert(kFours * kRows % kWorkers == 0);

  /// A number for each of four columns and two on each side.
  struct Sums {
    int of[kFour + 2 * kReach];
  };

  /// The mean of the first component's changes that a sample of another covers.
  [[nodiscard]] __device__ __forceinline__ int covered_change(int column, int row) const;

  __device__ __forceinline__ void update_four(bool first, int column, int row, const Sums& sums,
                                              const Sums& own);

  const DenoisePicture& picture_;
  const DenoiseComponent& component_;
  const SharedCurve& inverse_;
  int worker_;
  Words& words_;
  Shared& shared_;
  Place tile_;
  bool any_;
};

template <int kColumns, int kRows, int kWorkers>
__device__ __forceinline__ int Part<kColumns, kRows, kWorkers>::covered_change(int column,
                                                                               int row) const {
  const Samples<const std::uint8_t>& luma = picture_.components[0].in;
  const int shift_x = component_.shift_x;
  const int shift_y = component_.shift_y;
  const int left = column << shift_x;
  const int above = row << shift_y;
  const int right = min(left + shift_x, luma.columns - 1 - (tile_.x << shift_x));
  const int below = min(above + shift_y, luma.rows - 1 - (tile_.y << shift_y));
  const auto& change = shared_.change;
  if (shift_x == 0) return (change[above][left] + change[below][left] + 1) >> 1;
  return (change[above][left] + change[above][right] + change[below][left] + change[below][right] +
          2) >>
         2;
}

template <int kColumns, int kRows, int kWorkers>
__device__ __forceinline__ void Part<kColumns, kRows, kWorkers>::update_four(bool first, int column,
                                                                             int row,
                                                                             const Sums& sums,
                                                                             const Sums& own) {
  const int up = denoise::kSampleBits - picture_.in_words.depth;
  const int x = tile_.x + column;
  const int y = tile_.y + row;
  const uint4 four = *reinterpret_cast<const uint4*>(&words_.samples[row][column]);
  const std::uint32_t words[kFour] = {four.x, four.y, four.z, four.w};
  int estimates[kFour];
  std::uint32_t weights[kFour];
  std::uint32_t changes = 0;
#pragma unroll
  for (int i = 0; i < kFour; ++i) {
    const int both = sums.of[i] + sums.of[i + 1] + sums.of[i + 2] + sums.of[i + 3] + sums.of[i + 4];
    const int sum = static_cast<std::int16_t>(both);
    int change =
        denoise::change(sum, (both - sum) >> 16, static_cast<std::int16_t>(own.of[i + kReach]));
    if (first) {
      changes |= static_cast<std::uint32_t>(change) << (8 * i);
    } else if (x + i < component_.in.columns) {
      change = max(change, covered_change(column + i, row));
    }
    const int left = denoise::weight_after(weight_of(words[i]), change);
    estimates[i] = denoise::estimate_of(code_of(words[i]) << up, estimate_of_word(words[i]),
                                        shared_.keep[left]);
    weights[i] = static_cast<std::uint32_t>(min(left + 1, picture_.most));
  }
  if (first) *reinterpret_cast<std::uint32_t*>(&shared_.change[row][column]) = changes;
  std::int16_t* const estimate = component_.next.estimate.row(y) + x;
  std::uint8_t* const weight = component_.next.weight.row(y) + x;
  if (x + kFour <= component_.in.columns) {
    *reinterpret_cast<uint2*>(estimate) =
        uint2{static_cast<std::uint32_t>(estimates[0] | estimates[1] << 16),
              static_cast<std::uint32_t>(estimates[2] | estimates[3] << 16)};
    *reinterpret_cast<std::uint32_t*>(weight) =
        weights[0] | weights[1] << 8 | weights[2] << 16 | weights[3] << 24;
  } else {
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      if (x + i >= component_.in.columns) continue;
      estimate[i] = static_cast<std::int16_t>(estimates[i]);
      weight[i] = static_cast<std::uint8_t>(weights[i]);
    }
  }
}

/// Deviations of the components that are worked on at a time.
template <int kShiftX, int kShiftY>
struct PictureWords {
  using Others = TileWords<kTileColumns / 2, (kTileRows >> kShiftY)>;
  TileWords<kTileColumns, kTileRows> first;
  Others others[2];
};
/// Components that are alike come one after another.
template <>
struct PictureWords<0, 0> {
  TileWords<kTileColumns, kTileRows> first;
};

/// A block of threads has a tile of the first component and what covers it of the others, which
/// take its changes over. The others have 2^kShiftX and 2^kShiftY times fewer columns and rows;
/// where these are fewer, half of the threads has one of them each.
template <int kShiftX, int kShiftY>
__global__ void __launch_bounds__(kThreads, kBlocks)
    estimate_next_kernel(const __grid_constant__ DenoisePicture picture) {
  __shared__ Shared shared;
  __shared__ PictureWords<kShiftX, kShiftY> words;
  using First = Part<kTileColumns, kTileRows, kThreads>;
  wait_then_release();
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < denoise::kWeights) {
    shared.keep[thread] =
        static_cast<std::uint16_t>(denoise::fraction(picture.tables->weights.keep[thread]));
    shared.certainty[thread] =
        static_cast<std::uint16_t>(denoise::fraction(picture.tables->weights.certainty[thread]));
  }
#pragma unroll 1
  for (int c = 0; c < picture.count; ++c)
    shared.inverse[c].load(picture.components[c].noise->curves.inverse, thread);
  __syncthreads();
  if constexpr (kShiftX == 0) {
#pragma unroll 1
    for (int c = 0; c < picture.count; ++c) {
      // Words are read by all before the next ones are written.
      if (c != 0) __syncthreads();
      First part(picture, c, thread, words.first, shared);
      part.find();
      __syncthreads();
      part.update(c == 0);
    }
  } else {
    constexpr int kHalf = kThreads / 2;
    const int other = thread / kHalf;
    First first(picture, 0, thread, words.first, shared);
    Part<kTileColumns / 2, (kTileRows >> kShiftY), kHalf> part(picture, 1 + other, thread % kHalf,
                                                               words.others[other], shared);
    first.find();
    part.find();
    __syncthreads();
    first.update(true);
    __syncthreads();
    part.update(false);
  }
}

/// A thread for each sample of a component; those of the first set the blocks' vectors, too.
__global__ void __launch_bounds__(kThreads)
    estimate_start_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const auto x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const auto y = static_cast<int>(blockIdx.y);
  if (blockIdx.z == 0 && x < picture.block_columns && y < picture.block_rows)
    picture.vectors[y * picture.block_columns + x] = Vector{0, 0};
  if (x >= component.in.columns || y >= component.in.rows) return;
  component.next.estimate.row(y)[x] =
      static_cast<std::int16_t>(sample_at(component.in, picture.in_words, x, y));
  component.next.weight.row(y)[x] = 1;
}

}  // namespace

void estimate_next(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(
      dim3(parts(luma.columns, kTileColumns), parts(luma.rows, kTileRows)), dim3(kThreads), stream);
  const DenoiseComponent& last = picture.components[picture.count - 1];
  const auto kernel = last.shift_x == 0   ? &estimate_next_kernel<0, 0>
                      : last.shift_y == 0 ? &estimate_next_kernel<1, 0>
                                          : &estimate_next_kernel<1, 1>;
  check(cudaLaunchKernelEx(&config, kernel, picture), "launching the estimate");
}

void estimate_start(const DenoisePicture& picture, const LaunchDevice& device,
                    cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config =
      launch.config(dim3(parts(luma.columns, kThreads), static_cast<unsigned>(luma.rows),
                         static_cast<unsigned>(picture.count)),
                    dim3(kThreads), stream);
  check(cudaLaunchKernelEx(&config, estimate_start_kernel, picture),
        "launching the first estimate");
}

}  // namespace equalux::cuda
