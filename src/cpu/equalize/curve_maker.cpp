#include "src/cpu/equalize/curve_maker.h"

#include <algorithm>
#include <numeric>

#include "src/equalize/tone/tone_curve.h"

namespace equalux {
namespace {

using Quantiles = std::array<std::uint32_t, tone::kQuantiles>;

/// Sum of the distances of quantiles from others times a gain.
std::uint32_t distance_of(const Quantiles& from, const Quantiles& to, std::uint32_t gain) {
  std::uint32_t sum = 0;
  for (std::size_t j = 0; j < tone::kQuantiles; ++j) {
    sum += tone::distance(to[j], tone::scaled_quantile(from[j], gain));
  }
  return sum;
}

/// Gain with the least distance. The sum is convex and piecewise linear, with corners where a gain
/// maps a quantile exactly to the other's: the minimum is at one of them, and every second one is
/// tried. Of equal ones the first.
tone::Match best_match(const Quantiles& from, const Quantiles& to, std::uint32_t kept_gain) {
  tone::Match best;
  for (std::uint32_t i = 0; i < tone::kTried; ++i) {
    const std::size_t j = tone::tried(i);
    const std::uint32_t gain = tone::gain_between(from[j], to[j]);
    if (gain == 0) continue;
    const std::uint32_t distance = distance_of(from, to, gain);
    if (distance < best.distance) {
      best.gain = gain;
      best.distance = distance;
    }
  }
  best.kept = distance_of(from, to, kept_gain);
  return best;
}

std::uint32_t sum_of(const Quantiles& quantiles) {
  return std::accumulate(quantiles.begin(), quantiles.end(), 0U);
}

/// Returns true where a frame with quantiles `to` shows another scene than one with `from`.
bool is_cut(const Quantiles& from, const Quantiles& to, const tone::Match& match) {
  Quantiles matched;
  for (std::size_t j = 0; j < tone::kQuantiles; ++j) {
    matched[j] = tone::scaled_quantile(from[j], match.gain);
  }
  const std::uint32_t sum = (sum_of(to) + sum_of(matched)) / 2;
  std::uint32_t difference = 0;
  for (std::size_t j = 0; j < tone::kQuantiles; ++j) {
    difference += tone::capped(tone::distance(to[j], matched[j]), sum);
  }
  return tone::is_cut(match.gain, difference, sum);
}

Quantiles quantiles_of(const std::uint32_t* distribution, std::uint32_t max_value) {
  Quantiles quantiles;
  std::uint32_t j = 0;
  for (std::uint32_t v = 0; v <= max_value; ++v) {
    const std::uint32_t before = v == 0 ? 0 : distribution[v - 1];
    const std::uint32_t end = tone::first_quantile(distribution[v]);
    for (; j < end; ++j)
      quantiles[j] = tone::quantile_at(j, v, before, distribution[v]);
  }
  // Brightest pixels of the base may exceed what a frame can hold.
  for (; j < tone::kQuantiles; ++j)
    quantiles[j] = (max_value + 1) * tone::kLevel;
  return quantiles;
}

}  // namespace

void CurveMaker::configure(int max_value) {
  max_value_ = static_cast<std::uint32_t>(max_value);
  history_ = {};
}

void CurveMaker::set_bins(int bins) {
  last_of_bin_ = last_levels_of_bins(bins, static_cast<std::int32_t>(max_value_));
}

const CurveTable& CurveMaker::make(const ValueHistogram& counts, const tone::Frame& frame) {
  if (frame.over_time) {
    if (frame.fresh) history_ = {};
    if (history_.frames != 0) follow_history(frame.limits, absorb_last_frame());
  }
  measure(counts);
  if (!frame.over_time || !follow(frame.rates)) {
    distribution_ = frame_;
    start_curve(frame);
    inverse_flicker_ = tone::kUnit;
  }
  unflicker();
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    stretched_[v] = tone::limit_gain(frame.limits, min_gain_, v, stretched_[v]);
  }
  return stretched_;
}

/// Makes the curve of the history; its mean exposure is `brighter` times the one before.
void CurveMaker::follow_history(const tone::Limits& limits, std::uint32_t brighter) {
  tone::History& h = history_;
  h.ends = tone::stretches(limits)
               ? tone::ends_after(h.ends, ends_of(limits), brighter, h.rate, max_value_)
               : tone::kUnknownEnds;
  const tone::Ends ends = tone::span_between(limits, h.ends, max_value_);
  h.evenness = tone::follows_contrast(limits)
                   ? tone::evenness_after(h.evenness, evenness_between(ends), h.rate)
                   : tone::kUnknownEvenness;
  make_limited(limits, ends, h.evenness);
}

/// Makes the curve of a frame from itself.
void CurveMaker::start_curve(const tone::Frame& frame) {
  const tone::Limits& limits = frame.limits;
  const tone::Ends own = tone::stretches(limits) ? ends_of(limits).own : tone::kUnknownEnds;
  const tone::Ends ends = tone::span_between(limits, own, max_value_);
  const std::uint32_t evenness =
      tone::follows_contrast(limits) ? evenness_between(ends) : tone::kUnknownEvenness;
  if (frame.over_time) {
    history_.ends = own;
    history_.evenness = evenness;
  }
  make_limited(limits, ends, evenness);
}

/// Ends of the distribution.
tone::FoundEnds CurveMaker::ends_of(const tone::Limits& limits) const {
  tone::FoundEnds ends{tone::all_levels(max_value_), tone::all_levels(max_value_)};
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    tone::find_ends(limits, v, v == 0 ? 0 : distribution_[v - 1], distribution_[v], ends);
  }
  return ends;
}

/// Evenness of the distribution over the levels between the ends.
std::uint32_t CurveMaker::evenness_between(const tone::Ends& ends) const {
  const std::uint32_t last = tone::levels_between(ends);
  std::uint32_t sum = 0;
  std::uint32_t before = 0;
  for (std::uint32_t v = tone::kEvenBin - 1; v <= max_value_; v += tone::kEvenBin) {
    sum += tone::even_part(distribution_[v] - before, last);
    before = distribution_[v];
  }
  return tone::evenness_in_all(sum);
}

/// Measures the frame's distribution.
void CurveMaker::measure(const ValueHistogram& counts) {
  std::uint32_t total = 0;
  for (std::uint32_t v = 0; v <= max_value_; ++v)
    frame_[v] = total += counts[v];
  const double per_pixel = tone::kWhole / static_cast<double>(total);
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    frame_[v] = tone::fraction_of(frame_[v], per_pixel);
  }
}

/// Takes the last frame into the history and reads that at the mean exposure. Returns the ratio of
/// this exposure to the one before.
std::uint32_t CurveMaker::absorb_last_frame() {
  tone::History& h = history_;
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    h.distribution[v] =
        tone::between(h.distribution[v], tone::at_base(h.frame, v, h.gain, max_value_), h.rate);
  }
  const std::uint32_t exposure = h.exposure;
  h.exposure = tone::exposure_after(exposure, h.gain, h.rate);
  const std::uint32_t brighter = tone::ratio_of(h.exposure, exposure);
  const std::uint32_t inverse = tone::ratio_of(tone::kUnit, h.exposure);
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    distribution_[v] = tone::at_exposure(h.distribution, v, inverse, max_value_);
  }
  if (!tone::moves_base(h.exposure)) return brighter;
  std::copy(distribution_.begin(), distribution_.end(), h.distribution);
  h.gain = tone::scaled_by(h.gain, inverse);
  h.exposure = tone::kUnit;
  return brighter;
}

/// Estimates the frame's gain and keeps the frame for the next one's history. Returns false for a
/// first frame and after a cut, when its own distribution makes the curve.
bool CurveMaker::follow(const tone::Rates& rates) {
  tone::History& h = history_;
  const Quantiles now = quantiles_of(frame_.data(), max_value_);
  Quantiles last;
  std::copy(std::begin(h.previous), std::end(h.previous), last.begin());
  std::copy(now.begin(), now.end(), h.previous);
  std::copy(frame_.begin(), frame_.end(), h.frame);
  if (h.frames == 0) {
    start_history();
    return false;
  }
  const tone::Match by_last = best_match(last, now, tone::kUnit);
  if (is_cut(last, now, by_last)) {
    start_history();
    return false;
  }
  const Quantiles base = quantiles_of(h.distribution, max_value_);
  const tone::Match by_base = best_match(base, now, h.gain);
  const std::uint32_t last_gain = h.gain;
  h.gain = tone::gain_of(tone::propose_by_base(by_base, last_gain),
                         tone::propose_by_last(by_last, last_gain), last_gain);
  h.rate = tone::rate_of(sum_of(now), sum_of(base), h.exposure, h.least_rate, rates);
  h.frames = tone::frames_after(h.frames);
  h.least_rate = tone::least_rate_after(h.frames);
  inverse_flicker_ = tone::inverse_flicker(h.exposure, h.gain, last_gain);
  return true;
}

void CurveMaker::start_history() {
  std::copy(frame_.begin(), frame_.end(), history_.distribution);
  history_.gain = tone::kUnit;
  history_.rate = 0;
  history_.exposure = tone::kUnit;
  history_.frames = 1;
  history_.least_rate = tone::least_rate_after(1);
}

/// Makes the curve of the distribution between these ends; `evenness` is known if a limit depends
/// on it.
void CurveMaker::make_limited(const tone::Limits& limits, const tone::Ends& ends,
                              std::uint32_t evenness) {
  CurveTable parts;
  std::array<bool, 256> rises;
  std::uint32_t levels = 0;
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    const std::uint32_t before = v == 0 ? 0 : distribution_[v - 1];
    parts[v] = tone::part_between(limits, before, distribution_[v]);
    rises[v] = tone::may_rise(limits, ends, v, before, distribution_[v]);
    levels += rises[v] ? 1 : 0;
  }
  const std::uint32_t most = tone::clip_at(limits, levels, max_value_);
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
  std::uint32_t rest = 0;
  for (std::uint32_t v = 0; limits.clip != 0 && v <= max_value_; ++v) {
    if (rises[v]) rest += tone::clipped(parts[v], given, most);
  }
  const std::uint32_t extra = limits.clip == 0 ? 0 : tone::clip_step(limits, rest, levels);
  CurveTable sums;
  std::uint32_t sum = 0;
  std::uint32_t first = max_value_;
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    if (rises[v]) sum += tone::clipped(parts[v], given, most) + extra;
    sums[v] = sum;
    if (sum != 0) first = std::min(first, v);
  }
  const std::uint32_t offset =
      tone::sum_offset(limits.scaler, sums[last_of_bin_[0]], sums[last_of_bin_[first]]);
  const tone::Span span = tone::span_of(limits, offset, sum, max_value_);
  const std::uint32_t contrast = tone::follows_contrast(limits) ? tone::contrast_of(evenness) : 0;
  min_gain_ = tone::min_gain_at(limits, contrast);
  const std::uint32_t strength = tone::strength_at(limits, contrast);
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    curve_[v] =
        tone::curve_at(strength, tone::line_at(ends, v, max_value_), sums[last_of_bin_[v]], span);
  }
}

/// Stretches the curve from the mean exposure to the frame's.
void CurveMaker::unflicker() {
  for (std::uint32_t v = 0; v <= max_value_; ++v) {
    const std::uint32_t position = tone::unflickered(v, inverse_flicker_, max_value_);
    stretched_[v] = tone::curve_between(curve_.data(), position, max_value_);
  }
}

}  // namespace equalux
