#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/runtime/launch_device.h"
#include "src/denoise/components.h"
#include "src/denoise/motion_math.h"
#include "src/denoise/noise_math.h"
#include "src/format/rounding.h"

/// Noise reduction on a GPU, picture by picture: kernels that each start while the one before ends.
/// What they compute is written in src/denoise; docs/algorithm.md, "Denoising", has the reasons.
namespace equalux::cuda {

/// Most components of a picture.
inline constexpr int kMostComponents = 3;

/// A plane of whole numbers in device memory.
template <typename Number>
struct NumberPlane {
  Number* first = nullptr;
  int pitch = 0;  ///< numbers from a row to the one below
  int columns = 0;
  int rows = 0;

  EQUALUX_HD Number* row(int y) const { return first + static_cast<std::ptrdiff_t>(y) * pitch; }
};

/// What is known of a component's samples.
struct KnownPlanes {
  NumberPlane<std::int16_t> estimate;
  NumberPlane<std::uint8_t> weight;
};

/// A component's noise: blocks by segment and texture bin, of the picture under way, which are 0
/// before and after it, and of all, older ones less; and the curves that follow.
struct NoiseCounts {
  std::uint32_t picture[denoise::kSegments * denoise::kTextureBins];
  std::uint32_t all[denoise::kSegments * denoise::kTextureBins];
  denoise::NoiseCurves curves;
};

/// A component of a picture.
struct DenoiseComponent {
  Samples<const std::uint8_t> in;
  Samples<std::uint8_t> out;
  int shift_x = 0;  ///< as in denoise::ComponentShape
  int shift_y = 0;
  KnownPlanes known;  ///< before the picture
  KnownPlanes next;   ///< after it
  KnownPlanes moved;  ///< known, where it is now, of blocks that have moved
  NoiseCounts* noise = nullptr;
};

/// Means of a plane's samples, of 2 x 2 and 8 x 8. Those of 4 x 4 are on the way between them.
struct DenoisePyramid {
  NumberPlane<std::int16_t> half;
  NumberPlane<std::int16_t> eighth;
};

/// Tables of all kernels, in device memory.
struct DenoiseTables {
  denoise::WeightTables weights;
  std::int16_t taps[denoise::kPhases][denoise::kTaps];  ///< by phase
};

struct DenoisePicture {
  DenoiseComponent components[kMostComponents];
  int count = 1;  ///< of components
  denoise::Words in_words{};
  denoise::Words out_words{};
  bool leaves_fractions = false;  ///< of levels of 8 bits
  Dither dither = Dither::none;
  denoise::FrameRows rows;  ///< in the frame, where dither looks
  /// denoise::copied_samples(); without columns where they are there already.
  Samples<const std::uint8_t> copied_in;
  Samples<std::uint8_t> copied_out;
  std::uint32_t before = 0;  ///< pictures that have come before it
  bool noise_known = false;  ///< of pictures before it
  int noise = 0;             ///< where it is given, in units of samples; 0 = found
  int most = 1;              ///< frames that an estimate is the mean of at most
  int spatial = 0;           ///< units of 1 / 2^12
  int strength = 0;          ///< units of 1 / denoise::kOne; 0 = samples pass as they are
  DenoisePyramid samples;    ///< those of the first component
  DenoisePyramid estimates;
  int block_columns = 0;
  int block_rows = 0;
  denoise::Vector* vectors = nullptr;  ///< by block: of the picture before, then of this one
  denoise::Vector* found = nullptr;    ///< by block, of this picture, while `vectors` are needed
  /// By block: what it differs by along `followed`, if that is not 0, where it has to be chosen
  /// from that, none and `found`; below 0 where `found` is its vector.
  std::int32_t* least = nullptr;
  denoise::Vector* followed = nullptr;
  /// By block: how much lighter it has become; where it has to be chosen, without a vector, and
  /// along `followed`; and denoise::drift_limit() there.
  std::int16_t* drifts = nullptr;
  std::int16_t* followed_drifts = nullptr;
  std::int16_t* drift_limits = nullptr;
  const DenoiseTables* tables = nullptr;
};

/// True where noise_count() has something to count.
EQUALUX_HD bool counts_noise(const DenoisePicture& picture) {
  const Samples<const std::uint8_t>& most = picture.components[0].in;
  return picture.noise == 0 && most.rows >= denoise::kNoiseBlock &&
         most.columns >= denoise::kNoiseBlock;
}

/// Counts blocks by level and texture, where the noise is not given.
void noise_count(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// The curves of what has been counted so far, or of the noise that is given, where nothing moves
/// yet.
void noise_curves(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Halves the first component's samples and estimates three times, and makes the noise's curves.
void motion_pyramids(const DenoisePicture& picture, const LaunchDevice& device,
                     cudaStream_t stream);
/// Finds the vectors of blocks, or what they are chosen from.
void motion_find(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// Chooses vectors, which are those of the picture then, and moves what is known of blocks along
/// them.
void motion_move(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// The first picture is all that is known.
void estimate_start(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// What is known after the picture.
void estimate_next(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);
/// What is shown of it; with a strength of 0 the frame's own samples.
void denoise_smooth(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream);

/// Copies all that a frame has, in any rows.
void denoise_copy(const ConstImageView& in, const ImageView& out, const LaunchDevice& device,
                  cudaStream_t stream);

/// The launch facts of these kernels on the device that is current. Throws Error(unavailable).
[[nodiscard]] LaunchDevice denoise_device();

}  // namespace equalux::cuda
