#include "src/cpu/equalize/curve_chain.h"

#include <utility>

#include "src/common/state_text.h"

namespace equalux {

void CurveChain::start_curves(int max_value) {
  max_value_ = max_value;
  curves_.configure(max_value);
  collector_.configure(max_value);
  set_bins();
  reset();
  if (params_.curve) fix_curve();
}

void CurveChain::set_bins() {
  curves_.set_bins(params_.bins == 0 ? 256 : params_.bins);
}

void CurveChain::update(const EqualizeParams& params) {
  if (excluded_) excluded_->update(params);
  control_.update(params);
  params_ = params;
  if (max_value_ == 0) return;
  set_bins();
  if (!params.curve) return;
  control_.reset();
  fix_curve();
}

void CurveChain::reset() {
  if (excluded_) excluded_->reset();
  control_.reset();
}

std::string CurveChain::save() const {
  std::string state = control_.active() ? control_.save(curves_.history(), max_value_) : "{}";
  return excluded_ ? excluded_->with_surround(std::move(state)) : state;
}

void CurveChain::load(std::string_view state) {
  // The surround is parsed before anything changes, so that a state is taken whole or not at all.
  const std::optional<surround::State> surround =
      excluded_ ? excluded_->surround_in(state) : std::nullopt;
  if (control_.active()) {
    curves_.set_history(control_.load(state, max_value_));
  } else {
    take_no_state(state, surround::kStateKey);
  }
  if (excluded_) excluded_->go_on(surround);
}

}  // namespace equalux
