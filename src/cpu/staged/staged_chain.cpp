#include "src/cpu/staged/staged_chain.h"

#include "src/common/stage_clock.h"

namespace equalux {

StagedChain::StagedChain(const EqualizeParams& params, RowExecutor& executor)
    : params_(params), executor_(executor) {}

void StagedChain::configure(const ImageDesc& desc) {
  const auto bins = static_cast<std::size_t>(params_.bins == 0 ? 256 : params_.bins);
  hsv_.resize(static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height));
  counts_.resize(bins);
  partial_.resize(bins * static_cast<std::size_t>(executor_.threads()));
  cdf_.resize(bins);
  scratch_.resize(bins);
  curve_.resize(bins);
}

void StagedChain::process(const ConstImageView& in, const ImageView& out,
                          const FrameContext& context) {
  StageClock clock(context.timings);
  rgb_to_hsv(in, hsv_, executor_);
  clock.lap("rgb_to_hsv");
  histogram(hsv_.v, counts_, partial_, executor_);
  clock.lap("histogram");
  cdf_scan(params_.staged.scan, counts_, cdf_, scratch_);
  clock.lap("cdf_scan");
  equalize(params_.staged.equalize.value_or(EqualizeVariant::curve), cdf_,
           scale_of(params_.scaler, counts_, cdf_), hsv_.v, curve_, executor_);
  clock.lap("equalize");
  hsv_to_rgb(hsv_, in, out, executor_);
  clock.lap("hsv_to_rgb");
}

}  // namespace equalux
