#include "cpu/curve_maker.h"

#include <algorithm>

#include "tone_curve.h"

namespace equalux {
namespace {

using tone::Match;

/// Sum of the differences of quantiles from others times a gain.
std::uint32_t distance_of(const std::uint32_t* from, const std::uint32_t* to, std::uint32_t gain) {
  std::uint32_t sum = 0;
  for (std::uint32_t j = 0; j < tone::kQuantiles; ++j) {
    sum += tone::distance(to[j], tone::scaled_quantile(from[j], gain));
  }
  return sum;
}

/// The gain with the least distance: it takes one of the quantiles exactly to the other's, as the
/// sum is convex and has its corners there. Of equal ones the first.
Match best_match(const std::uint32_t* from, const std::uint32_t* to) {
  Match best;
  for (std::uint32_t j = 0; j < tone::kQuantiles; ++j) {
    const std::uint32_t gain = tone::gain_between(from[j], to[j]);
    if (gain == 0) continue;
    const std::uint32_t distance = distance_of(from, to, gain);
    if (distance < best.distance) best = {gain, distance};
  }
  return best;
}

void find_quantiles(const std::uint32_t* distribution, std::uint32_t max_value,
                    std::uint32_t* quantiles) {
  std::uint32_t j = 0;
  for (std::uint32_t v = 0; v <= max_value; ++v) {
    const std::uint32_t before = v == 0 ? 0 : distribution[v - 1];
    const std::uint32_t end = tone::first_quantile(distribution[v]);
    for (; j < end; ++j) quantiles[j] = tone::quantile_at(j, v, before, distribution[v]);
  }
  // The base's brightest pixels may lie above what a frame can hold.
  for (; j < tone::kQuantiles; ++j) quantiles[j] = (max_value + 1) * tone::kLevel;
}

}  // namespace

void CurveMaker::configure(int max_value) {
  max_value_ = static_cast<std::uint32_t>(max_value);
  history_ = {};
}

void CurveMaker::set_bins(int bins) {
  const auto max_value = static_cast<int>(max_value_);
  for (int v = max_value; v >= 0; --v) {
    const bool joined = v < max_value && bin_of(v + 1, bins, max_value) == bin_of(v, bins, max_value);
    const auto at = static_cast<std::size_t>(v);
    last_of_bin_[at] = joined ? last_of_bin_[at + 1] : static_cast<std::uint8_t>(v);
  }
}

const CurveTable& CurveMaker::make(const ValueHistogram& counts, const tone::Frame& frame) {
  measure(counts);
  if (!frame.over_time) {
    distribution_ = frame_;
    make_limited(frame.limits);
    stretched_ = curve_;
  } else {
    if (frame.fresh) history_ = {};
    follow(frame.rates);
    make_limited(frame.limits);
    unflicker();
  }
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    stretched_[v] = tone::limit_gain(frame.limits, v, stretched_[v]);
  }
  return stretched_;
}

/// The frame's distribution.
void CurveMaker::measure(const ValueHistogram& counts) {
  std::uint32_t total = 0;
  for (std::uint32_t v = 0; v <= max_value_; ++v) frame_[v] = total += counts[v];
  const double per_pixel = tone::kWhole / static_cast<double>(total);
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    frame_[v] = tone::fraction_of(frame_[v], per_pixel);
  }
}

tone::Comparison CurveMaker::compare() const {
  std::array<std::uint32_t, tone::kQuantiles> reference;
  find_quantiles(history_.distribution, max_value_, reference.data());
  const std::uint32_t* now = quantiles_.data();
  const std::uint32_t* last = history_.previous;
  tone::Comparison c;
  c.base = best_match(reference.data(), now);
  c.last = best_match(last, now);
  c.base_kept = distance_of(reference.data(), now, history_.gain);
  c.last_kept = distance_of(last, now, tone::kUnit);
  std::uint32_t sums = 0;
  for (std::size_t j = 0; j < tone::kQuantiles; ++j) {
    c.now_sum += now[j];
    c.base_sum += reference[j];
    sums += now[j] + tone::scaled_quantile(last[j], c.last.gain);
  }
  c.capped_sum = sums / 2;
  for (std::size_t j = 0; j < tone::kQuantiles; ++j) {
    c.capped_difference += tone::capped(
        tone::distance(now[j], tone::scaled_quantile(last[j], c.last.gain)), c.capped_sum);
  }
  return c;
}

/// Takes the frame into the history.
void CurveMaker::follow(const tone::Rates& rates) {
  tone::History& h = history_;
  find_quantiles(frame_.data(), max_value_, quantiles_.data());
  const tone::Comparison comparison = h.frames == 0 ? tone::Comparison{} : compare();
  const tone::Decision d = tone::decide(h.frames, h.gain, h.exposure, comparison, rates);
  std::copy(quantiles_.begin(), quantiles_.end(), h.previous);
  if (d.cut) return start_history();
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    h.distribution[v] = tone::between(
        h.distribution[v], tone::at_base(frame_.data(), v, d.gain, max_value_), d.rate);
  }
  h.gain = d.gain;
  h.exposure = d.exposure;
  h.frames = tone::frames_after(h.frames);
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    distribution_[v] = tone::at_exposure(h.distribution, v, d.inverse_exposure, max_value_);
  }
  inverse_flicker_ = d.inverse_flicker;
  if (!tone::moves_base(h.exposure)) return;
  std::copy(distribution_.begin(), distribution_.end(), h.distribution);
  h.gain = tone::scaled_by(h.gain, d.inverse_exposure);
  h.exposure = tone::kUnit;
}

void CurveMaker::start_history() {
  std::copy(frame_.begin(), frame_.end(), history_.distribution);
  history_.gain = tone::kUnit;
  history_.exposure = tone::kUnit;
  history_.frames = 1;
  distribution_ = frame_;
  distribution_[max_value_] = tone::kWhole;
  inverse_flicker_ = tone::kUnit;
}

/// The curve of the distribution.
void CurveMaker::make_limited(const tone::Limits& limits) {
  CurveTable parts;
  std::array<bool, 256> rises;
  std::uint32_t levels = 0;
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    const std::uint32_t before = v == 0 ? 0 : distribution_[v - 1];
    parts[v] = tone::part_between(limits, before, distribution_[v]);
    rises[v] = tone::may_rise(limits, before, distribution_[v]);
    levels += rises[v] ? 1 : 0;
  }
  const std::uint32_t most = tone::clip_at(limits, levels);
  std::uint32_t given = 0;
  for (int i = 0; limits.clip != 0 && i < tone::kMostClipSteps; ++i) {
    std::uint32_t sum = 0;
    std::uint32_t open = 0;
    for (std::uint32_t v = 0; v <= max_value_; ++v) {
      if (!rises[v]) continue;
      sum += tone::clipped(parts[v], given, most);
      open += parts[v] + given < most ? 1 : 0;
    }
    const std::uint32_t step = tone::clip_step(limits, sum, open);
    if (step == 0) break;
    given += step;
  }
  CurveTable sums;
  std::uint32_t sum = 0;
  std::uint32_t first = max_value_;
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    if (rises[v]) sum += tone::clipped(parts[v], given, most);
    sums[v] = sum;
    if (sum != 0) first = std::min(first, v);
  }
  const std::uint32_t offset =
      tone::sum_offset(limits.scaler, sums[last_of_bin_[0]], sums[last_of_bin_[first]]);
  const tone::Span span = tone::span_of(offset, sum, max_value_);
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    curve_[v] = tone::curve_at(limits, v, sums[last_of_bin_[v]], span);
  }
}

/// Stretches the mean exposure's curve to the frame's.
void CurveMaker::unflicker() {
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    const std::uint32_t position = tone::unflickered(v, inverse_flicker_, max_value_);
    stretched_[v] = tone::curve_between(curve_.data(), position, max_value_);
  }
}

}  // namespace equalux
