#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/runtime/launch_device.h"
#include "src/denoise/components.h"
#include "src/denoise/motion_math.h"
#include "src/denoise/noise_math.h"
#include "src/format/rounding.h"

/// Kernels of noise reduction, launched picture by picture with programmatic dependent launch.
/// src/denoise has the arithmetic, docs/algorithm.md, "Denoising", the reasons. Functions enqueue
/// in a stream and do not wait; they throw Error(unavailable) where a launch fails.
namespace equalux::cuda {

/// Most components of a picture.
inline constexpr int kMostComponents = 3;

/// Product in 64 bits. On a GPU it is one instruction, where the compiler takes five for a factor
/// that it knows not to be below 0.
EQUALUX_HD std::int64_t wide_product(int a, int b) {
#ifdef __CUDA_ARCH__
  std::int64_t product = 0;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return static_cast<std::int64_t>(a) * b;
#endif
}

/// Plane of whole numbers in device memory.
template <typename Number>
struct NumberPlane {
  Number* first = nullptr;
  int pitch = 0;  ///< numbers from one row to the next
  int columns = 0;
  int rows = 0;

  EQUALUX_HD Number* row(int y) const { return first + wide_product(y, pitch); }
};

/// Estimates of a component's samples, and the number of frames that each averages.
struct KnownPlanes {
  NumberPlane<std::int16_t> estimate;
  NumberPlane<std::uint8_t> weight;
};

/// Counts of the rows of a component's histogram, and standard deviations that they tell.
struct NoiseSigmas {
  std::uint64_t counts[denoise::kTextureRows];
  std::uint64_t kept[denoise::kSegments];  ///< blocks that have kept their trend
  std::uint64_t turned[denoise::kSegments];
  int tenths[denoise::kSegments];       ///< by changes
  int fifths[denoise::kResidualRows];   ///< by fine, then by coarse textures
  int halves[2 * denoise::kSegments];   ///< by half of the residuals, then by half of the swings
  int nine_tenths[denoise::kSegments];  ///< by nine tenths of the residuals
};

/// Noise of a component in device memory: histograms of noise blocks by fine and coarse texture,
/// residual, swing and change, kTextureRows of kTextureBins, and the curves made from them.
/// `picture` has the counts of one picture until those of the next one are made into curves; in
/// `all` older blocks count less.
struct alignas(8) NoiseCounts {
  std::uint32_t picture[denoise::kTextureRows * denoise::kTextureBins];
  std::uint32_t all[denoise::kTextureRows * denoise::kTextureBins];
  NoiseSigmas told;         ///< by the histograms, on the way to the curves
  std::uint32_t ready = 0;  ///< blocks of threads that have finished their share of `told`
  denoise::NoiseCurves curves;
};

/// Component of a picture.
struct DenoiseComponent {
  Samples<const std::uint8_t> in;
  Samples<std::uint8_t> out;
  int shift_x = 0;  ///< as in denoise::ComponentShape
  int shift_y = 0;
  bool chroma = false;
  KnownPlanes known;  ///< before the picture
  KnownPlanes next;   ///< after the picture
  KnownPlanes moved;  ///< known planes along the vectors; only moved blocks are valid
  NoiseCounts* noise = nullptr;
  /// By noise block, row by row: its trend the last time that it was measured; null for chroma.
  denoise::Trend* trends = nullptr;
};

/// Means of 2 x 2 and 8 x 8 samples of a plane. Those of 4 x 4 are intermediate and not kept.
struct DenoisePyramid {
  NumberPlane<std::int16_t> half;
  NumberPlane<std::int16_t> eighth;
};

/// Constant tables in device memory.
struct DenoiseTables {
  denoise::WeightTables weights;
  std::int16_t taps[denoise::kPhases][denoise::kTaps];  ///< taps of the interpolation by phase
};

/// Parameters of the kernels for one picture.
struct DenoisePicture {
  DenoiseComponent components[kMostComponents];
  int count = 1;  ///< components
  denoise::Words in_words{};
  denoise::Words out_words{};
  bool leaves_fractions = false;  ///< output keeps fractions of 8-bit levels
  Dither dither = Dither::none;
  denoise::FrameRows rows;  ///< place of the rows in the frame, on which the dither depends
  /// Samples that belong to no component, denoise::copied_samples(); no columns where in and out
  /// share memory.
  Samples<const std::uint8_t> copied_in;
  Samples<std::uint8_t> copied_out;
  std::uint32_t before = 0;    ///< number of pictures before this one
  bool noise_known = false;    ///< NoiseCounts::all is valid
  bool noise_counted = false;  ///< NoiseCounts::picture has counts that `all` lacks
  int noise = 0;               ///< given noise, in units of samples; 0 = measured
  int most = 1;                ///< most frames that an estimate averages
  int spatial = 0;             ///< in 1 / 2^12
  int strength = 0;            ///< in 1 / denoise::kOne; 0 = samples pass unchanged
  DenoisePyramid samples;      ///< of the first component
  DenoisePyramid estimates;
  int block_columns = 0;
  int block_rows = 0;
  denoise::Vector* vectors = nullptr;  ///< by block: of the last picture; from motion_move() on of
                                       ///< this one
  denoise::Vector* found = nullptr;  ///< by block: result of the search, while `vectors` are still
                                     ///< the last picture's
  /// By block: SAD along `followed`, if that is not 0, where motion_move() has to choose among
  /// `followed`, `found` and none; below 0 where `found` is the vector.
  std::int32_t* least = nullptr;
  denoise::Vector* followed = nullptr;
  /// By block: denoise::gain_of() without a vector, or along the chosen one after motion_move();
  /// the same along `followed`; and denoise::drift_limit().
  std::int16_t* gains = nullptr;
  std::int16_t* followed_gains = nullptr;
  std::int16_t* drift_limits = nullptr;
  const DenoiseTables* tables = nullptr;
};

/// Counts all noise blocks by level and fine texture, where no noise is known yet; clears the
/// counts and trends before.
void noise_count_alone(const DenoisePicture& picture, const LaunchDevice& device,
                       cudaStream_t stream);
/// Counts noise blocks by level, texture, residual, swing and change, and by trend those of the
/// picture before, beside the known planes along the picture's vectors, in its light. Directly
/// behind estimate_next(), beside whose end the kernel runs.
void noise_count(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Makes the noise curves of a first picture, from its counts or from the given noise. Later ones
/// are made by motion_pyramids(), from the counts of the pictures before.
void noise_curves(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Halves the first component's samples and estimates three times, and makes the noise curves.
void motion_pyramids(const DenoisePicture& picture, const LaunchDevice& device,
                     cudaStream_t stream);
/// Searches the vectors of blocks, or candidates for motion_move() to choose from.
void motion_find(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Chooses among candidates, sets the picture's vectors, and moves the known planes along them.
void motion_move(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Takes the first picture as the estimate.
void estimate_start(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Strips of a picture that the current device works on at a time in estimate_next(). Throws
/// Error(unavailable).
[[nodiscard]] int estimate_strips(const LaunchDevice& device);
/// Updates estimates and weights with the picture.
void estimate_next(const DenoisePicture& picture, const LaunchDevice& device, int strips,
                   cudaStream_t stream);
/// Smooths the estimates and writes the picture; with a strength of 0 the frame's own samples.
void denoise_smooth(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);

/// Copies all planes of a frame, with any strides.
void denoise_copy(const ConstImageView& in, const ImageView& out, const LaunchDevice& device,
                  cudaStream_t stream);

/// Launch properties of these kernels on the current device. Throws Error(unavailable).
[[nodiscard]] LaunchDevice denoise_device();

}  // namespace equalux::cuda
