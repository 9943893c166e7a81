#include "cuda/equalize/space/space_chain.h"

#include <array>
#include <memory>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/tone/tone_curve.h"

namespace equalux::cuda {

void SpaceChain::configure(const ImageDesc& desc) {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  state_ = allocate_device<SpaceState>(1);
  fill_device(state_.get(), 0, sizeof(SpaceState), "clearing the histogram");
  const auto tables = std::make_unique<const SpaceTables>(make_space_tables(params_.space));
  upload(&state_->tables, tables.get(), sizeof *tables, "uploading the tables");
  colours_.configure(desc);
  if (params_.saturation != 1) colours_.prepare();
  start_curves({&state_->history, state_->curve_sums, 255});
}

void SpaceChain::update(const EqualizeParams& params) {
  if (params.saturation != 1) colours_.prepare();
  CurveChain::update(params);
}

void SpaceChain::upload_bins() {
  const std::array last = last_levels_of_bins(params_.bins, 255);
  upload(&state_->last_of_bin, last.data(), last.size(), "uploading the bins");
}

void SpaceChain::upload_curve() {
  if (!params_.curve) return;
  const CurveTable curve = curve_table(*params_.curve, 255);
  upload(state_->curve, curve.data(), sizeof curve, "uploading the curve");
  space_table(params_.space, state_.get(), nullptr);
  check(cudaDeviceSynchronize(), "waiting for the tables");
}

void SpaceChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  const TraceRange range("space");
  const auto stream = static_cast<cudaStream_t>(context.stream);
  saturation::Rule rule;
  if (!params_.curve) {
    space_histogram(params_.space, in, state_.get(), multiprocessors_, stream);
    context.mark("histogram");
    const tone::Frame tone = control_.next(context);
    rule = tone.saturation;
    space_curve(tone, collects_, state_.get(), stream);
    space_table(params_.space, state_.get(), stream);
    collected_ += collects_ ? 1 : 0;
    context.mark("curve");
  }
  space_apply(params_.space, in, out, state_.get(), multiprocessors_, stream);
  context.mark("apply");
  if (!colours_.changes(rule)) return;
  if (rule.most != saturation::kOne) {
    space_factors(params_.space, rule, state_.get(), colours_.factors(), stream);
  }
  colours_.enqueue(out, rule, context);
}

}  // namespace equalux::cuda
