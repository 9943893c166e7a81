#include <type_traits>

#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/device/plane_pair.h"
#include "cuda/device/warp.h"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr int kSmoothThreads = 256;
constexpr int kSmoothColumns = 2 * kLanes;
constexpr int kSmoothRows = 64;
constexpr int kSmoothWarps = kSmoothThreads / kLanes;
/// Rows of a thread, one below the other, with two neighbouring samples each. Each row that is
/// loaded serves five of them.
constexpr int kThreadRows = kSmoothRows / kSmoothWarps;
/// Neighbours within two rows or columns count.
constexpr int kSmoothReach = 2;
constexpr int kSmoothTileRows = kSmoothRows + 2 * kSmoothReach;
/// Pairs of samples in a row of a tile with two columns on each side.
constexpr int kPairs = kSmoothColumns / 2 + kSmoothReach;

struct SmoothShared {
  Pair estimates[kSmoothTileRows][kPairs];
  CurveOfLevels sigma;
  std::uint32_t left[denoise::kWeights];  ///< noise left by weight: denoise::fraction() times 2
};

/// Copies a tile with two samples around it into shared memory, by at(row, pair). Each warp loads
/// kRows rows of as many pairs as it has lanes, coalesced; then half of the warps load the rows
/// below, the other half the pairs at the right. All loads of a thread are in flight at a time.
template <typename At>
__device__ __forceinline__ void load_pairs(SmoothShared& shared, const At& at) {
  constexpr int kRows = kSmoothRows / kSmoothWarps;
  constexpr int kRest = kPairs - kLanes;
  static_assert(kSmoothTileRows - kSmoothRows <= kSmoothWarps / 2);
  static_assert(kSmoothRows * kRest <= kSmoothThreads / 2);
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / kLanes;
  const int lane = thread % kLanes;
  Pair pairs[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k)
    pairs[k] = at(warp + k * kSmoothWarps, lane);
  if (warp < kSmoothTileRows - kSmoothRows) {
    const int row = kSmoothRows + warp;
    shared.estimates[row][lane] = at(row, lane);
    if (lane < kRest) shared.estimates[row][kLanes + lane] = at(row, kLanes + lane);
  } else if (warp >= kSmoothWarps / 2) {
    const int place = thread - kSmoothThreads / 2;
    const int pair = kLanes + place % kRest;
    shared.estimates[place / kRest][pair] = at(place / kRest, pair);
  }
#pragma unroll
  for (int k = 0; k < kRows; ++k)
    shared.estimates[warp + k * kSmoothWarps][lane] = pairs[k];
}

/// Returns true where the tile at column x0 and row y0 and two samples around it lie inside the
/// plane.
__device__ __forceinline__ bool lies_inside(const NumberPlane<std::int16_t>& plane, int x0,
                                            int y0) {
  return x0 >= kSmoothReach && x0 + kSmoothColumns + kSmoothReach <= plane.columns &&
         y0 >= kSmoothReach && y0 + kSmoothRows + kSmoothReach <= plane.rows;
}

/// Loads the estimates of a tile and two around it. Places beyond the plane's edge repeat the
/// nearest one.
__device__ __forceinline__ void load_tile(const NumberPlane<std::int16_t>& plane, int x0, int y0,
                                          SmoothShared& shared) {
  if (lies_inside(plane, x0, y0)) {
    const auto* const first =
        reinterpret_cast<const char*>(plane.row(y0 - kSmoothReach) + x0 - kSmoothReach);
    const int pitch = plane.pitch * static_cast<int>(sizeof(std::int16_t));
    load_pairs(shared, [&](int row, int pair) {
      return *reinterpret_cast<const Pair*>(first + (row * pitch + 4 * pair));
    });
  } else {
    load_pairs(shared, [&](int row, int pair) {
      const std::int16_t* const from =
          plane.row(nearest_place(y0 + row - kSmoothReach, plane.rows));
      const int x = x0 - kSmoothReach + 2 * pair;
      return pair_of(from[nearest_place(x, plane.columns)],
                     from[nearest_place(x + 1, plane.columns)]);
    });
  }
}

/// Turns two weights in two bytes into byte offsets in SmoothShared::left.
__device__ __forceinline__ unsigned places_of(unsigned weights) {
  constexpr unsigned kEntryBytes = sizeof(SmoothShared{}.left[0]);
  static_assert(denoise::kWeights * kEntryBytes <= 256);
  return weights * kEntryBytes;
}

/// denoise::reach() of both estimates of a pair; `weights` are the byte offsets of their weights.
/// Products are doubled, so that a shift by 15 becomes the upper half of a word.
__device__ __forceinline__ Pair reaches(const SmoothShared& shared, Pair own, unsigned weights,
                                        unsigned spatial) {
  // The limits of reach() on noise never apply to the noise that is left of kMostSigma.
  constexpr unsigned kMostLeft = 2 * denoise::fraction(255);
  static_assert((denoise::kMostSigma * kMostLeft + denoise::kOne) >> 16 <= denoise::kMostNoiseLeft);
  static_assert(16ULL * denoise::kMostNoiseLeft * denoise::kMostSpatial + denoise::kOne <
                1ULL << 31);
  // Shift from a level's upper six bits to the byte offset of their line.
  constexpr int kDown = 5;
  constexpr unsigned kPlaces = 63 * CurveOfLevels::kLineBytes;
  static_assert(CurveOfLevels::kLineBytes == 1 << (8 - kDown));
  const auto of = [&](int level, unsigned line, unsigned weight) {
    const auto sigma = static_cast<unsigned>(shared.sigma.at_place(level, line));
    const unsigned noise = (sigma * entry_at(shared.left, weight) + denoise::kOne) >> 16;
    return noise * (16 * spatial) + denoise::kOne;
  };
  constexpr unsigned kLevel = CurveOfLevels::kLevelMask;
  const unsigned left = of(static_cast<int>(own & kLevel), own >> kDown & kPlaces, weights & 255);
  const unsigned right =
      of(static_cast<int>(own >> 16 & kLevel), own >> (16 + kDown) & kPlaces, weights >> 8);
  return __vminu2(__byte_perm(left, right, 0x7632), twice(denoise::kMostReach));
}

/// Sums of denoise::pull() for both samples of a pair. With clip(d) = d limited to +-r,
///
///     pull(d, r) = clip(2 clip(d)) - clip(d),
///
/// and clip(d) + r is a single instruction, an addition with a minimum and a maximum of 0. Sums of
/// both terms have r added equally often, so it cancels. Both halves are summed as one word, and
/// parted at the end: halves of the sums may carry, those of their difference fit in 16 bits.
class Pulls {
  static_assert(denoise::kNeighbours * denoise::kMostReach / 2 < 1 << 15);

 public:
  /// `one` is 1, unknown to the compiler: additions as multiplications by it run in another unit
  /// than minima, which are the limit here.
  __device__ __forceinline__ Pulls(Pair own, Pair reach, unsigned one)
      : one_(one),
        offset_((reach + kSigns - own) ^ kSigns),
        minus_((kSigns - reach) ^ kSigns),
        twice_(2 * reach) {}

  __device__ __forceinline__ void add(Pair neighbour) {
    const Pair once = __viaddmin_s16x2_relu(neighbour, offset_, twice_);
    add_to(once_, once);
    add_to(clipped_, __viaddmin_s16x2_relu(2 * once, minus_, twice_));
  }
  /// Change of both samples: denoise::times() of the sum and kNeighbourShare. Products are doubled,
  /// so that a shift by 15 becomes the upper half of a word.
  [[nodiscard]] __device__ __forceinline__ Pair shares() const {
    const auto share = [](int sum) {
      return static_cast<unsigned>(sum * (2 * denoise::kNeighbourShare) + denoise::kOne);
    };
    const std::uint32_t sum = clipped_ - once_;
    const int left = left_of(sum);
    return __byte_perm(share(left), share((static_cast<int>(sum) - left) >> 16), 0x7632);
  }

 private:
  /// Sign bits, set so that no half borrows from the other or carries into it.
  static constexpr Pair kSigns = twice(0x8000);

  __device__ __forceinline__ void add_to(std::uint32_t& sum, Pair pair) const {
    // Assembly, as the compiler would factor out `one` and add in the unit that is busy.
    asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(one_));
  }

  unsigned one_;
  Pair offset_;
  Pair minus_;
  Pair twice_;
  std::uint32_t once_ = 0;
  std::uint32_t clipped_ = 0;
};

/// Five pairs of a row that begin two samples left of a pair up to two samples right of it.
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

/// Loads the weights of a thread's pairs, one below the other from column x and row y on, as byte
/// offsets. `rows` exist; of a pair only the left one unless `both`.
__device__ __forceinline__ void load_weights(const NumberPlane<std::uint8_t>& plane, int x, int y,
                                             int rows, bool both,
                                             unsigned (&weights)[kThreadRows]) {
  const std::uint8_t* const top = plane.row(y) + x;
#pragma unroll
  for (int i = 0; i < kThreadRows; ++i) {
    const std::uint8_t* const at = top + min(i, rows - 1) * plane.pitch;
    weights[i] = places_of(both ? *reinterpret_cast<const std::uint16_t*>(at) : at[0]);
  }
}

/// Calls take(row, pair, change) for a thread's pairs, one below the other, with the sum of its
/// neighbours' pulls.
template <typename Take>
__device__ __forceinline__ void smooth_pairs(const SmoothShared& shared, int pair, int first,
                                             const unsigned (&weights)[kThreadRows],
                                             unsigned spatial, unsigned one, Take take) {
  // Five rows in registers that move up by one for each row of output.
  FivePairs rows[5] = {{shared, first, pair},
                       {shared, first + 1, pair},
                       {shared, first + 2, pair},
                       {shared, first + 3, pair},
                       {shared, first + 4, pair}};
#pragma unroll
  for (int i = 0; i < kThreadRows; ++i) {
    const Pair own = rows[2].at[2];
    Pulls pulls(own, reaches(shared, own, weights[i], spatial), one);
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

/// Kinds of output, each a kernel of its own.
enum class Output {
  bytes,  ///< 8-bit codes rounded without dither, with full strength
  words,  ///< 16-bit words at even addresses, rounded without dither, with full strength
  any,
};

/// Returns true where both samples of a pair lie in one aligned word.
template <Output kOutput>
__device__ __forceinline__ bool lie_together(const Samples<std::uint8_t>& out) {
  constexpr int kBytes = kOutput == Output::bytes ? 1 : 2;
  return out.step == kBytes &&
         (reinterpret_cast<std::uintptr_t>(out.first) | static_cast<std::uintptr_t>(out.stride)) %
                 static_cast<unsigned>(2 * kBytes) ==
             0;
}

/// Stores a thread's pairs of a component, one below the other.
template <Output kOutput, bool kTogether>
class PlainPairs {
 public:
  /// Begins at column x and row y. `both` samples of a pair exist.
  __device__ __forceinline__ PlainPairs(const denoise::Words& words,
                                        const Samples<std::uint8_t>& out, int x, int y, bool both)
      : at_(out.at(x, y)),
        stride_(out.stride),
        step_(out.step),
        both_(both),
        up_(kBytes ? denoise::kSampleBits - 8 : denoise::kSampleBits - words.depth),
        shift_(kBytes ? 0 : words.shift),
        half_(twice(1U << (up_ - 1))),
        mask_(twice((1U << (denoise::kSampleBits - up_)) - 1)) {}

  /// Stores the next pair from its samples and their change. Sums are clamped to 0 and white.
  __device__ __forceinline__ void store(Pair own, Pair change) {
    const Pair sum = __viaddmin_s16x2_relu(own + half_, change, twice(denoise::kSampleMost));
    if constexpr (kBytes) {
      store_bytes(sum >> up_);
    } else {
      store_words((sum >> up_ & mask_) << shift_);
    }
    at_ += stride_;
  }

 private:
  static constexpr bool kBytes = kOutput == Output::bytes;

  /// `codes` are in the lower byte of each half; the upper bytes hold anything.
  __device__ __forceinline__ void store_bytes(Pair codes) const {
    if (kTogether && both_) {
      *reinterpret_cast<std::uint16_t*>(at_) =
          static_cast<std::uint16_t>(__byte_perm(codes, 0, 0x4420));
    } else {
      at_[0] = static_cast<std::uint8_t>(codes);
      if (both_) at_[step_] = static_cast<std::uint8_t>(codes >> 16);
    }
  }
  __device__ __forceinline__ void store_words(Pair words) const {
    if (kTogether && both_) {
      *reinterpret_cast<Pair*>(at_) = words;
    } else {
      *reinterpret_cast<std::uint16_t*>(at_) = static_cast<std::uint16_t>(words);
      if (both_)
        *reinterpret_cast<std::uint16_t*>(at_ + step_) = static_cast<std::uint16_t>(words >> 16);
    }
  }

  std::uint8_t* at_;
  std::ptrdiff_t stride_;
  int step_;
  bool both_;
  int up_;
  int shift_;
  Pair half_;
  Pair mask_;
};

/// Rounds a sample to the depth of the output, with the option's dither.
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

/// Copies a sample that belongs to no component, as alpha. In a 16-bit word it is the upper byte.
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

bool has_even_addresses(const Samples<std::uint8_t>& samples) {
  return (reinterpret_cast<std::uintptr_t>(samples.first) |
          static_cast<std::uintptr_t>(samples.stride) | static_cast<unsigned>(samples.step)) %
             2 ==
         0;
}

Output output_of(const DenoisePicture& picture) {
  const bool plain = picture.strength == denoise::kOne && picture.spatial != 0 &&
                     picture.dither == Dither::none && picture.copied_out.columns == 0;
  if (!plain) return Output::any;
  if (picture.out_words.depth == 8) return Output::bytes;
  for (int c = 0; c < picture.count; ++c) {
    if (!has_even_addresses(picture.components[c].out)) return Output::any;
  }
  return Output::words;
}

/// Spatial smoothing of the estimates, and output of the picture.
///
/// A block has a tile of 64 x 64 samples of a component; its 8 warps have 8 rows each, a lane two
/// neighbouring samples of those rows, so that 12 neighbours in five rows cost 3 loads of shared
/// memory a row. Shared memory, 9.7 KiB, has the tile with two samples around it in pairs, without
/// bank conflicts, and the tables. Reads 2.3 bytes of estimate and 1 byte of weight for each sample
/// and writes its code: bound by instructions, which work on packed pairs. The arithmetic is that
/// of denoise::pull() in 16-bit halves that neither overflow nor borrow. A thread reads only those
/// samples of the frame that it writes, so `in` may be `out`.
///
/// Blocks of the components of a tile follow each other, so that samples that take turns in memory
/// meet in the L2 cache: written one component after the other, each would write parts of all
/// sectors of the frame to memory.
template <Output kOutput>
__global__ void __launch_bounds__(kSmoothThreads)
    denoise_smooth_kernel(const __grid_constant__ DenoisePicture picture) {
  constexpr bool kPlain = kOutput != Output::any;
  __shared__ SmoothShared shared;
  wait_then_release();
  const auto number = static_cast<int>(blockIdx.x);
  const DenoiseComponent& component = picture.components[number];
  const KnownPlanes& known = component.next;
  const int x0 = static_cast<int>(blockIdx.y) * kSmoothColumns;
  const int y0 = static_cast<int>(blockIdx.z) * kSmoothRows;
  if (x0 >= component.in.columns || y0 >= component.in.rows) return;
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < CurveOfLevels::kEntries) shared.sigma.load(component.noise->curves.sigma, thread);
  if (thread < denoise::kWeights) {
    shared.left[thread] =
        static_cast<unsigned>(2 * denoise::fraction(picture.tables->weights.left[thread]));
  }
  const bool passes = !kPlain && picture.strength == 0;
  if (!passes) load_tile(known.estimate, x0, y0, shared);
  __syncthreads();
  const int pair = thread % kLanes;
  const int first = thread / kLanes * kThreadRows;
  const int x = x0 + 2 * pair;
  const int y = y0 + first;
  const int rows = min(kThreadRows, component.in.rows - y);
  const int columns = min(2, component.in.columns - x);
  if (rows <= 0 || columns <= 0) return;
  const auto one = static_cast<unsigned>(min(picture.count, 1));
  const auto spatial = static_cast<unsigned>(picture.spatial);
  unsigned weights[kThreadRows];
  if constexpr (kPlain) {
    const auto smooth = [&](auto together, int count, bool both) {
      load_weights(known.weight, x, y, count, both, weights);
      PlainPairs<kOutput, together()> plain(picture.out_words, component.out, x, y, both);
      smooth_pairs(shared, pair, first, weights, spatial, one, [&](int i, Pair own, Pair change) {
        if (i < count) plain.store(own, change);
      });
    };
    const bool whole =
        x0 + kSmoothColumns <= component.in.columns && y0 + kSmoothRows <= component.in.rows;
    if (!whole) {
      smooth(std::false_type{}, rows, columns == 2);
    } else if (lie_together<kOutput>(component.out)) {
      smooth(std::true_type{}, kThreadRows, true);
    } else {
      smooth(std::false_type{}, kThreadRows, true);
    }
    return;
  }
  const auto finish = [&](int i, Pair own, Pair change) {
    if (i >= rows) return;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (k >= columns) continue;
      int sample = k == 0 ? left_of(own) + left_of(change) : right_of(own) + right_of(change);
      if (picture.strength < denoise::kOne) {
        const int now = sample_at(component.in, picture.in_words, x + k, y + i);
        sample = passes ? now : now + denoise::times(sample - now, picture.strength);
      }
      store(picture, component.out, x + k, y + i, rounded(picture, x + k, y + i, sample));
      if (number == 0 && x + k < picture.copied_out.columns) copy_other(picture, x + k, y + i);
    }
  };
  if (!passes && picture.spatial != 0) {
    load_weights(known.weight, x, y, rows, columns == 2, weights);
    smooth_pairs(shared, pair, first, weights, spatial, one, finish);
  } else {
#pragma unroll 1
    for (int i = 0; i < kThreadRows; ++i)
      finish(i, passes ? 0 : shared.estimates[first + i + kSmoothReach][pair + kSmoothReach / 2],
             0);
  }
}

/// Bytes of a row that a thread copies.
constexpr int kCopied = 16;
constexpr int kCopyThreads = 128;

struct FrameCopy {
  PlanePair planes[kMaxPlanes];
  int bytes[kMaxPlanes];  ///< of a row
  int rows[kMaxPlanes];
};

/// Copies a frame, rows with any stride, byte by byte: 16 bytes a thread; y is the row, z the
/// plane. Used for a strength of 0 only.
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
  auto kernel = &denoise_smooth_kernel<Output::any>;
  if (output_of(picture) == Output::bytes) kernel = &denoise_smooth_kernel<Output::bytes>;
  if (output_of(picture) == Output::words) kernel = &denoise_smooth_kernel<Output::words>;
  const dim3 grid(static_cast<unsigned>(picture.count), parts(luma.columns, kSmoothColumns),
                  parts(luma.rows, kSmoothRows));
  launch_early(device, "launching the smoothing", kernel, grid, dim3(kSmoothThreads), stream,
               picture);
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
  const dim3 grid(parts(copy.bytes[0], kCopied * kCopyThreads),
                  static_cast<unsigned>(in.desc.height), static_cast<unsigned>(planes));
  launch_early(device, "launching the copy of a frame", frame_copy_kernel, grid, dim3(kCopyThreads),
               stream, copy);
}

}  // namespace equalux::cuda
