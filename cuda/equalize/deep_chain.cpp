#include "cuda/equalize/deep_chain.h"

#include <array>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"
#include "src/equalize/fixed_curve.h"

namespace equalux::cuda {
namespace {

DeepKind kind_of(PixelFormat format) {
  const FormatTraits& t = traits(format);
  if (t.model == ColorModel::gray) return DeepKind::gray;
  if (t.model == ColorModel::rgb) return DeepKind::rgb;
  if (t.chroma_shift_y != 0) return DeepKind::s420;
  return t.chroma_shift_x != 0 ? DeepKind::s422 : DeepKind::s444;
}

bool is_aligned(const void* data, std::ptrdiff_t stride) {
  return reinterpret_cast<std::uintptr_t>(data) % 4 == 0 && stride % 4 == 0;
}

}  // namespace

void DeepChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  const FormatTraits& t = traits(desc.format);
  frame_ = DeepFrame{};
  frame_.form = deep_samples(desc, params_.space);
  frame_.kind = kind_of(desc.format);
  frame_.width = desc.width;
  frame_.height = desc.height;
  const bool yuv = t.model == ColorModel::yuv;
  frame_.columns =
      static_cast<std::uint32_t>((desc.width + (1 << t.chroma_shift_x) - 1) >> t.chroma_shift_x);
  frame_.rows = static_cast<std::uint32_t>(yuv ? plane_rows(desc, 1) : desc.height);
  frame_.step = yuv ? t.step[1] : t.step[0];
  frame_.color_offset = 2 * t.color_offset;
  frame_.alpha_offset = t.alpha_offset < 0 ? -1 : 2 * t.alpha_offset;

  const auto levels = static_cast<std::uint32_t>(frame_.form.weights.luma_max) + 1;
  const std::uint32_t copies = levels <= kDeepSharedLevels ? 1 : kDeepCopies;

  // Counts, ends of bins, sums, curve, and the blocks' two.
  const std::size_t words = std::size_t{copies + 3} * levels + 2 * kDeepScanBlocks;
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
  tables_.counts = take(std::size_t{copies} * levels);
  tables_.bin_ends = take(levels);
  tables_.sums = take(levels);
  tables_.curve = take(levels);
  tables_.block_sums = take(kDeepScanBlocks);
  tables_.block_darkest = take(kDeepScanBlocks);
  tables_.gains = gains_.get();
  tables_.last_of_bin = last_of_bin_.get();
  tables_.history = histories_.get();
  tables_.history_before = histories_.get() + 1;
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
}

void DeepChain::make_curve(const FrameContext& context, cudaStream_t stream) {
  unsigned long long* sums = collects_ ? curve_sums_.get() : nullptr;
  collected_ += collects_ ? 1 : 0;
  if (control_.active()) {
    deep_shaped_curve(tables_, frame_.form, control_.next(context), sums, stream);
  } else {
    deep_curve(tables_, params_.scaler, frame_.form, sums, stream);
  }
}

void DeepChain::process(const ConstImageView& in, const ImageView& out,
                        const FrameContext& context) {
  const TraceRange range("deep");
  const auto stream = static_cast<cudaStream_t>(context.stream);
  const FormatTraits& t = traits(desc_.format);
  DeepFrame frame = frame_;
  frame.interlaced = context.field_order != FieldOrder::progressive;
  frame.aligned = true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.planes); ++i) {
    frame.in[i] = in.data[i];
    frame.out[i] = out.data[i];
    frame.in_stride[i] = in.stride[i];
    frame.out_stride[i] = out.stride[i];
    frame.aligned = frame.aligned && is_aligned(in.data[i], in.stride[i]) &&
                    is_aligned(out.data[i], out.stride[i]);
  }
  if (t.planes == 2) {
    // Cr lies behind each Cb.
    frame.in[2] = frame.in[1] + 2;
    frame.out[2] = frame.out[1] + 2;
    frame.in_stride[2] = frame.in_stride[1];
    frame.out_stride[2] = frame.out_stride[1];
  }
  const auto mark = [&](const char* stage) {
    if (context.marks != nullptr) context.marks->mark(stage, stream);
  };
  if (!params_.curve) {
    deep_histogram(frame, tables_, multiprocessors_, stream);
    mark("histogram");
    make_curve(context, stream);
    mark("curve");
  }
  deep_apply(frame, tables_, multiprocessors_, stream);
  mark("apply");
}

}  // namespace equalux::cuda
