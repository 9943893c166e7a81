#include "cuda/equalize/deep/deep_chain.h"

#include <array>
#include <utility>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"
#include "src/equalize/fixed_curve.h"
#include "src/format/layout.h"

namespace equalux::cuda {

void DeepChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  device_ = deep_device();
  frame_ = deep_frame_of(desc, deep_samples(desc, params_.space));

  excluded_->configure(desc, frame_.form.weights);
  const auto levels = static_cast<std::uint32_t>(frame_.form.weights.luma_max) + 1;
  const std::uint32_t copies = levels <= kDeepSharedLevels ? 1 : kDeepCopies;

  // Memory for counts, ends of bins, sums, curve, k, two words per scan block, and counts of coarse
  // levels.
  const std::size_t words = std::size_t{copies + 4} * levels + 2 * kDeepScanBlocks + 256;
  words_ = allocate_device<std::uint32_t>(words);
  gains_ = allocate_device<std::uint64_t>(levels);
  last_of_bin_ = allocate_device<std::uint8_t>(256);
  histories_ = allocate_device<tone::History>(2);
  fill_device(words_.get(), 0, words * sizeof(std::uint32_t), "clearing the histogram");
  fill_device(histories_.get(), 0, 2 * sizeof(tone::History), "clearing the history");
  std::uint32_t* at = words_.get();
  const auto take = [&](std::size_t count) {
    std::uint32_t* table = at;
    at += count;
    return table;
  };
  tables_.levels = levels;
  tables_.copies = copies;
  tables_.wide_counters = levels > kDeepSharedLevels && allow_wide_counters();
  tables_.counts = take(std::size_t{copies} * levels);
  tables_.coarse_counts = take(256);
  const bool small = levels <= kDeepSharedLevels;
  tables_.cleared = small ? tables_.counts : tables_.coarse_counts;
  tables_.cleared_words = small ? levels + 256 : 256;
  tables_.bin_ends = take(levels);
  tables_.sums = take(levels);
  tables_.curve = take(levels);
  colours_.configure(desc);
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  const bool recolours = params_.space == Space::luma && yuv;
  tables_.factors = recolours ? colours_.factors() : take(levels);
  const bool lines = !recolours && frame_.sampling != Sampling::gray;
  lines_ = lines ? allocate_device<DeepLine>(levels) : nullptr;
  tables_.lines = lines_.get();
  tables_.block_sums = take(kDeepScanBlocks);
  tables_.block_darkest = take(kDeepScanBlocks);
  tables_.gains = gains_.get();
  tables_.last_of_bin = last_of_bin_.get();
  tables_.history = histories_.get();
  tables_.history_before = histories_.get() + 1;
  if (recolours && rounds_) fine_ = allocate_device<std::uint8_t>(image_layout(desc_).bytes);
  curve_sums_ = allocate_device<unsigned long long>(256);
  fill_device(curve_sums_.get(), 0, 256 * sizeof(unsigned long long), "clearing the curves");
  start_curves({tables_.history, curve_sums_.get(), static_cast<int>(coarse_max(frame_.form))});
}

void DeepChain::upload_bins() {
  std::vector<std::uint32_t> bin_ends(tables_.levels);
  const int bins = deep_bins(params_.bins, frame_.form.depth);
  for (std::uint32_t v = 0; v < tables_.levels; ++v)
    bin_ends[v] = last_of_bin(v, bins, frame_.form.weights.luma_max);
  const std::array last_of =
      last_levels_of_bins(params_.bins, static_cast<std::int32_t>(coarse_max(frame_.form)));
  upload(tables_.bin_ends, bin_ends.data(), bin_ends.size() * sizeof(std::uint32_t),
         "uploading the bins");
  upload(last_of_bin_.get(), last_of.data(), last_of.size(), "uploading the bins");
}

void DeepChain::upload_curve() {
  if (!params_.curve) return;
  const auto curve = deep_curve_table(*params_.curve, frame_.form.weights.luma_max);
  std::vector<std::uint64_t> gains(curve.size());
  for (std::uint32_t v = 0; v < curve.size(); ++v)
    gains[v] = deep_gain(curve[v], v, frame_.form.depth);
  upload(tables_.gains, gains.data(), gains.size() * sizeof(std::uint64_t), "uploading the curve");
  upload(tables_.curve, curve.data(), curve.size() * sizeof(std::uint32_t), "uploading the curve");
}

void DeepChain::count_frame(const ConstImageView& in, const DeepFrame& frame,
                            const DeepCount& count, const FrameContext& context,
                            cudaStream_t stream) {
  deep_histogram(frame, count, device_, stream);
  if (excluded_->active()) excluded_->leave_out(in, context, count, stream);
  context.mark("histogram");
}

void DeepChain::make_curve(const ConstImageView& in, const DeepFrame& frame,
                           const FrameContext& context, cudaStream_t stream) {
  unsigned long long* sums = collects_ ? curve_sums_.get() : nullptr;
  collected_ += collects_ ? 1 : 0;
  saturates_ = recolours_ = false;
  if (control_.active()) {
    const tone::Frame tone = control_.next(context);
    const bool of_luma = params_.space == Space::luma;
    (of_luma ? recolours_ : saturates_) =
        frame_.sampling != Sampling::gray && saturation::changes(tone.saturation);
    count_frame(in, frame, counted_coarse_levels(tables_, frame_.form, tone), context, stream);
    deep_shaped_curve(tables_, frame, tone, of_luma ? FactorsBy::results : FactorsBy::values, sums,
                      device_, stream);
  } else {
    DeepTables tables = tables_;
    // Blocks with all counters in shared memory need no copies of the histogram in device memory.
    if (tables.wide_counters && (reads_pixel_strips(frame) || reads_yuv_strips(frame)))
      tables.copies = 1;
    count_frame(in, frame, counted_values(tables), context, stream);
    deep_curve(tables, params_.scaler, frame_.form, sums, device_, stream);
  }
  context.mark("curve");
}

DeepRounding DeepChain::rounding_to(const ImageView& out, Dither dither) const {
  DeepRounding rounding{};
  rounding.active = true;
  rounding.dither = dither;
  rounding.bits = frame_.form.depth - 8;
  for (int i = 0; i < 3; ++i)
    rounding.out[i] = samples_of(out, i);
  // Colours in the order in which they are in memory.
  const RgbLayout pixel = rgb_layout(out.desc.format);
  if (pixel.b < pixel.r) std::swap(rounding.out[0], rounding.out[2]);
  rounding.alpha = pixel.alpha - pixel.first();
  return rounding;
}

void DeepChain::process(const ConstImageView& in, const ImageView& out,
                        const FrameContext& context) {
  const TraceRange range("deep");
  const auto stream = static_cast<cudaStream_t>(context.stream);
  DeepFrame frame = frame_of(in, out, context);
  if (rounds_) frame.rounding = rounding_to(out, context.dither);
  if (!params_.curve) make_curve(in, frame, context, stream);
  if (params_.curve || !recolours_) {
    deep_apply(frame, tables_, saturates_ && !params_.curve, device_, stream);
    return context.mark("apply");
  }
  const ImageView first = rounds_ ? image_layout(desc_).view(desc_, fine_.get()) : out;
  deep_apply(frame_of(in, first, context), tables_, false, device_, stream);
  context.mark("apply");
  colours_.enqueue(first, context, frame.rounding);
}

DeepFrame DeepChain::frame_of(const ConstImageView& in, const ImageView& out,
                              const FrameContext& context) const {
  DeepFrame frame = frame_;
  frame.interlaced = context.field_order != FieldOrder::progressive;
  set_planes(frame, in, out);
  return frame;
}

}  // namespace equalux::cuda
