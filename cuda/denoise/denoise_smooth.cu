#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/device/plane_pair.h"
#include "cuda/equalize/fused/fused_config.h"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr int kSmoothThreads = 256;
constexpr int kSmoothColumns = 2 * kLanes;
constexpr int kSmoothRows = 64;
constexpr int kSmoothWarps = kSmoothThreads / kLanes;
/// Rows, one below the other, of which a thread has two neighbouring samples.
constexpr int kThreadRows = kSmoothRows / kSmoothWarps;
/// Neighbours that help on each side.
constexpr int kSmoothReach = 2;
constexpr int kSmoothTileRows = kSmoothRows + 2 * kSmoothReach;
/// Pairs of samples in a row of a tile and what is around it.
constexpr int kPairs = kSmoothColumns / 2 + kSmoothReach;

struct SmoothShared {
  Pair estimates[kSmoothTileRows][kPairs];
  SharedCurve sigma;
  std::uint16_t left[denoise::kWeights];  // fractions
};

/// The estimates of a tile and two around it; beyond a plane its nearest ones.
__device__ __forceinline__ void load_tile(const NumberPlane<std::int16_t>& plane, int x0, int y0,
                                          SmoothShared& shared) {
  const auto thread = static_cast<int>(threadIdx.x);
  // As many pairs as lanes of all rows, then what is left of the rows.
  const auto load = [&](auto at) {
    const int lane = thread % kLanes;
#pragma unroll
    for (int k = 0; k < (kSmoothTileRows + kSmoothWarps - 1) / kSmoothWarps; ++k) {
      const int row = thread / kLanes + k * kSmoothWarps;
      if (row < kSmoothTileRows) shared.estimates[row][lane] = at(row, lane);
    }
    if (thread < kSmoothTileRows * (kPairs - kLanes)) {
      const int row = thread / (kPairs - kLanes);
      const int pair = kLanes + thread % (kPairs - kLanes);
      shared.estimates[row][pair] = at(row, pair);
    }
  };
  static_assert(kSmoothTileRows * (kPairs - kLanes) <= kSmoothThreads);
  if (x0 >= kSmoothReach && x0 + kSmoothColumns + kSmoothReach <= plane.columns &&
      y0 >= kSmoothReach && y0 + kSmoothRows + kSmoothReach <= plane.rows) {
    const std::int16_t* const first = plane.row(y0 - kSmoothReach) + x0 - kSmoothReach;
    load([&](int row, int pair) {
      return *reinterpret_cast<const Pair*>(first + row * plane.pitch + 2 * pair);
    });
  } else {
    load([&](int row, int pair) {
      const std::int16_t* const from =
          plane.row(nearest_place(y0 + row - kSmoothReach, plane.rows));
      const int x = x0 - kSmoothReach + 2 * pair;
      return pair_of(from[nearest_place(x, plane.columns)],
                     from[nearest_place(x + 1, plane.columns)]);
    });
  }
}

/// denoise::reach() of both estimates of a pair.
__device__ __forceinline__ Pair reaches(const SmoothShared& shared, Pair own, int left_weight,
                                        int right_weight, int spatial) {
  const auto of = [&](int estimate, int weight) {
    return denoise::reach(shared.sigma.at(estimate), shared.left[weight], spatial);
  };
  return pair_of(of(left_of(own), left_weight), of(right_of(own), right_weight));
}

/// Sums of denoise::pull() for both samples of a pair. With d cut off at +-r,
///
///     pull(d, r) = (2 d cut off at +-r) - d,
///
/// and cutting off is one instruction where r is added: the sums of both terms have as many r. They
/// are added up as words, whose halves part at last.
class Pulls {
 public:
  /// `one` is 1, and the compiler does not know: sums that are made by multiplications leave the
  /// unit that compares alone.
  __device__ __forceinline__ Pulls(Pair own, Pair reach, unsigned one)
      : one_(one),
        offset_(pair_of(left_of(reach) - left_of(own), right_of(reach) - right_of(own))),
        minus_(pair_of(-left_of(reach), -right_of(reach))),
        twice_(2 * reach) {}

  __device__ __forceinline__ void add(Pair neighbour) {
    const Pair once = __viaddmin_s16x2_relu(neighbour, offset_, twice_);
    // As C++ the compiler would gather the factors of 1 and add.
    asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(once_) : "r"(once), "r"(one_));
    clipped_ += __viaddmin_s16x2_relu(2 * once, minus_, twice_);
  }
  /// What both samples change by: denoise::times() of the sums and kNeighbourShare, found in the
  /// upper halves of twice the products.
  [[nodiscard]] __device__ __forceinline__ Pair shares() const {
    const auto share = [](int sum) {
      return static_cast<unsigned>(sum * (2 * denoise::kNeighbourShare) + denoise::kOne);
    };
    const std::uint32_t sum = clipped_ - once_;
    const int left = left_of(sum);
    return __byte_perm(share(left), share((static_cast<int>(sum) - left) >> 16), 0x7632);
  }

 private:
  unsigned one_;
  Pair offset_;
  Pair minus_;
  Pair twice_;
  std::uint32_t once_ = 0;
  std::uint32_t clipped_ = 0;
};

/// The five pairs of a row whose left samples are two to the left of a place up to two to its
/// right.
struct FivePairs {
  Pair at[5];

  __device__ __forceinline__ FivePairs(const SmoothShared& shared, int row, int pair) {
    at[0] = shared.estimates[row][pair];
    at[2] = shared.estimates[row][pair + 1];
    at[4] = shared.estimates[row][pair + 2];
    at[1] = between(at[0], at[2]);
    at[3] = between(at[2], at[4]);
  }
};

/// Hands out pairs one below the other, with what their neighbours pull them by: to
/// take(row, pair, change).
template <typename Take>
__device__ __forceinline__ void smooth_pairs(const SmoothShared& shared, int pair, int first,
                                             const Pair (&weights)[kThreadRows], int spatial,
                                             unsigned one, Take take) {
  // Rows come from above, and pull at those that they reach.
  FivePairs rows[5] = {{shared, first, pair},
                       {shared, first + 1, pair},
                       {shared, first + 2, pair},
                       {shared, first + 3, pair},
                       {shared, first + 4, pair}};
#pragma unroll
  for (int i = 0; i < kThreadRows; ++i) {
    const Pair own = rows[2].at[2];
    Pulls pulls(own, reaches(shared, own, left_of(weights[i]), right_of(weights[i]), spatial), one);
#pragma unroll
    for (int y = 0; y < 5; ++y) {
#pragma unroll
      for (int x = 0; x < 5; ++x) {
        if (denoise::is_neighbour(x - 2, y - 2)) pulls.add(rows[y].at[x]);
      }
    }
    take(i, own, pulls.shares());
#pragma unroll
    for (int y = 0; y < 4; ++y)
      rows[y] = rows[y + 1];
    if (i + 1 < kThreadRows) rows[4] = FivePairs(shared, first + i + 5, pair);
  }
}

/// Stores pairs of a component that are rounded plainly and of which nothing else is asked.
class PlainPairs {
 public:
  /// From column x and row y on, one below the other; `columns` of a pair exist.
  __device__ __forceinline__ PlainPairs(const DenoisePicture& picture,
                                        const Samples<std::uint8_t>& out, int x, int y, int columns)
      : at_(out.at(x, y)),
        stride_(out.stride),
        step_(out.step),
        both_(columns == 2),
        bytes_(picture.out_words.depth == 8),
        up_(denoise::kSampleBits - picture.out_words.depth),
        shift_(picture.out_words.shift),
        half_(0x10001U << (up_ - 1)),
        mask_((0x10001U << picture.out_words.depth) - 0x10001U) {
    const int word = bytes_ ? 1 : 2;
    together_ = both_ && out.step == word &&
                (reinterpret_cast<std::uintptr_t>(at_) | static_cast<std::uintptr_t>(stride_)) %
                        static_cast<unsigned>(2 * word) ==
                    0;
  }

  /// Pair i: own samples, and what they change by. Sums are 0 at least, and no more than white has.
  __device__ __forceinline__ void store(int i, Pair own, Pair change) const {
    std::uint8_t* const at = at_ + i * stride_;
    constexpr Pair kMost = 0x10001U * denoise::kSampleMost;
    const Pair sum = __viaddmin_s16x2_relu(own + half_, change, kMost);
    const Pair codes = sum >> up_ & mask_;
    if (bytes_ && together_) {
      *reinterpret_cast<std::uint16_t*>(at) =
          static_cast<std::uint16_t>(__byte_perm(codes, 0, 0x4420));
    } else if (bytes_) {
      at[0] = static_cast<std::uint8_t>(codes);
      if (both_) at[step_] = static_cast<std::uint8_t>(codes >> 16);
    } else if (together_) {
      *reinterpret_cast<Pair*>(at) = codes << shift_;
    } else {
      const Pair words = codes << shift_;
      at[0] = static_cast<std::uint8_t>(words);
      at[1] = static_cast<std::uint8_t>(words >> 8);
      if (both_) {
        at[step_] = static_cast<std::uint8_t>(words >> 16);
        at[step_ + 1] = static_cast<std::uint8_t>(words >> 24);
      }
    }
  }

 private:
  std::uint8_t* at_;
  std::ptrdiff_t stride_;
  int step_;
  bool both_;
  bool bytes_;
  bool together_ = false;
  int up_;
  int shift_;
  Pair half_;
  Pair mask_;
};

/// A sample, rounded.
__device__ __forceinline__ int rounded(const DenoisePicture& picture, int x, int y, int sample) {
  const int up = denoise::kSampleBits - picture.out_words.depth;
  const int row = picture.rows.first + picture.rows.step * y;
  const int threshold = rounding_threshold(picture.dither, x % 8, row % 8, up);
  return denoise::clamp((sample + threshold) >> up, 0, (1 << picture.out_words.depth) - 1);
}

__device__ __forceinline__ void store(const DenoisePicture& picture,
                                      const Samples<std::uint8_t>& samples, int x, int y,
                                      int code) {
  const denoise::Words& words = picture.out_words;
  std::uint8_t* const at = samples.at(x, y);
  if (words.depth == 8) {
    *at = static_cast<std::uint8_t>(code);
  } else {
    at[0] = static_cast<std::uint8_t>(code << words.shift);
    at[1] = static_cast<std::uint8_t>(code << words.shift >> 8);
  }
}

/// A sample that belongs to no component; as a word it stands in the upper byte.
__device__ __forceinline__ void copy_other(const DenoisePicture& picture, int x, int y) {
  std::uint8_t* const to = picture.copied_out.at(x, y);
  const std::uint8_t sample = *picture.copied_in.at(x, y);
  if (picture.leaves_fractions) {
    to[0] = 0;
    to[1] = sample;
  } else {
    *to = sample;
  }
}

/// True where samples are smoothed and rounded plainly, and all that is written.
bool is_plain(const DenoisePicture& picture) {
  return picture.strength == denoise::kOne && picture.spatial != 0 &&
         picture.dither == Dither::none && picture.copied_out.columns == 0;
}

/// A block of threads has a tile of a component, a warp some of its rows. A thread reads of a
/// frame's samples only those that it writes: `in` may be `out`.
template <bool kPlain>
__global__ void __launch_bounds__(kSmoothThreads)
    denoise_smooth_kernel(const __grid_constant__ DenoisePicture picture) {
  __shared__ SmoothShared shared;
  wait_then_release();
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const KnownPlanes& known = component.next;
  const int x0 = static_cast<int>(blockIdx.x) * kSmoothColumns;
  const int y0 = static_cast<int>(blockIdx.y) * kSmoothRows;
  if (x0 >= component.in.columns || y0 >= component.in.rows) return;
  const auto thread = static_cast<int>(threadIdx.x);
  shared.sigma.load(component.noise->curves.sigma, thread);
  if (thread < denoise::kWeights) {
    shared.left[thread] =
        static_cast<std::uint16_t>(denoise::fraction(picture.tables->weights.left[thread]));
  }
  const bool passes = !kPlain && picture.strength == 0;
  if (!passes) load_tile(known.estimate, x0, y0, shared);
  __syncthreads();
  const int pair = thread % kLanes;
  const int x = x0 + 2 * pair;
  const int first = thread / kLanes * kThreadRows;
  const int rows = min(kThreadRows, component.in.rows - y0 - first);
  const int columns = min(2, component.in.columns - x);
  if (rows <= 0 || columns <= 0) return;
  const bool smooths = kPlain || (!passes && picture.spatial != 0);
  const auto one = static_cast<unsigned>(min(picture.count, 1));
  Pair weights[kThreadRows];
  if (smooths) {
    const std::uint8_t* const top = known.weight.row(y0 + first) + x;
#pragma unroll
    for (int i = 0; i < kThreadRows; ++i) {
      const std::uint8_t* const at = top + min(i, rows - 1) * known.weight.pitch;
      const int both =
          columns == 2 ? *reinterpret_cast<const std::uint16_t*>(at) : static_cast<int>(at[0]);
      weights[i] = __byte_perm(static_cast<unsigned>(both), 0, 0x4140);
    }
  }
  if constexpr (kPlain) {
    const PlainPairs plain(picture, component.out, x, y0 + first, columns);
    smooth_pairs(shared, pair, first, weights, picture.spatial, one,
                 [&](int i, Pair own, Pair change) {
                   if (i < rows) plain.store(i, own, change);
                 });
    return;
  }
  const auto finish = [&](int i, Pair own, Pair change) {
    const int y = y0 + first + i;
    if (i >= rows) return;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (k >= columns) continue;
      int sample = k == 0 ? left_of(own) + left_of(change) : right_of(own) + right_of(change);
      if (picture.strength < denoise::kOne) {
        const int now = sample_at(component.in, picture.in_words, x + k, y);
        sample = passes ? now : now + denoise::times(sample - now, picture.strength);
      }
      store(picture, component.out, x + k, y, rounded(picture, x + k, y, sample));
      if (blockIdx.z == 0 && x + k < picture.copied_out.columns) copy_other(picture, x + k, y);
    }
  };
  if (smooths) {
    smooth_pairs(shared, pair, first, weights, picture.spatial, one, finish);
  } else {
#pragma unroll 1
    for (int i = 0; i < kThreadRows; ++i)
      finish(i, passes ? 0 : shared.estimates[first + i + kSmoothReach][pair + kSmoothReach / 2],
             0);
  }
}

/// Bytes that a thread copies, one after another.
constexpr int kCopied = 16;
constexpr int kCopyThreads = 128;

struct FrameCopy {
  PlanePair planes[kMaxPlanes];
  int bytes[kMaxPlanes];  ///< of a row
  int rows[kMaxPlanes];
};

/// Rows of the grid are rows of a plane, those of all planes one after another in z.
__global__ void __launch_bounds__(kCopyThreads)
    frame_copy_kernel(const __grid_constant__ FrameCopy copy) {
  wait_then_release();
  const auto first = static_cast<int>(blockIdx.x * kCopyThreads + threadIdx.x) * kCopied;
  const auto row = static_cast<int>(blockIdx.y);
  if (row >= copy.rows[blockIdx.z]) return;
  const PlanePair& plane = copy.planes[blockIdx.z];
  for (int i = first; i < min(first + kCopied, copy.bytes[blockIdx.z]); ++i)
    plane.to(row)[i] = plane.from(row)[i];
}

}  // namespace

void denoise_smooth(const DenoisePicture& picture, const LaunchDevice& device,
                    cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config =
      launch.config(dim3(parts(luma.columns, kSmoothColumns), parts(luma.rows, kSmoothRows),
                         static_cast<unsigned>(picture.count)),
                    dim3(kSmoothThreads), stream);
  const auto kernel =
      is_plain(picture) ? &denoise_smooth_kernel<true> : &denoise_smooth_kernel<false>;
  check(cudaLaunchKernelEx(&config, kernel, picture), "launching the smoothing");
}

void denoise_copy(const ConstImageView& in, const ImageView& out, const LaunchDevice& device,
                  cudaStream_t stream) {
  FrameCopy copy{};
  const int planes = traits(in.desc.format).planes;
  for (int plane = 0; plane < planes; ++plane) {
    copy.planes[plane] = PlanePair::of_plane(in, out, plane);
    copy.bytes[plane] = static_cast<int>(row_bytes(in.desc, plane));
    copy.rows[plane] = plane_rows(in.desc, plane);
  }
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config =
      launch.config(dim3(parts(copy.bytes[0], kCopied * kCopyThreads),
                         static_cast<unsigned>(in.desc.height), static_cast<unsigned>(planes)),
                    dim3(kCopyThreads), stream);
  check(cudaLaunchKernelEx(&config, frame_copy_kernel, copy), "launching the copy of a frame");
}

}  // namespace equalux::cuda
