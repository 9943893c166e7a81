#include <algorithm>
#include <cstddef>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/labels.cuh"
#include "cuda/hessian/class_planes.h"
#include "cuda/runtime/check.h"
#include "src/format/layout.h"
#include "src/hessian/vessel_math.h"

/// The steps of VignetteFinder on a device. Where the first kernels find no vignette, all later
/// ones end at once.
namespace equalux::cuda {

namespace {

/// Findings of the kernels about a frame.
struct State {
  int corner;  ///< brightness of the brightest corner
  int dark;    ///< level up to which a pixel is dark; -1 where there is no vignette
  unsigned blocks_done;
  std::uint32_t counts[256];
};

constexpr dim3 kFieldBlock(32, 8);
constexpr int kCountBlock = 256;
/// Counting blocks per multiprocessor.
constexpr unsigned kCountBlocks = 2;
/// Blocks per multiprocessor of the other kernels. One block for each 256 pixels would cost 20 us
/// in a large frame without a vignette, only to start and to end.
constexpr unsigned kPixelBlocks = 8;

/// Brightness of a frame's pixels.
struct Brightness {
  const std::uint8_t* in;
  std::ptrdiff_t stride;
  int width;
  int height;
  int black;
  RgbLayout at;  // all offsets are 0 where a pixel has one sample

  __device__ int operator()(int x, int y) const {
    const std::uint8_t* pixel = in + y * stride + static_cast<std::ptrdiff_t>(x) * at.step;
    return value_of_rgb(pixel[at.r], pixel[at.g], pixel[at.b]);
  }
};

/// Clears the histogram and compares the corners: a bright corner means that there is no vignette.
/// One block.
__global__ void look_at_corners_kernel(const __grid_constant__ Brightness brightness,
                                       State* state) {
  wait_then_release();
  state->counts[threadIdx.x] = 0;
  if (threadIdx.x != 0) return;
  int corner = 0;
  for (int i = 0; i < 4; ++i) {
    corner =
        max(corner, brightness(i % 2 * (brightness.width - 1), i / 2 * (brightness.height - 1)));
  }
  state->corner = corner;
  state->dark = corner > dark_level(255, brightness.black) ? -1 : 0;
  state->blocks_done = 0;
}

/// Counts the levels of some rows in shared memory; the last block to finish computes the dark
/// level from all counts.
__global__ void find_dark_level_kernel(const __grid_constant__ Brightness brightness,
                                       State* state) {
  wait_then_release();
  if (state->dark < 0) return;
  __shared__ std::uint32_t counts[256];
  __shared__ bool last;
  counts[threadIdx.x] = 0;
  __syncthreads();
  const int rows = (brightness.height + kVignetteRowStep - 1) / kVignetteRowStep;
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    for (int x = static_cast<int>(threadIdx.x); x < brightness.width; x += kCountBlock)
      atomicAdd(&counts[brightness(x, row * kVignetteRowStep)], 1U);
  }
  __syncthreads();
  if (counts[threadIdx.x] != 0) atomicAdd(&state->counts[threadIdx.x], counts[threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&state->blocks_done, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  counts[threadIdx.x] = __ldcg(&state->counts[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint64_t pixels =
      std::uint64_t{static_cast<unsigned>(rows)} * static_cast<unsigned>(brightness.width);
  std::uint64_t below = 0;
  int dark = dark_level(0, brightness.black);
  for (int level = 0; level < 256; ++level) {
    below += counts[level];
    if (10 * below >= 9 * pixels) {
      dark = dark_level(level, brightness.black);
      break;
    }
  }
  state->dark = state->corner > dark ? -1 : dark;
}

/// Marks dark pixels, and gives each run of them within a warp its first label.
__global__ void label_dark_kernel(const __grid_constant__ Brightness brightness, const State* state,
                                  std::uint8_t* dark, std::uint32_t* labels) {
  wait_then_release();
  const int most = state->dark;
  if (most < 0) return;
  for_pixels(brightness.width, brightness.height, [&](const Pixel& pixel) {
    const bool in = pixel.x < brightness.width && pixel.y < brightness.height;
    const bool set = in && brightness(pixel.x, pixel.y) <= most;
    if (in) dark[pixel.index()] = set ? 1 : 0;
    begin_label(labels, pixel, set);
  });
}

/// Joins dark pixels that are neighbours by sides.
__global__ void join_dark_kernel(const State* state, const std::uint8_t* dark, int width,
                                 int height, std::uint32_t* labels) {
  wait_then_release();
  if (state->dark < 0) return;
  for_pixels(width, height, [&](const Pixel& pixel) {
    if (pixel.x >= width || pixel.y >= height) return;
    const std::uint8_t* here = dark + pixel.index();
    if (*here == 0) return;
    join_neighbours<false>(labels, pixel,
                           [&](int dx, int dy) { return here[dy * width + dx] != 0; });
  });
}

/// Keeps 1 only in pixels that are connected to a corner.
__global__ void mark_vignette_kernel(const State* state, std::uint8_t* dark, int width, int height,
                                     const std::uint32_t* labels) {
  wait_then_release();
  if (state->dark < 0) return;
  const auto right = static_cast<std::uint32_t>(width) - 1;
  const std::uint32_t below =
      static_cast<std::uint32_t>(height - 1) * static_cast<std::uint32_t>(width);
  for_pixels(width, height, [&](const Pixel& pixel) {
    if (pixel.x >= width || pixel.y >= height || dark[pixel.index()] == 0) return;
    const std::uint32_t root = root_of(labels, pixel.index());
    bool connected = false;
    for (const std::uint32_t corner : {0U, right, below, below + right})
      connected = connected || root == root_of(labels, corner);
    if (!connected) dark[pixel.index()] = 0;
  });
}

/// Widens the vignette by the margin to the left and right, one thread per pixel.
__global__ void widen_rows_kernel(const State* state, const std::uint8_t* vignette, int width,
                                  int height, int margin, std::uint8_t* widened) {
  wait_then_release();
  if (state->dark < 0) return;
  for_pixels(width, height, [&](const Pixel& pixel) {
    if (pixel.x >= width || pixel.y >= height) return;
    const std::uint8_t* row = vignette + (pixel.index() - static_cast<std::uint32_t>(pixel.x));
    std::uint8_t found = 0;
    for (int x = max(0, pixel.x - margin); x <= min(width - 1, pixel.x + margin) && found == 0; ++x)
      found = row[x];
    widened[pixel.index()] = found;
  });
}

/// Sets classes to 0 within the margin above and below the widened vignette, one thread per pixel.
__global__ void clear_kernel(const State* state, const std::uint8_t* widened, int margin,
                             DeviceClasses classes) {
  wait_then_release();
  if (state->dark < 0) return;
  for_pixels(classes.width, classes.height, [&](const Pixel& pixel) {
    if (pixel.x >= classes.width || pixel.y >= classes.height) return;
    if (classes.first[pixel.index()] == 0) return;
    const int last = min(classes.height - 1, pixel.y + margin);
    std::uint8_t found = 0;
    for (int y = max(0, pixel.y - margin); y <= last && found == 0; ++y)
      found = widened[static_cast<std::ptrdiff_t>(y) * classes.width + pixel.x];
    if (found != 0) classes.first[pixel.index()] = 0;
  });
}

}  // namespace

DeviceVignette::DeviceVignette(const ImageDesc& desc, int margin) : margin_(margin) {
  const auto pixels = static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height);
  device_ = LaunchDevice::of(reinterpret_cast<const void*>(&clear_kernel));
  state_ = allocate_device<std::uint8_t>(sizeof(State));
  vignette_ = allocate_device<std::uint8_t>(pixels);
  widened_ = allocate_device<std::uint8_t>(pixels);
}

void DeviceVignette::clear(const ConstImageView& in, const DeviceClasses& classes,
                           std::uint32_t* labels, cudaStream_t stream) {
  const int width = in.desc.width;
  const int height = in.desc.height;
  RgbLayout layout{0, 0, 0, -1, 1};
  if (traits(in.desc.format).model == ColorModel::rgb) layout = rgb_layout(in.desc.format);
  const Brightness brightness{in.data[0], in.stride[0],         width,
                              height,     black_level(in.desc), layout};
  auto* const state = reinterpret_cast<State*>(state_.get());
  std::uint8_t* const vignette = vignette_.get();
  std::uint8_t* const widened = widened_.get();
  const auto multiprocessors = static_cast<unsigned>(device_.multiprocessors);
  const unsigned grid = std::min(kPixelBlocks * multiprocessors,
                                 static_cast<unsigned>((width + 31) / 32 * ((height + 7) / 8)));
  const unsigned counters = std::min(kCountBlocks * multiprocessors,
                                     static_cast<unsigned>(height / kVignetteRowStep + 1));
  constexpr const char* kWhat = "launching the field of view";
  launch_early(device_, kWhat, &look_at_corners_kernel, 1, 256, stream, brightness, state);
  launch_early(device_, kWhat, &find_dark_level_kernel, counters, kCountBlock, stream, brightness,
               state);
  launch_early(device_, kWhat, &label_dark_kernel, grid, kFieldBlock, stream, brightness, state,
               vignette, labels);
  launch_early(device_, kWhat, &join_dark_kernel, grid, kFieldBlock, stream, state, vignette, width,
               height, labels);
  launch_early(device_, kWhat, &mark_vignette_kernel, grid, kFieldBlock, stream, state, vignette,
               width, height, labels);
  launch_early(device_, kWhat, &widen_rows_kernel, grid, kFieldBlock, stream, state, vignette,
               width, height, margin_, widened);
  launch_early(device_, kWhat, &clear_kernel, grid, kFieldBlock, stream, state, widened, margin_,
               classes);
}

}  // namespace equalux::cuda
