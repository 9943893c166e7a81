#include <type_traits>

#include <cuda_fp16.h>

#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/device/warp.h"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// Deviations within two rows and columns of a sample decide how much it has changed: 5 x 5.
constexpr int kReach = 2;
constexpr int kAcross = 2 * kReach + 1;
/// Columns of a strip, down which a warp walks row by row. A lane has kFour neighbouring columns of
/// the first component, or two of each of both others where these have half as many. The first lane
/// and the last one only have deviations for their neighbours' sums, and store nothing.
constexpr int kStripColumns = (kLanes - 2) * kFour;
constexpr int kMostStripRows = 32;
constexpr int kLeastStripRows = 8;
/// Rows of motion blocks that a strip and the rows around it reach.
constexpr int kBlocksDown = 4;
static_assert((denoise::kBlock + kMostStripRows + 2 * kReach - 2) / denoise::kBlock < kBlocksDown);
static_assert((denoise::kBlock + kMostStripRows + 4 * kReach - 4) / denoise::kBlock < kBlocksDown);
/// Least strips, of a warp each, that a multiprocessor holds at a time: other warps hide the
/// latency of a row's loads. Only for the compiler; estimate_strips() asks the device.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
constexpr int kStrips = 16;  // multiprocessors of 7.5 and 8.6 hold 16 blocks at most
#else
constexpr int kStrips = 24;
#endif
constexpr int kStartThreads = 256;

/// Layout of a lane's four samples.
enum class Slots {
  neighbours,  ///< neighbouring samples of one component
  halves,      ///< two neighbouring samples of each of two components
};

/// Access to a lane's samples in the frame.
enum class Source {
  words,   ///< aligned words of bytes, each read by one load
  single,  ///< one load for each sample, of any depth and step
};

/// Position of a strip in the picture.
enum class Place {
  inside,  ///< all columns of all lanes exist
  edge,
};

/// Least and greatest of signed numbers, in each half of a pair.
__device__ __forceinline__ Pair least(Pair a, Pair b) {
  return __vmins2(a, b);
}
__device__ __forceinline__ Pair greatest(Pair a, Pair b) {
  return __vmaxs2(a, b);
}

/// Pair as two half-precision numbers. The bits of a whole number n up to 2047 are those of the
/// half n x 2^-24, the least that there is. So instructions for halves add deviations and take
/// magnitudes exactly, without conversion.
__device__ __forceinline__ __half2 halves_of(Pair pair) {
  return *reinterpret_cast<const __half2*>(&pair);
}
__device__ __forceinline__ Pair bits_of(__half2 halves) {
  return *reinterpret_cast<const Pair*>(&halves);
}
/// -number x 2^-24 in both halves.
__device__ __forceinline__ __half2 minus(unsigned number) {
  return halves_of(twice(0x8000U | number));
}

/// Sign bit of each byte, in all eight bits of that byte.
__device__ __forceinline__ std::uint32_t signs_of_bytes(std::uint32_t bytes) {
  std::uint32_t signs = 0;
  asm("prmt.b32 %0, %1, %1, 0xba98;" : "=r"(signs) : "r"(bytes));
  return signs;
}

/// What denoise::next_weight() adds to each of four weights, 0 to 31: 0 where a change is kRepeated
/// and the weight is not 0, otherwise 1.
__device__ __forceinline__ std::uint32_t grown(std::uint32_t changes, std::uint32_t weights) {
  constexpr std::uint32_t kOnes = 0x01010101U * denoise::kRepeated;
  constexpr std::uint32_t kBelowSign = 0x7F7F7F7FU;
  // The sign bit of a byte is set in `other` where the change is not kRepeated, and in `some` where
  // the weight is not 0.
  const std::uint32_t differing = changes ^ kOnes;
  const std::uint32_t other = ((differing & kBelowSign) + kBelowSign) | differing;
  const std::uint32_t some = weights + kBelowSign;
  return (other | ~some) >> 7 & 0x01010101U;
}

/// Multiplies by 16. The compiler would shift, in the unit that minima and byte permutations
/// already keep busy; a multiplication runs beside it.
__device__ __forceinline__ int sixteen_times(int number) {
  int product = 0;
  asm("mul.lo.s32 %0, %1, 16;" : "=r"(product) : "r"(number));
  return product;
}

/// Shared memory of a strip: under 6 KiB.
struct StripShared {
  std::uint32_t change[kMostStripRows][kLanes];  ///< changes of the first component, a byte for
                                                 ///< each sample
  CurveOfLevels inverse[kMostComponents];
  std::uint32_t share[denoise::kWeights];  ///< share of a sample in the new estimate by weight, in
                                           ///< 1 / 2^16
  std::uint8_t certainty[denoise::kWeights];
};

/// Loads of a lane's four samples of a row, not yet decoded: they are under way while the row
/// before is worked on.
template <Source kSource>
struct Loaded {
  static constexpr int kWords = kSource == Source::words ? 2 : kFour;
  std::uint32_t codes[kWords];
  Pair estimates[2];
  std::uint32_t weights[2];
  int gain;  ///< of the light, in the block that the samples belong to
};

/// Decoded samples of a lane in a row, kept until the deviations two rows below are there.
struct Known {
  Pair estimates[2];
  Pair differences[2];  ///< samples less estimates
  std::uint32_t weights;
};

/// Sums over five rows of deviations and of their magnitudes, by column.
struct Sums {
  __half2 plain[2];
  __half2 magnitudes[2];
};

/// Address of row y of a plane whose rows are `bytes` apart.
template <typename T>
__device__ __forceinline__ T* row_at(T* first, int y, int bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + wide_product(y, bytes));
}

/// Row or column of the motion block that a row or column of a component belongs to.
__device__ __forceinline__ int block_of(int place, int shift) {
  return static_cast<int>(static_cast<unsigned>(place << shift) / denoise::kBlock);
}

/// Work of a warp on one component, or on two components of half as many columns.
template <Slots kSlots, Source kSource, Place kPlace>
class Strip {
 public:
  __device__ __forceinline__ Strip(const DenoisePicture& picture, int number, int rows,
                                   StripShared& shared);

  /// Walks down the strip. `first`: this is the first component, whose changes are kept in shared
  /// memory for the others.
  __device__ __forceinline__ void walk(bool first);

 private:
  static constexpr bool kHalved = kSlots == Slots::halves;
  static constexpr bool kEdge = kPlace == Place::edge;
  static constexpr int kParts = kHalved ? 2 : 1;  // components
  static constexpr int kOwn = kFour / kParts;     // columns of each component

  /// State of the walk in registers. The newest row is last.
  struct Walk {
    Loaded<kSource> next;
    Known known[kReach + 1];
    __half2 deviations[kAcross][2] = {};
    Sums sums{};
  };

  __device__ __forceinline__ void find_places();
  __device__ __forceinline__ void find_blocks();
  __device__ __forceinline__ void choose_planes(int y);
  __device__ __forceinline__ void load(int row, Loaded<kSource>& loaded);
  __device__ __forceinline__ Pair codes_of(const Loaded<kSource>& loaded, int pair) const;
  __device__ __forceinline__ void find(const Loaded<kSource>& loaded, Known& known,
                                       __half2 (&deviations)[2]) const;
  __device__ __forceinline__ void add_across(const __half2 (&own)[2], __half2 (&sums)[2]) const;
  __device__ __forceinline__ void update(bool first, int row, const Sums& sums, const Known& known,
                                         const __half2 (&own)[2]);
  [[nodiscard]] __device__ __forceinline__ Pair covered_change(int row, int pair) const;
  /// Components of half as many columns are chroma.
  [[nodiscard]] __device__ __forceinline__ bool is_chroma() const {
    return kHalved || component_.chroma;
  }
  [[nodiscard]] __device__ __forceinline__ Pair repeated(__half2 magnitudes) const;
  __device__ __forceinline__ void keep_change(int row, const Pair (&changes)[2]);
  __device__ __forceinline__ void store(int y, const Pair (&estimates)[2],
                                        std::uint32_t weights) const;

  const DenoisePicture& picture_;
  const DenoiseComponent& component_;
  int number_;
  int lane_;
  int x_;       ///< first column of the lane; may lie outside the picture
  int y_;       ///< first row of the strip
  int rows_;    ///< rows of the strip that exist
  int column_;  ///< first column that the lane reads: x_ clamped into the picture
  StripShared& shared_;
  const std::uint8_t* codes_[kSource == Source::words ? 2 : 1];
  int offsets_[kSource == Source::words ? 1 : kFour];
  const std::int16_t* estimates_[kParts];
  const std::uint8_t* weights_[kParts];
  std::uint32_t code_selectors_[2];  ///< byte selectors for __byte_perm: bytes of a pair of codes
  std::uint32_t pair_selectors_[2];  ///< byte selectors of a pair of estimates
  std::uint32_t weight_selector_;
  int strides_[kParts];  ///< strides of the codes
  std::int16_t* next_estimates_[kParts];
  std::uint8_t* next_weights_[kParts];
  bool stores_;  ///< the lane has columns to store
  std::uint32_t most_;
  /// Motion blocks of the lane's columns, down the strip.
  int first_block_;          ///< row of the first one
  std::uint32_t moved_ = 0;  ///< a bit for each that has moved
  Pair gains_[kBlocksDown / 2] = {};
  int block_ = -1;  ///< the one that is worked on
  int gain_ = 0;
};

template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ Strip<kSlots, kSource, kPlace>::Strip(const DenoisePicture& picture,
                                                                 int number, int rows,
                                                                 StripShared& shared)
    : picture_(picture),
      component_(picture.components[number]),
      number_(number),
      lane_(static_cast<int>(threadIdx.x) % kLanes),
      x_((static_cast<int>(blockIdx.x) * kStripColumns + (lane_ - 1) * kFour) / kParts),
      y_(static_cast<int>(blockIdx.y) * rows >> component_.shift_y),
      rows_(min(rows >> component_.shift_y, component_.in.rows - y_)),
      shared_(shared),
      stores_(lane_ != 0 && lane_ != kLanes - 1 && x_ < component_.in.columns),
      most_(static_cast<std::uint32_t>(picture.most) * 0x01010101U) {
  find_places();
  find_blocks();
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    const KnownPlanes& next = picture.components[number + k].next;
    strides_[k] = static_cast<int>(picture.components[number + k].in.stride);
    next_estimates_[k] = next.estimate.first + x_;
    next_weights_[k] = next.weight.first + x_;
  }
}

template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::find_places() {
  const Samples<const std::uint8_t>& in = component_.in;
  const int last = in.columns - 1;
  column_ = kEdge ? min(max(x_, 0), last / kOwn * kOwn) : x_;
  int place[kOwn];  // columns of the lane's samples, relative to column_
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
    place[i] = kEdge ? nearest_place(x_ + i, in.columns) - column_ : i;
  const auto byte_pair = [](int left, int right) {
    return static_cast<std::uint32_t>(left | 4 << 4 | right << 8 | 4 << 12);
  };
  const auto number_pair = [](int left, int right) {
    return static_cast<std::uint32_t>((2 * left) | (2 * left + 1) << 4 | (2 * right) << 8 |
                                      (2 * right + 1) << 12);
  };
  // Of two components, the numbers and bytes of the second one lie in the second word.
  const auto number = [&](int i) { return i / kOwn * kOwn + place[i % kOwn]; };
  const auto byte = [&](int i) { return i / kOwn * kFour + place[i % kOwn]; };
  pair_selectors_[0] = number_pair(number(0), number(1));
  pair_selectors_[1] = number_pair(number(2), number(3));
  weight_selector_ =
      static_cast<std::uint32_t>(byte(0) | byte(1) << 4 | byte(2) << 8 | byte(3) << 12);
  if constexpr (kSource == Source::words && kHalved) {
    const Samples<const std::uint8_t>& other = picture_.components[number_ + 1].in;
    // Codes come by two loads of two bytes: one for each component, or one for each column where
    // the samples of both components take turns. Byte 2 of the first load's word is 0.
    const auto zero_pair = [](int left, int right) {
      constexpr unsigned kZero = 2;
      return static_cast<std::uint32_t>(left | right << 8) | kZero << 4 | kZero << 12;
    };
    if (in.step == 2) {
      const int second = other.first > in.first ? 1 : 0;
      codes_[0] = (second == 1 ? in.first : other.first) + 2 * column_;
      codes_[1] = codes_[0] + 2;
      code_selectors_[0] = zero_pair(4 * place[0] + 1 - second, 4 * place[1] + 1 - second);
      code_selectors_[1] = zero_pair(4 * place[0] + second, 4 * place[1] + second);
    } else {
      codes_[0] = in.first + column_;
      codes_[1] = other.first + column_;
      code_selectors_[0] = zero_pair(place[0], place[1]);
      code_selectors_[1] = zero_pair(4 + place[0], 4 + place[1]);
    }
  } else if constexpr (kSource == Source::words) {
    codes_[0] = in.first + column_;
    code_selectors_[0] = byte_pair(place[0], place[1]);
    code_selectors_[1] = byte_pair(place[2], place[3]);
  } else {
    codes_[0] = in.first;
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      offsets_[i] = (column_ + place[i % kOwn]) * in.step;
      if constexpr (kHalved) {
        const Samples<const std::uint8_t>& other = picture_.components[number_ + 1].in;
        if (i >= kOwn) offsets_[i] = (column_ + place[i % kOwn]) * other.step;
      }
    }
  }
}

/// Finds which motion blocks have moved, and their gains, for the whole strip: its loads wait once
/// and not at each block.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::find_blocks() {
  first_block_ = block_of(nearest_place(y_ - kReach, component_.in.rows), component_.shift_y);
  const int column = block_of(column_, component_.shift_x);
#pragma unroll
  for (int k = 0; k < kBlocksDown; ++k) {
    const int block =
        min(first_block_ + k, picture_.block_rows - 1) * picture_.block_columns + column;
    static_assert(sizeof(denoise::Vector) == sizeof(std::uint32_t));
    const auto vector = reinterpret_cast<const std::uint32_t*>(picture_.vectors)[block];
    if (vector != 0) moved_ |= 1U << k;
    if constexpr (!kHalved) {
      if (number_ == 0) {
        gains_[k / 2] |= static_cast<Pair>(static_cast<std::uint16_t>(picture_.gains[block]))
                         << (k % 2 * 16);
      }
    }
  }
}

/// Chooses the planes that have the known estimates of the lane's samples in a row: those of moved
/// blocks where their block has moved.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::choose_planes(int y) {
  const int block = block_of(y, component_.shift_y) - first_block_;
  if (block == block_) return;
  block_ = block;
  const bool moved = (moved_ >> block & 1U) != 0;
  if constexpr (!kHalved)
    gain_ =
        left_of(__byte_perm(gains_[0], gains_[1], 0x10U + 0x22U * static_cast<unsigned>(block)));
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    const DenoiseComponent& component = picture_.components[number_ + k];
    const KnownPlanes& from = moved ? component.moved : component.known;
    estimates_[k] = from.estimate.first + column_;
    weights_[k] = from.weight.first + column_;
  }
}

/// Loads a row by its number from the strip's first one on. Rows outside the picture repeat the
/// nearest one.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::load(int row,
                                                                     Loaded<kSource>& loaded) {
  const int y = nearest_place(y_ + row, component_.in.rows);
  choose_planes(y);
  if constexpr (!kHalved) loaded.gain = gain_;
  constexpr auto kNumber = static_cast<int>(sizeof(std::int16_t));
  const int number_pitch = component_.known.estimate.pitch * kNumber;
  const int weight_pitch = component_.known.weight.pitch;
  if constexpr (kHalved) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      loaded.estimates[k] = *reinterpret_cast<const Pair*>(row_at(estimates_[k], y, number_pitch));
      loaded.weights[k] =
          *reinterpret_cast<const std::uint16_t*>(row_at(weights_[k], y, weight_pitch));
    }
  } else {
    const auto four = *reinterpret_cast<const uint2*>(row_at(estimates_[0], y, number_pitch));
    loaded.estimates[0] = four.x;
    loaded.estimates[1] = four.y;
    loaded.weights[0] =
        *reinterpret_cast<const std::uint32_t*>(row_at(weights_[0], y, weight_pitch));
  }
  if constexpr (kSource == Source::single) {
    const denoise::Words words = picture_.in_words;
    const std::uint8_t* rows[kParts];
    rows[0] = row_at(codes_[0], y, strides_[0]);
    if constexpr (kHalved)
      rows[1] = row_at(picture_.components[number_ + 1].in.first, y, strides_[1]);
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      const std::uint8_t* const at = rows[i / kOwn] + offsets_[i];
      loaded.codes[i] = words.depth == 8 ? at[0] : at[0] | static_cast<unsigned>(at[1]) << 8;
    }
  } else if constexpr (kHalved) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      loaded.codes[k] = *reinterpret_cast<const std::uint16_t*>(row_at(codes_[k], y, strides_[k]));
    }
  } else {
    loaded.codes[0] = *reinterpret_cast<const std::uint32_t*>(row_at(codes_[0], y, strides_[0]));
  }
}

template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ Pair
Strip<kSlots, kSource, kPlace>::codes_of(const Loaded<kSource>& loaded, int pair) const {
  if constexpr (kSource == Source::single) {
    const denoise::Words words = picture_.in_words;
    unsigned left = loaded.codes[2 * pair];
    unsigned right = loaded.codes[2 * pair + 1];
    if (words.depth != 8) {
      const unsigned most = (1U << words.depth) - 1;
      left = min(left >> words.shift, most);
      right = min(right >> words.shift, most);
    }
    return left | right << 16;
  } else {
    return __byte_perm(loaded.codes[0], kHalved ? loaded.codes[1] : 0U, code_selectors_[pair]);
  }
}

/// Finds the deviations of a lane's four samples, and keeps what update() needs of them.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::find(
    const Loaded<kSource>& loaded, Known& known, __half2 (&deviations)[2]) const {
  constexpr unsigned kSign = 0x8000;
  known.weights = kHalved ? __byte_perm(loaded.weights[0], loaded.weights[1], weight_selector_)
                          : loaded.weights[0];
  known.estimates[0] = loaded.estimates[0];
  known.estimates[1] = loaded.estimates[1];
  if constexpr (kEdge) {
    if constexpr (!kHalved) known.weights = __byte_perm(known.weights, 0, weight_selector_);
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      known.estimates[p] =
          __byte_perm(loaded.estimates[0], loaded.estimates[1], pair_selectors_[p]);
    }
  }
  const unsigned up = 1U << (denoise::kSampleBits - picture_.in_words.depth);
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    const CurveOfLevels& inverse = shared_.inverse[number_ + (kHalved ? p : 0)];
    if constexpr (!kHalved) {
      if (loaded.gain != 0) {  // as denoise::lightened() does
        const auto gained = [&](int estimate) {
          return denoise::times(estimate - denoise::kDark, loaded.gain);
        };
        const Pair pair = known.estimates[p];
        known.estimates[p] =
            __viaddmin_s16x2_relu(pair, pair_of(gained(left_of(pair)), gained(right_of(pair))),
                                  twice(denoise::kSampleMost));
      }
    }
    const Pair estimate = known.estimates[p];
    // With the sign bits set no half borrows from the other.
    const Pair difference = (codes_of(loaded, p) * up + twice(kSign) - estimate) ^ twice(kSign);
    known.differences[p] = difference;
    const Pair clipped = greatest(least(difference, twice(denoise::kMostDifference)),
                                  twice(0x10000U - denoise::kMostDifference));
    const Pair levels = estimate & twice(CurveOfLevels::kLevelMask);
    const auto product = [&](int level, unsigned upper, unsigned weight, int clipped_difference) {
      const int of_noise =
          inverse.at(level, upper) * static_cast<int>(shared_.certainty[weight]) + 128;
      // denoise::deviation() shifts a product with 8 right by 15; with 16 the result is the upper
      // half of the product.
      static_assert(16LL * denoise::kMostDifference * (((denoise::kOne - 1) * 255 + 128) >> 8) +
                        0x8000 <
                    1LL << 31);
      return static_cast<unsigned>(clipped_difference * sixteen_times(of_noise >> 8) + 0x8000);
    };
    const unsigned left =
        product(static_cast<int>(levels & 0xFFFF), __byte_perm(estimate, 0, 0x4441),
                __byte_perm(known.weights, 0, 0x4440 + 2 * p), left_of(clipped));
    const unsigned right =
        product(static_cast<int>(levels >> 16), __byte_perm(estimate, 0, 0x4443),
                __byte_perm(known.weights, 0, 0x4441 + 2 * p), right_of(clipped));
    const Pair from_least =
        __viaddmin_s16x2_relu(__byte_perm(left, right, 0x7632), twice(denoise::kMostDeviation),
                              twice(2 * denoise::kMostDeviation));
    deviations[p] = __hadd2(halves_of(from_least), minus(denoise::kMostDeviation));
  }
}

/// Adds the deviations of five neighbouring columns, with those of the lanes beside by shuffles.
/// Sums are exact up to 2048; a change is full from far smaller ones on, so rounding beyond that
/// has no effect.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::add_across(
    const __half2 (&own)[2], __half2 (&sums)[2]) const {
  constexpr std::uint32_t kAll = 0xFFFFFFFFU;
  static_assert(denoise::kLeastSum + 255 < 2048 && denoise::kLeastMagnitudes + 255 < 2048);
  constexpr unsigned kMiddle = 0x5432;  // the right one of a pair and the left one of the next pair
  const Pair bits[2] = {bits_of(own[0]), bits_of(own[1])};
  if constexpr (kHalved) {
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const Pair left = __shfl_up_sync(kAll, bits[p], 1);
      const Pair right = __shfl_down_sync(kAll, bits[p], 1);
      const __half2 middle = __hadd2(halves_of(__byte_perm(left, bits[p], kMiddle)),
                                     halves_of(__byte_perm(bits[p], right, kMiddle)));
      sums[p] = __hadd2(__hadd2(__hadd2(halves_of(left), own[p]), halves_of(right)), middle);
    }
  } else {
    const Pair left = __shfl_up_sync(kAll, bits[1], 1);
    const Pair right = __shfl_down_sync(kAll, bits[0], 1);
    const __half2 both =
        __hadd2(__hadd2(own[0], own[1]), halves_of(__byte_perm(bits[0], bits[1], kMiddle)));
    sums[0] =
        __hadd2(__hadd2(both, halves_of(left)), halves_of(__byte_perm(left, bits[0], kMiddle)));
    sums[1] =
        __hadd2(__hadd2(both, halves_of(right)), halves_of(__byte_perm(bits[1], right, kMiddle)));
  }
}

/// Mean change of the first component's samples that a pair's samples cover.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ Pair Strip<kSlots, kSource, kPlace>::covered_change(int row,
                                                                               int pair) const {
  if constexpr (kHalved) {
    const int shift = component_.shift_y;
    const int above = row << shift;
    const int below = min(above + shift, picture_.components[0].in.rows - 1 - (y_ << shift));
    const std::uint32_t a = shared_.change[above][lane_];
    const std::uint32_t b = shared_.change[below][lane_];
    const std::uint32_t left = __dp4a(b, 0x00000101U, __dp4a(a, 0x00000101U, 2U)) >> 2;
    const std::uint32_t right = __dp4a(b, 0x01010000U, __dp4a(a, 0x01010000U, 2U)) >> 2;
    return left | right << 16;
  } else {
    return __byte_perm(shared_.change[row][lane_], 0, pair == 0 ? 0x4140 : 0x4342);
  }
}

/// denoise::kRepeated in each half whose sum of magnitudes is so small, in chroma.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ Pair Strip<kSlots, kSource, kPlace>::repeated(__half2 magnitudes) const {
  static_assert(denoise::kRepeated == 1);
  const unsigned least = is_chroma() ? denoise::kLeastNews : 0;
  // The sign bit of a difference below 0.
  return bits_of(__hadd2(magnitudes, minus(least))) >> 15 & twice(1);
}

template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::keep_change(
    int row, const Pair (&changes)[2]) {
  std::uint32_t bytes = __byte_perm(changes[0], changes[1], 0x6420);
  // The last chroma sample may cover a column beyond the picture, which repeats the last one's
  // change.
  if constexpr (kEdge) bytes = __byte_perm(bytes, 0, weight_selector_);
  shared_.change[row][lane_] = bytes;
}

template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::store(int y,
                                                                      const Pair (&estimates)[2],
                                                                      std::uint32_t weights) const {
  if (!stores_) return;
  // Rows are padded, so that a lane may store all four columns.
  constexpr auto kNumber = static_cast<int>(sizeof(std::int16_t));
  const int number_pitch = component_.next.estimate.pitch * kNumber;
  const int weight_pitch = component_.next.weight.pitch;
  if constexpr (kHalved) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      *reinterpret_cast<Pair*>(row_at(next_estimates_[k], y, number_pitch)) = estimates[k];
      *reinterpret_cast<std::uint16_t*>(row_at(next_weights_[k], y, weight_pitch)) =
          static_cast<std::uint16_t>(weights >> (16 * k));
    }
  } else {
    *reinterpret_cast<uint2*>(row_at(next_estimates_[0], y, number_pitch)) =
        uint2{estimates[0], estimates[1]};
    *reinterpret_cast<std::uint32_t*>(row_at(next_weights_[0], y, weight_pitch)) = weights;
  }
}

/// Updates estimates and weights of a row. `sums` are over five rows around it, `own` are its
/// deviations.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::update(bool first, int row,
                                                                       const Sums& sums,
                                                                       const Known& known,
                                                                       const __half2 (&own)[2]) {
  __half2 means[2];
  __half2 energies[2];
  add_across(sums.plain, means);
  add_across(sums.magnitudes, energies);
  constexpr unsigned short kOwnFactor = 0x4800;  // 8 in half precision
  static_assert(denoise::kOwnFactor == 8 && 8 * denoise::kMostDeviation < 2048);
  Pair changes[2];
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    // denoise::change(). A half below 0 has its sign bit set, so it is below 0 as a whole number,
    // too, and the minima for whole numbers clamp it.
    const Pair by_mean = bits_of(__hadd2(__habs2(means[p]), minus(denoise::kLeastSum)));
    const Pair by_energy = bits_of(__hadd2(energies[p], minus(denoise::kLeastMagnitudes)));
    const Pair by_own = bits_of(__hfma2(__habs2(own[p]), __half2half2(__ushort_as_half(kOwnFactor)),
                                        minus(denoise::kOwnFactor * denoise::kLeastOwn)));
    changes[p] = __vimin_s16x2_relu(__vimax3_s16x2(by_mean, by_energy, by_own), twice(255));
    if (!first)
      changes[p] = greatest(greatest(changes[p], repeated(energies[p])), covered_change(row, p));
  }
  if (first) keep_change(row, changes);
  // Subtrahend of denoise::weight_after(): (weight change + 127) / 256 in the second byte.
  const std::uint32_t off[kFour] = {__dp2a_lo(changes[0] & 0xFFFF, known.weights, 127U),
                                    __dp2a_lo(changes[0] & 0xFFFF0000, known.weights, 127U),
                                    __dp2a_hi(changes[1] & 0xFFFF, known.weights, 127U),
                                    __dp2a_hi(changes[1] & 0xFFFF0000, known.weights, 127U)};
  const std::uint32_t left =
      known.weights -
      __byte_perm(__byte_perm(off[0], off[1], 0x4451), __byte_perm(off[2], off[3], 0x4451), 0x5410);
  // Byte offsets of the weights' shares.
  const std::uint32_t places = left * static_cast<unsigned>(sizeof shared_.share[0]);
  Pair estimates[2];
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    // denoise::estimate_of() as estimate plus a share of the difference. An offset of more than any
    // difference keeps the upper halves above 0, so that no half borrows.
    constexpr unsigned kUp = 0x4000;
    static_assert(kUp > denoise::kSampleMost);
    const auto moved = [&](int difference, unsigned place) {
      return static_cast<unsigned>(difference) * entry_at(shared_.share, place) +
             ((kUp << 16) + (127 << 8));
    };
    const unsigned a = moved(left_of(known.differences[p]), __byte_perm(places, 0, 0x4440 + 2 * p));
    const unsigned b =
        moved(right_of(known.differences[p]), __byte_perm(places, 0, 0x4441 + 2 * p));
    estimates[p] = known.estimates[p] + __byte_perm(a, b, 0x7632) - twice(kUp);
  }
  // min(next, most) in each byte, as denoise::next_weight(): the sign bit of the sum tells where
  // `most` is reached.
  std::uint32_t more = left + 0x01010101U;
  if (!first && is_chroma()) more = left + grown(__byte_perm(changes[0], changes[1], 0x6420), left);
  const std::uint32_t whole = signs_of_bytes(more + (0x80808080U - most_));
  store(y_ + row, estimates, (more & ~whole) | (most_ & whole));
}

template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void Strip<kSlots, kSource, kPlace>::walk(bool first) {
  if (rows_ <= 0) return;
  const int total = rows_ + 2 * kReach;
  Walk walk;
  load(-kReach, walk.next);
#pragma unroll 1
  for (int row = 0; row < total; ++row) {
    __half2 added[2];
    find(walk.next, walk.known[kReach], added);
    if (row + 1 < total) load(row + 1 - kReach, walk.next);
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const __half2 leaving = walk.deviations[0][p];
      walk.sums.plain[p] = __hsub2(__hadd2(walk.sums.plain[p], added[p]), leaving);
      walk.sums.magnitudes[p] =
          __hsub2(__hadd2(walk.sums.magnitudes[p], __habs2(added[p])), __habs2(leaving));
#pragma unroll
      for (int k = 0; k + 1 < kAcross; ++k)
        walk.deviations[k][p] = walk.deviations[k + 1][p];
      walk.deviations[kAcross - 1][p] = added[p];
    }
    if (row >= 2 * kReach)
      update(first, row - 2 * kReach, walk.sums, walk.known[0], walk.deviations[kReach]);
#pragma unroll
    for (int k = 0; k < kReach; ++k)
      walk.known[k] = walk.known[k + 1];
  }
}

/// Walks a strip for each component in turn. The first one's changes apply to the others, too.
template <Slots kSlots, Source kSource, Place kPlace>
__device__ __forceinline__ void walk_all(const DenoisePicture& picture, int rows,
                                         StripShared& shared) {
  Strip<Slots::neighbours, kSource, kPlace>(picture, 0, rows, shared).walk(true);
  if constexpr (kSlots == Slots::halves) {
    Strip<Slots::halves, kSource, kPlace>(picture, 1, rows, shared).walk(false);
  } else {
#pragma unroll 1
    for (int c = 1; c < picture.count; ++c)
      Strip<Slots::neighbours, kSource, kPlace>(picture, c, rows, shared).walk(false);
  }
}

/// Estimates and weights after a picture.
///
/// A block is one warp with a strip of up to 32 rows and 120 columns of the first component, and
/// with what covers it of the others: it needs no barrier, and neighbours come by shuffles. A lane
/// adds deviations down its columns as running sums of five rows, in registers, and across by
/// shuffles. Shared memory has the curves and tables, and the first component's changes. The next
/// row's loads are under way while one is worked on. Each sample costs a read of its code, estimate
/// and weight, and a write of the last two: 7 bytes where codes have 8 bits. Sums are whole numbers
/// in half precision, exact as in halves_of().
template <Slots kSlots, Source kSource>
__global__ void __launch_bounds__(kLanes, kStrips)
    estimate_next_kernel(const __grid_constant__ DenoisePicture picture, int rows) {
  __shared__ StripShared shared;
  // The curves come from a kernel that ended before the one ahead began, so they are read before
  // the wait.
  const auto lane = static_cast<int>(threadIdx.x);
  const denoise::WeightTables& weights = picture.tables->weights;
  static_assert(denoise::kWeights == kLanes);
  shared.share[lane] = (256U - weights.keep[lane]) << 8;
  shared.certainty[lane] = weights.certainty[lane];
#pragma unroll 1
  for (int c = 0; c < picture.count; ++c) {
#pragma unroll
    for (int i = 0; i < CurveOfLevels::kEntries; i += kLanes)
      shared.inverse[c].load(picture.components[c].noise->curves.inverse, lane + i);
  }
  __syncwarp();
  wait_then_release();
  // Chroma columns exist where these luma columns do: of an odd number, halves are rounded up.
  const int end = static_cast<int>(blockIdx.x + 1) * kStripColumns + kFour;
  if (blockIdx.x != 0 && end <= picture.components[0].in.columns) {
    walk_all<kSlots, kSource, Place::inside>(picture, rows, shared);
  } else {
    walk_all<kSlots, kSource, Place::edge>(picture, rows, shared);
  }
}

/// First estimates: the picture's samples, with a weight of 1. One thread per sample, and for the
/// padding to a multiple of four, on a grid of rows and components; memory-bound. Threads of the
/// first component also clear the blocks' vectors.
__global__ void __launch_bounds__(kStartThreads)
    estimate_start_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const auto x = static_cast<int>(blockIdx.x * kStartThreads + threadIdx.x);
  const auto y = static_cast<int>(blockIdx.y);
  if (blockIdx.z == 0 && x < picture.block_columns && y < picture.block_rows)
    picture.vectors[y * picture.block_columns + x] = denoise::Vector{0, 0};
  const int columns = component.in.columns;
  if (x >= (columns + kFour - 1) / kFour * kFour || y >= component.in.rows) return;
  component.next.estimate.row(y)[x] = static_cast<std::int16_t>(
      sample_at(component.in, picture.in_words, nearest_place(x, columns), y));
  component.next.weight.row(y)[x] = 1;
}

/// Returns true where rows consist of aligned words of `columns` samples each, `step` bytes apart.
bool has_words(const Samples<const std::uint8_t>& samples, int step, int columns) {
  const auto place =
      reinterpret_cast<std::uintptr_t>(samples.first) | static_cast<std::uintptr_t>(samples.stride);
  return samples.step == step && samples.columns % columns == 0 &&
         place % static_cast<unsigned>(step * columns) == 0;
}

bool has_words(const DenoisePicture& picture) {
  if (picture.in_words.depth != 8) return false;
  const DenoiseComponent* const all = picture.components;
  if (!has_words(all[0].in, 1, kFour)) return false;
  if (picture.count == 1) return true;
  Samples<const std::uint8_t> a = all[1].in;
  const Samples<const std::uint8_t>& b = all[2].in;
  if (all[1].shift_x == 0) return has_words(a, 1, kFour) && has_words(b, 1, kFour);
  if (has_words(a, 1, kFour / 2) && has_words(b, 1, kFour / 2)) return true;
  if (b.step != 2 || a.stride != b.stride) return false;
  if (b.first + 1 == a.first) a.first = b.first;
  return (a.first == b.first || a.first + 1 == b.first) && has_words(a, 2, kFour / 2);
}

/// Rows of a strip: the fewest for which all strips are resident at a time, so that no second wave
/// follows; kMostStripRows at most.
int strip_rows(unsigned across, int rows, int at_a_time) {
  int most = kLeastStripRows;
  while (most < kMostStripRows && across * parts(rows, most) > static_cast<unsigned>(at_a_time))
    most += 4;
  return most;
}

template <Source kSource>
auto estimate_kernel(const DenoisePicture& picture) {
  return picture.components[picture.count - 1].shift_x == 0
             ? &estimate_next_kernel<Slots::neighbours, kSource>
             : &estimate_next_kernel<Slots::halves, kSource>;
}

}  // namespace

int estimate_strips(const LaunchDevice& device) {
  int strips = 0;  // of a multiprocessor
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &strips, estimate_next_kernel<Slots::halves, Source::words>, kLanes, 0),
        "asking how many strips fit");
  return strips * device.multiprocessors;
}

void estimate_next(const DenoisePicture& picture, const LaunchDevice& device, int strips,
                   cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  const unsigned across = parts(luma.columns, kStripColumns);
  const int rows = strip_rows(across, luma.rows, strips);
  const auto kernel = has_words(picture) ? estimate_kernel<Source::words>(picture)
                                         : estimate_kernel<Source::single>(picture);
  launch_early(device, "launching the estimate", kernel, dim3(across, parts(luma.rows, rows)),
               dim3(kLanes), stream, picture, rows);
}

void estimate_start(const DenoisePicture& picture, const LaunchDevice& device,
                    cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  launch_early(device, "launching the first estimate", estimate_start_kernel,
               dim3(parts(luma.columns + kFour, kStartThreads), static_cast<unsigned>(luma.rows),
                    static_cast<unsigned>(picture.count)),
               dim3(kStartThreads), stream, picture);
}

}  // namespace equalux::cuda
