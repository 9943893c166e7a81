#include "cuda/equalize/deep/deep_saturation_pass.h"

#include <utility>
#include <vector>

#include "cuda/runtime/device_copy.h"

namespace equalux::cuda {

void DeepSaturationPass::configure(const ImageDesc& desc) {
  coloured_ = traits(desc.format).model != ColorModel::gray;
  device_ = deep_device();
  frame_ = deep_frame_of(desc, deep_samples(desc));
  factors_.reset();
}

void DeepSaturationPass::prepare() {
  if (!coloured_ || factors_ != nullptr) return;
  const auto levels = static_cast<std::uint32_t>(frame_.form.weights.luma_max) + 1;
  std::vector<std::uint32_t> curve(levels);
  std::vector<std::uint64_t> gains(levels);
  for (std::uint32_t v = 0; v < levels; ++v) {
    curve[v] = v << kDeepCurveBits;
    gains[v] = deep_gain(curve[v], v, frame_.form.depth);
  }
  curve_ = uploaded(curve, "uploading the identity");
  gains_ = uploaded(gains, "uploading the identity");
  if (frame_.sampling != Sampling::gray) lines_ = allocate_device<DeepLine>(levels);
  auto factors = allocate_device<std::uint32_t>(levels);
  fill_device(factors.get(), 0, levels * sizeof(std::uint32_t), "clearing the factors");
  factors_ = std::move(factors);
}

std::uint32_t* DeepSaturationPass::factors() {
  prepare();
  return factors_.get();
}

void DeepSaturationPass::enqueue(const ImageView& frame, const FrameContext& context,
                                 const DeepRounding& rounding) {
  DeepFrame pass = frame_;
  pass.interlaced = context.field_order != FieldOrder::progressive;
  pass.rounding = rounding;
  set_planes(pass, frame, frame);
  DeepTables same{};
  same.levels = static_cast<std::uint32_t>(frame_.form.weights.luma_max) + 1;
  same.curve = curve_.get();
  same.gains = gains_.get();
  same.factors = factors();
  same.lines = lines_.get();
  const auto stream = static_cast<cudaStream_t>(context.stream);
  if (lies_in_strips(pass)) deep_lines(same, pass, device_, stream);
  deep_apply(pass, same, true, device_, stream);
  context.mark("saturation");
}

}  // namespace equalux::cuda
