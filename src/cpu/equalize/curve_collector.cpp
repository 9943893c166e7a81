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
  const auto max_value = static_cast<std::uint32_t>(levels_.size() - 1);
  const std::array last = last_levels_of_bins(bins, static_cast<std::int32_t>(max_value));
  std::array<std::uint64_t, 256> sums{};
  std::uint64_t sum = 0;
  std::uint32_t darkest = max_value;
  for (std::uint32_t v = 0; v <= max_value; ++v) {
    if (counts[v] != 0) darkest = std::min(darkest, v);
    sums[v] = sum += counts[v];
  }
  const CurveScale scale = curve_scale(scaler, sums[last[0]], sums[last[darkest]], sum);
  CurveTable curve{};
  for (std::uint32_t v = 0; v <= max_value; ++v)
    curve[v] = plain_level(scale, sums[last[v]], v, max_value);
  add(curve);
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
