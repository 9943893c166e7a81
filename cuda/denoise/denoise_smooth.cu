#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/device/plane_pair.h"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr int kSmoothThreads = 256;
constexpr int kSmoothColumns = 64;
constexpr int kSmoothRows = 32;
/// Neighbours that help on each side.
constexpr int kReach = 2;

struct SmoothShared {
  std::int16_t estimates[kSmoothRows + 2 * kReach][kSmoothColumns + 2 * kReach];
  SharedCurve sigma;
  std::uint8_t left[denoise::kWeights];
};

/// The estimate of a tile's place, with what its neighbours pull at it.
__device__ __forceinline__ int smoothed(const SmoothShared& shared, int column, int row, int weight,
                                        int spatial) {
  const int own = shared.estimates[row + kReach][column + kReach];
  const int far =
      denoise::reach(shared.sigma.at(own), denoise::fraction(shared.left[weight]), spatial);
  int sum = 0;
#pragma unroll
  for (int y = -kReach; y <= kReach; ++y) {
    const int half = y == -kReach || y == kReach ? kReach - 1 : kReach;
#pragma unroll
    for (int x = -half; x <= half; ++x)
      sum += denoise::pull(shared.estimates[row + kReach + y][column + kReach + x] - own, far);
  }
  return own + denoise::times(sum, denoise::kNeighbourShare);
}

/// Rounds a sample and writes it.
__device__ __forceinline__ void store(const DenoisePicture& picture,
                                      const Samples<std::uint8_t>& samples, int x, int y,
                                      int sample) {
  const denoise::Words& words = picture.out_words;
  const int up = denoise::kSampleBits - words.depth;
  const int row = picture.rows.first + picture.rows.step * y;
  const int threshold = rounding_threshold(picture.dither, x % 8, row % 8, up);
  const int code = denoise::clamp((sample + threshold) >> up, 0, (1 << words.depth) - 1);
  std::uint8_t* const at = samples.at(x, y);
  if (words.depth == 8) {
    *at = static_cast<std::uint8_t>(code);
  } else {
    at[0] = static_cast<std::uint8_t>(code << words.shift);
    at[1] = static_cast<std::uint8_t>(code << words.shift >> 8);
  }
}

/// A sample that is none of a component; as a word it stands in the upper byte.
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

/// A block of threads has a tile of a component. A thread reads of a frame's samples only those
/// that it writes: `in` may be `out`.
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
  if (thread < denoise::kWeights) shared.left[thread] = picture.tables->weights.left[thread];
  constexpr int kColumns = kSmoothColumns + 2 * kReach;
  const PlaneNumbers at{known.estimate};
  const bool passes = picture.strength == 0;
  for (int i = thread; !passes && i < kColumns * (kSmoothRows + 2 * kReach); i += kSmoothThreads) {
    shared.estimates[i / kColumns][i % kColumns] =
        static_cast<std::int16_t>(at(x0 + i % kColumns - kReach, y0 + i / kColumns - kReach));
  }
  __syncthreads();
  const int column = thread % kSmoothColumns;
  const int x = x0 + column;
  if (x >= component.in.columns) return;
  for (int row = thread / kSmoothColumns; row < kSmoothRows;
       row += kSmoothThreads / kSmoothColumns) {
    const int y = y0 + row;
    if (y >= component.in.rows) return;
    int sample = 0;
    if (passes) {
      sample = sample_at(component.in, picture.in_words, x, y);
    } else {
      sample = shared.estimates[row + kReach][column + kReach];
      if (picture.spatial != 0)
        sample = smoothed(shared, column, row, known.weight.row(y)[x], picture.spatial);
      if (picture.strength < denoise::kOne) {
        const int now = sample_at(component.in, picture.in_words, x, y);
        sample = now + denoise::times(sample - now, picture.strength);
      }
    }
    store(picture, component.out, x, y, sample);
    if (blockIdx.z == 0 && x < picture.copied_out.columns) copy_other(picture, x, y);
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

unsigned parts(int n, int of) {
  return static_cast<unsigned>((n + of - 1) / of);
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
  check(cudaLaunchKernelEx(&config, denoise_smooth_kernel, picture), "launching the smoothing");
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
