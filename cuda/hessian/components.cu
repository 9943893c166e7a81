#include <algorithm>
#include <climits>

#include <equalux/error.h>

#include "cuda/device/labels.cuh"
#include "cuda/hessian/class_planes.h"
#include "cuda/runtime/check.h"

/// Hysteresis, small components and holes: a plane of vessel_class() becomes one of 0 and 1.
namespace equalux::cuda {
namespace {

constexpr std::uint32_t kMark = 0x80000000U;
constexpr dim3 kBlock(32, 8);

__device__ __forceinline__ std::uint8_t* at(const DeviceClasses& classes, const Pixel& pixel) {
  return classes.first + pixel.index();
}

__device__ __forceinline__ bool inside(const DeviceClasses& classes, const Pixel& pixel) {
  return pixel.x < classes.width && pixel.y < classes.height;
}

/// Labels of what is not 0.
__global__ void label_vessels_kernel(DeviceClasses classes, std::uint32_t* labels,
                                     std::uint32_t* areas) {
  const Pixel pixel = Pixel::of(classes.width);
  const bool in = inside(classes, pixel);
  begin_label(labels, pixel, in && *at(classes, pixel) != 0);
  if (in) areas[pixel.index()] = 0;
}

template <bool kVessels>
__global__ void join_kernel(DeviceClasses classes, std::uint32_t* labels) {
  const Pixel pixel = Pixel::of(classes.width);
  if (!inside(classes, pixel)) return;
  const std::uint8_t* here = at(classes, pixel);
  if ((*here != 0) != kVessels) return;
  join_neighbours<kVessels>(labels, pixel, [&](int dx, int dy) {
    return (here[dy * classes.width + dx] != 0) == kVessels;
  });
}

/// Labels become roots, and roots count the pixels of their components. A count that has passed
/// `enough` may stay behind.
template <bool kVessels>
__global__ void count_kernel(DeviceClasses classes, std::uint32_t* labels, std::uint32_t* areas,
                             std::uint32_t enough) {
  const Pixel pixel = Pixel::of(classes.width);
  const bool in = inside(classes, pixel);
  const std::uint8_t value = in ? *at(classes, pixel) : std::uint8_t{0};
  const bool set = in && (value != 0) == kVessels;
  const std::uint32_t all = __ballot_sync(~0U, set);
  const std::uint32_t strong = __ballot_sync(~0U, kVessels && value == 2);
  const int begin = set ? run_begin(all, pixel.lane) : pixel.lane;
  std::uint32_t root = 0;
  if (set && begin == pixel.lane) {
    root = root_of(labels, labels[pixel.index()]);
    const int length = run_length(all, begin);
    const std::uint32_t run = (length == 32 ? ~0U : (1U << length) - 1) << begin;
    const std::uint32_t held = __ldcg(areas + root);
    if ((strong & run) != 0 && (held & kMark) == 0) atomicOr(areas + root, kMark);
    if ((held & ~kMark) <= enough) atomicAdd(areas + root, static_cast<std::uint32_t>(length));
  }
  root = __shfl_sync(~0U, root, begin);
  if (set) labels[pixel.index()] = root;
}

/// Components that are vessels become 1, all else 0, and what is 0 gets its first labels.
__global__ void keep_kernel(DeviceClasses classes, std::uint32_t* labels,
                            const std::uint32_t* areas, std::uint32_t* hole_areas,
                            std::uint32_t min_size) {
  const Pixel pixel = Pixel::of(classes.width);
  const bool in = inside(classes, pixel);
  bool kept = false;
  if (in && *at(classes, pixel) != 0) {
    const std::uint32_t area = areas[labels[pixel.index()]];
    kept = (area & kMark) != 0 && (area & ~kMark) >= min_size;
  }
  if (in) {
    *at(classes, pixel) = kept ? 1 : 0;
    hole_areas[pixel.index()] = 0;
  }
  begin_label(labels, pixel, in && !kept);
}

__global__ void fill_kernel(DeviceClasses classes, const std::uint32_t* labels,
                            const std::uint32_t* areas, std::uint32_t most_hole) {
  const Pixel pixel = Pixel::of(classes.width);
  if (!inside(classes, pixel) || *at(classes, pixel) != 0) return;
  if (areas[labels[pixel.index()]] <= most_hole) *at(classes, pixel) = 1;
}

std::size_t pixels_of(int width, int height) {
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels > INT_MAX) {
    throw Error(ExitCode::usage, "vessel: " + std::to_string(width) + "x" + std::to_string(height) +
                                     " are too many pixels for a GPU, must be at most 2147483647");
  }
  return static_cast<std::size_t>(pixels);
}

std::uint32_t saturated(std::int64_t size) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(size, 0, INT_MAX));
}

}  // namespace

DeviceComponents::DeviceComponents(int width, int height)
    : labels_(allocate_device<std::uint32_t>(pixels_of(width, height))),
      areas_(allocate_device<std::uint32_t>(2 * pixels_of(width, height))) {}

void DeviceComponents::keep_vessels(const DeviceClasses& classes, std::int64_t min_size,
                                    std::int64_t most_hole, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((classes.width + 31) / 32),
                  static_cast<unsigned>((classes.height + 7) / 8));
  std::uint32_t* const labels = labels_.get();
  std::uint32_t* const areas = areas_.get();
  std::uint32_t* const holes = areas + pixels_of(classes.width, classes.height);
  label_vessels_kernel<<<grid, kBlock, 0, stream>>>(classes, labels, areas);
  join_kernel<true><<<grid, kBlock, 0, stream>>>(classes, labels);
  count_kernel<true><<<grid, kBlock, 0, stream>>>(classes, labels, areas, saturated(min_size));
  keep_kernel<<<grid, kBlock, 0, stream>>>(classes, labels, areas, holes, saturated(min_size));
  join_kernel<false><<<grid, kBlock, 0, stream>>>(classes, labels);
  count_kernel<false><<<grid, kBlock, 0, stream>>>(classes, labels, holes, saturated(most_hole));
  fill_kernel<<<grid, kBlock, 0, stream>>>(classes, labels, holes, saturated(most_hole));
  check(cudaGetLastError(), "launching hysteresis");
}

}  // namespace equalux::cuda
