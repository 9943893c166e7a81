#include <algorithm>
#include <numeric>
#include <random>

#include "cuda/device/packed_frame.h"
#include "cuda/lab/gpu_lab_clock.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/launch_shape.h"
#include "cuda/staged/staged_stages.h"
#include "src/equalize/tone/tone_curve.h"
#include "src/lab/gpu_lab.h"

namespace equalux::gpu_lab {
namespace {

using cuda::allocate_device;
using cuda::check;

// Block sizes that the staged chain takes where the user asks for none.
constexpr unsigned kPixelBlock = 256;
constexpr unsigned kValueBlock = 512;
constexpr unsigned kMostScanBlock = 1024;

constexpr std::uint32_t kMostCount = 1000;  // of a bin: 65,536 such counts add up to less than 2^31

cuda::LaunchShape shape_of(const StagedParams& knobs, std::uint64_t items, unsigned block,
                           cuda::Blocks blocks) {
  const cuda::LaunchLimits limits = cuda::launch_limits();
  cuda::check_shape(knobs, limits);
  return cuda::shape_for(knobs, limits, items, block, blocks);
}

std::uint64_t items_of(std::uint64_t pixels, const StagedParams& knobs) {
  const auto each =
      static_cast<std::uint64_t>(knobs.pixels_per_thread.value_or(cuda::kDefaultPixelsPerThread));
  return (pixels + each - 1) / each;
}

std::vector<std::uint32_t> download(const std::uint32_t* from, std::size_t count) {
  std::vector<std::uint32_t> values(count);
  check(cudaMemcpy(values.data(), from, count * sizeof *from, cudaMemcpyDeviceToHost),
        "downloading a result");
  return values;
}

/// A frame and its HSV planes in device memory.
struct Planes {
  cuda::LabFrame frame;
  cuda::DevicePointer<float> memory;
  cuda::HsvPlanes hsv;
  std::uint32_t pixels;

  explicit Planes(const ConstImageView& image)
      : frame(image.desc), pixels(cuda::pixels_of(image.desc)) {
    Image tight(image.desc);
    copy_image(image, tight.view());
    cuda::upload(frame.memory.get(), tight.view().data[0], frame.bytes, "uploading a frame");
    const std::size_t plane = (std::size_t{pixels} + 3) / 4 * 4;  // whole 16 bytes
    memory = allocate_device<float>(3 * plane);
    hsv = {memory.get(), memory.get() + plane, memory.get() + 2 * plane};
  }
};

std::vector<std::uint32_t> counted_on_host(const ConstImageView& image, int bins) {
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(bins));
  const RgbLayout at = rgb_layout(image.desc.format);
  const int step = traits(image.desc.format).step[0];
  for (int y = 0; y < image.desc.height; ++y) {
    const std::uint8_t* pixel = image.row(0, y);
    for (int x = 0; x < image.desc.width; ++x, pixel += step) {
      const int v = std::max({pixel[at.r], pixel[at.g], pixel[at.b]});
      ++counts[static_cast<std::size_t>(bin_of(v, bins, 255))];
    }
  }
  return counts;
}

}  // namespace

KernelTimes time_scan(int device, ScanVariant variant, int bins, const StagedParams& shape,
                      const Budget& budget) {
  cuda::use_device(device);
  const auto n = static_cast<std::size_t>(bins);
  std::vector<std::uint32_t> counts(n);
  std::mt19937 random(static_cast<std::uint32_t>(bins));
  for (std::uint32_t& count : counts)
    count = static_cast<std::uint32_t>(random() % kMostCount);
  std::vector<std::uint32_t> sums(n);
  std::partial_sum(counts.begin(), counts.end(), sums.begin());

  const auto in = allocate_device<std::uint32_t>(n);
  const auto out = allocate_device<std::uint32_t>(n);
  const auto scratch = allocate_device<std::uint8_t>(
      std::max<std::size_t>(cuda::scan_scratch_bytes(variant, bins), 1));
  cuda::upload(in.get(), counts.data(), n * sizeof counts[0], "uploading counts");
  const std::size_t shared_bytes = cuda::prepare_cdf_scan();
  const cuda::LaunchShape launch =
      shape_of(shape, n, bins <= 256 ? 256 : kMostScanBlock, cuda::Blocks::resident);
  cuda::KernelClock clock;
  KernelTimes times;
  times.us = clock.measure(budget, [&] {
    cuda::cdf_scan(variant, launch, {in.get(), out.get(), scratch.get()}, bins, sums.back(),
                   shared_bytes, clock.stream());
  });
  times.correct = download(out.get(), n) == sums;
  return times;
}

KernelTimes time_histogram(int device, HistogramVariant variant, const ConstImageView& image,
                           int bins, const StagedParams& shape, const Budget& budget) {
  cuda::use_device(device);
  const Planes planes(image);
  const auto counts = allocate_device<std::uint32_t>(static_cast<std::size_t>(bins));
  const std::size_t shared_bytes = cuda::prepare_histogram();
  const std::uint64_t items = items_of(planes.pixels, shape);
  cuda::KernelClock clock;
  cuda::rgb_to_hsv(RgbToHsvVariant::coalesced,
                   shape_of({}, items_of(planes.pixels, {}), kPixelBlock, cuda::Blocks::any),
                   planes.frame.view, planes.hsv, clock.stream());
  const cuda::LaunchShape launch = shape_of(shape, items, kValueBlock, cuda::Blocks::resident);
  KernelTimes times;
  times.us = clock.measure(budget, [&] {
    cuda::histogram(variant, launch, planes.hsv.v, planes.pixels, counts.get(), bins, shared_bytes,
                    clock.stream());
  });
  times.correct =
      download(counts.get(), static_cast<std::size_t>(bins)) == counted_on_host(image, bins);
  return times;
}

KernelTimes time_rgb_to_hsv(int device, RgbToHsvVariant variant, const ConstImageView& image,
                            const StagedParams& shape, const Budget& budget) {
  cuda::use_device(device);
  const Planes planes(image);
  const cuda::LaunchShape launch =
      shape_of(shape, items_of(planes.pixels, shape), kPixelBlock,
               variant == RgbToHsvVariant::coalesced ? cuda::Blocks::any : cuda::Blocks::resident);
  cuda::KernelClock clock;
  KernelTimes times;
  times.us = clock.measure(budget, [&] {
    cuda::rgb_to_hsv(variant, launch, planes.frame.view, planes.hsv, clock.stream());
  });
  std::vector<float> v(planes.pixels);
  check(cudaMemcpy(v.data(), planes.hsv.v, v.size() * sizeof v[0], cudaMemcpyDeviceToHost),
        "downloading a result");
  std::vector<std::uint32_t> counts(256);
  for (const float value : v)
    ++counts[static_cast<std::size_t>(level_of(value))];
  times.correct = counts == counted_on_host(image, 256);
  return times;
}

}  // namespace equalux::gpu_lab
