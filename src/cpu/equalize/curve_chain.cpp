#include "src/cpu/equalize/curve_chain.h"

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
  control_.update(params);
  params_ = params;
  if (max_value_ == 0) return;
  set_bins();
  if (!params.curve) return;
  control_.reset();
  fix_curve();
}

std::string CurveChain::save() const {
  return control_.active() ? control_.save(curves_.history(), max_value_) : "{}";
}

void CurveChain::load(std::string_view state) {
  if (!control_.active()) return;
  curves_.set_history(control_.load(state, max_value_));
}

}  // namespace equalux
