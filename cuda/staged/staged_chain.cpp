#include "cuda/staged/staged_chain.h"

#include <algorithm>
#include <string>

#include <equalux/error.h>

#include "cuda/runtime/trace.h"

namespace equalux::cuda {
namespace {

/// Largest number of bins that one block scans in its shared memory in less time than CUB needs to
/// launch its kernels.
constexpr int kMostBinsOfOneBlock = 4096;
/// Block size of the stages that only compute: small, so that many blocks fit on a multiprocessor
/// whatever registers they need.
constexpr unsigned kPixelBlock = 256;
/// Block size of the stages that first make tables of 256 entries: large, so that few blocks make
/// them.
constexpr unsigned kValueBlock = 512;

void check_format(PixelFormat format) {
  const ColorModel model = traits(format).model;
  if (has_byte_samples(format) && (model == ColorModel::rgb || model == ColorModel::gray)) return;
  throw Error(ExitCode::usage, "the frame's format is " + std::string(to_string(format)) +
                                   ", must be gray8 or packed RGB of 8 bits for chain staged");
}

}  // namespace

void StagedChain::configure(const ImageDesc& desc) {
  check_format(desc.format);
  const StagedParams& knobs = params_.staged;
  const LaunchLimits limits = launch_limits();
  check_shape(knobs, limits);
  bins_ = params_.bins == 0 ? 256 : params_.bins;
  const auto bins = static_cast<std::size_t>(bins_);
  const std::size_t pixels =
      static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height);
  pixels_ = static_cast<std::uint32_t>(pixels);

  rgb_to_hsv_ = knobs.rgb_to_hsv.value_or(RgbToHsvVariant::coalesced);
  histogram_ = knobs.histogram.value_or(HistogramVariant::shared);
  scan_ = knobs.scan.value_or(bins_ <= kMostBinsOfOneBlock ? ScanVariant::kogge_stone_shared
                                                           : ScanVariant::cub);
  equalize_ = knobs.equalize.value_or(EqualizeVariant::curve);

  const std::uint64_t each =
      static_cast<std::uint64_t>(knobs.pixels_per_thread.value_or(kDefaultPixelsPerThread));
  const std::uint64_t items = (pixels + each - 1) / each;
  // The uncoalesced variant takes a grid of resident blocks: its runs differ from coalesced
  // accesses only where a thread has more pixels than it has in flight.
  const Blocks to_hsv_blocks =
      rgb_to_hsv_ == RgbToHsvVariant::coalesced ? Blocks::any : Blocks::resident;
  to_hsv_shape_ = shape_for(knobs, limits, items, kPixelBlock, to_hsv_blocks);
  value_shape_ = shape_for(knobs, limits, items, kValueBlock, Blocks::resident);
  scan_shape_ = shape_for(knobs, limits, bins, bins_ <= 256 ? 256 : 1024, Blocks::resident);
  to_rgb_shape_ = shape_for(knobs, limits, items, kPixelBlock, Blocks::any);
  histogram_shared_bytes_ = prepare_histogram();
  scan_shared_bytes_ = prepare_cdf_scan();

  h_ = allocate_device<float>(pixels);
  s_ = allocate_device<float>(pixels);
  v_ = allocate_device<float>(pixels);
  counts_ = allocate_device<std::uint32_t>(bins);
  cdf_ = allocate_device<std::uint32_t>(bins);
  scratch_ =
      allocate_device<std::uint8_t>(std::max<std::size_t>(scan_scratch_bytes(scan_, bins_), 1));
  curve_ = allocate_device<float>(bins);
}

void StagedChain::process(const ConstImageView& in, const ImageView& out,
                          const FrameContext& context) {
  const auto stream = static_cast<cudaStream_t>(context.stream);
  const auto stage = [&](const char* name, auto work) {
    const TraceRange range(name);
    work();
    context.mark(name);
  };
  const HsvPlanes hsv{h_.get(), s_.get(), v_.get()};
  stage("rgb_to_hsv", [&] { rgb_to_hsv(rgb_to_hsv_, to_hsv_shape_, in, hsv, stream); });
  stage("histogram", [&] {
    histogram(histogram_, value_shape_, hsv.v, pixels_, counts_.get(), bins_,
              histogram_shared_bytes_, stream);
  });
  stage("cdf_scan", [&] {
    cdf_scan(scan_, scan_shape_, {counts_.get(), cdf_.get(), scratch_.get()}, bins_, pixels_,
             scan_shared_bytes_, stream);
  });
  stage("equalize", [&] {
    equalize(equalize_, value_shape_, params_.scaler, cdf_.get(), bins_, hsv.v, pixels_,
             curve_.get(), stream);
  });
  stage("hsv_to_rgb", [&] { hsv_to_rgb(to_rgb_shape_, hsv, in, out, stream); });
}

}  // namespace equalux::cuda
