#include "cuda/equalize/curve_chain.h"

#include <utility>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "src/common/state_text.h"
#include "src/equalize/fixed_curve.h"

namespace equalux::cuda {

void CurveChain::start_curves(const Kept& kept) {
  kept_ = kept;
  collected_ = 0;
  upload_bins();
  upload_curve();
  control_.reset();
}

void CurveChain::update(const EqualizeParams& params) {
  if (excluded_) excluded_->update(params);
  control_.update(params);
  const bool other_tables = params.bins != params_.bins || params.curve != params_.curve;
  params_ = params;
  if (params.curve) control_.reset();
  if (!other_tables || kept_.history == nullptr) return;
  check(cudaDeviceSynchronize(), "waiting for frames with the parameters before");
  upload_bins();
  upload_curve();
}

void CurveChain::reset() {
  if (excluded_) excluded_->reset();
  control_.reset();
}

std::string CurveChain::save() const {
  if (kept_.history == nullptr) return "{}";
  std::string state = "{}";
  if (control_.active()) {
    tone::History history;
    check(cudaDeviceSynchronize(), "waiting for the frames under way");
    check(cudaMemcpy(&history, kept_.history, sizeof history, cudaMemcpyDeviceToHost),
          "reading the history");
    state = control_.save(history, kept_.max_value);
  }
  return excluded_ ? excluded_->with_surround(std::move(state)) : state;
}

void CurveChain::load(std::string_view state) {
  if (kept_.history == nullptr) return;
  // The surround is parsed before anything changes, so that a state is taken whole or not at all.
  const std::optional<surround::State> surround =
      excluded_ ? excluded_->surround_in(state) : std::nullopt;
  if (control_.active()) {
    const tone::History history = control_.load(state, kept_.max_value);
    check(cudaDeviceSynchronize(), "waiting for the frames under way");
    upload(kept_.history, &history, sizeof history, "writing the history");
  } else {
    take_no_state(state, surround::kStateKey);
  }
  if (excluded_) excluded_->go_on(surround);
}

std::optional<CurveSum> CurveChain::curve_sum() const {
  if (!collects_ || kept_.history == nullptr) return std::nullopt;
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(kept_.max_value) + 1);
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  check(cudaMemcpy(sums.data(), kept_.curve_sums, sums.size() * sizeof(std::uint64_t),
                   cudaMemcpyDeviceToHost),
        "reading the curves");
  return curve_sum_of(params_, collected_, std::move(sums));
}

}  // namespace equalux::cuda
