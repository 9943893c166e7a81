#include "src/cpu/equalize/curve_collector.h"

#include <algorithm>

#include "src/equalize/fixed_curve.h"

namespace equalux {

void CurveCollector::configure(int max_value) {
  frames_ = 0;
  levels_.assign(static_cast<std::size_t>(max_value) + 1, 0);
}

void CurveCollector::add(const CurveTable& curve) {
  ++frames_;
  for (std::size_t v = 0; v < levels_.size(); ++v)
    levels_[v] += curve[v];
}

void CurveCollector::add_plain(const ValueHistogram& counts, Scaler scaler, int bins) {
  add(plain_curve(counts, scaler, bins, static_cast<int>(levels_.size()) - 1));
}

void CurveCollector::add_deep(const DeepSamples& form, const std::vector<std::uint32_t>& curve) {
  CurveTable coarse{};
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    const DeepPlace place = place_of_level(form, level);
    const std::size_t after = std::min<std::size_t>(place.v + 1, curve.size() - 1);
    coarse[level] = coarse_from_deep(form, place, curve[place.v], curve[after]);
  }
  add(coarse);
}

std::optional<CurveSum> CurveCollector::sum(const EqualizeParams& params) const {
  if (!active_) return std::nullopt;
  return curve_sum_of(params, frames_, levels_);
}

}  // namespace equalux
