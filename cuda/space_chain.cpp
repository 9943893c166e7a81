#include "space_chain.h"

#include <array>
#include <memory>

#include "check.h"
#include "device_copy.h"
#include "history_copy.h"
#include "tone_curve.h"

namespace equalux::cuda {

void SpaceChain::configure(const ImageDesc&) {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  state_ = allocate_device<SpaceState>(1);
  fill_device(state_.get(), 0, sizeof(SpaceState), "clearing the histogram");
  const auto tables = std::make_unique<const SpaceTables>(make_space_tables(params_.space));
  upload(&state_->tables, tables.get(), sizeof *tables, "uploading the tables");
  upload_bins();
  control_.reset();
}

void SpaceChain::upload_bins() {
  const std::array last = last_levels_of_bins(params_.bins, 255);
  upload(&state_->last_of_bin, last.data(), last.size(), "uploading the bins");
}

void SpaceChain::update(const EqualizeParams& params) {
  control_.update(params);
  const bool other_bins = params.bins != params_.bins;
  params_ = params;
  if (!other_bins || !state_) return;
  check(cudaDeviceSynchronize(), "waiting for frames with the bins before");
  upload_bins();
}

std::string SpaceChain::save() const {
  if (!control_.active() || !state_) return "{}";
  return save_history(control_, &state_->history, 255);
}

void SpaceChain::load(std::string_view state) {
  if (control_.active() && state_) load_history(control_, state, &state_->history, 255);
}

void SpaceChain::enqueue(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context, cudaStream_t stream) {
  const auto mark = [&](const char* stage) {
    if (context.marks != nullptr) context.marks->mark(stage, stream);
  };
  space_histogram(params_.space, in, state_.get(), multiprocessors_, stream);
  mark("histogram");
  space_curve(control_.next(context), state_.get(), stream);
  space_table(params_.space, state_.get(), stream);
  mark("curve");
  space_apply(params_.space, in, out, state_.get(), multiprocessors_, stream);
  mark("apply");
}

}  // namespace equalux::cuda
