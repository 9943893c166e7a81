#include "src/cpu/equalize/deep/deep_gains.h"

#include <algorithm>

#include "src/equalize/saturation.h"

namespace equalux {

void DeepGains::resize(const DeepSamples& form) {
  const auto levels = static_cast<std::size_t>(form.weights.luma_max) + 1;
  curve.assign(levels, 0);
  fixed.assign(levels, deep_gain_one(form.depth));
  scaled.assign(levels, deep_scaled_gain(0, 0, form.depth));
  words.assign(levels, 0);
}

void DeepSaturation::resize(const DeepSamples& form) {
  const auto levels = static_cast<std::size_t>(form.weights.luma_max) + 1;
  factors.assign(levels, saturation::kOne);
  lines.assign(levels, {0, 0});
  scalings.assign(form.depth > 12 ? 0 : levels, {0, 0});
  gains.assign(form.depth > 12 ? levels : 0, 0);
}

void DeepSaturation::set_factors(const DeepSamples& form, const std::uint32_t* coarse) {
  const std::uint32_t* const end = coarse + coarse_max(form) + 1;
  most = *std::max_element(coarse, end);
  limits = most > saturation::kOne;
  alike = std::all_of(coarse, end, [coarse](std::uint32_t k) { return k == *coarse; });
  if (alike) {
    std::fill(factors.begin(), factors.end(), static_cast<std::uint16_t>(*coarse));
    return;
  }
  for (std::size_t v = 0; v < factors.size(); ++v) {
    factors[v] = static_cast<std::uint16_t>(
        deep_factor_between(form, coarse, static_cast<std::uint32_t>(v)));
  }
}

DeepScaling deep_scaling(std::uint32_t level, std::uint32_t factor, std::uint32_t v,
                         std::int32_t depth) {
  const std::uint32_t k = v == 0 ? std::min(factor, saturation::kOne) : factor;
  const std::int64_t share = saturation::scaled_share(
      deep_gain_share(deep_gain(level, v, depth)),
      {static_cast<std::int32_t>(k), static_cast<std::int32_t>(saturation::kOne)});
  const auto unit = static_cast<double>(std::uint64_t{1} << deep_share_bits(depth));
  const double gain =
      v == 0 ? 1 : static_cast<double>(level) / (static_cast<double>(v) * (1 << kDeepCurveBits));
  return {gain * kAboveValue, static_cast<double>(share) / unit};
}

double deep_rgb_gain(std::uint32_t level, std::uint32_t v) {
  constexpr double kAbove = 1.0 + 1.0 / static_cast<double>(std::uint64_t{1} << 50);
  if (v == 0) return 1;
  // Both are below 2^30; the conversion instruction takes signed numbers.
  const auto w = static_cast<double>(static_cast<std::int32_t>(level));
  return w / (static_cast<double>(static_cast<std::int32_t>(v)) * (1 << kDeepCurveBits)) * kAbove;
}

namespace {

/// Returns true where a k common to all levels can do without lines.
bool needs_no_lines(const DeepSamples& form, ColorModel model, std::uint32_t k) {
  if (k > saturation::kMostFactor) return false;
  if (model == ColorModel::yuv) return form.depth <= 12;
  return form.depth > 12 && k % (saturation::kOne / 8) == 0;
}

}  // namespace

void make_lines(const DeepSamples& form, ColorModel model, const std::vector<std::uint32_t>& counts,
                const std::vector<std::uint32_t>& levels, DeepSaturation& saturation) {
  const std::vector<std::uint16_t>& factors = saturation.factors;
  saturation.alike = saturation.alike && needs_no_lines(form, model, saturation.most);
  if (saturation.alike) {
    for (std::uint32_t v = 0; v < counts.size(); ++v) {
      if (counts[v] == 0 && v != 0) continue;
      if (model == ColorModel::yuv) {
        saturation.scalings[v] = deep_scaling(levels[v], saturation.most, v, form.depth);
      } else {
        saturation.gains[v] = deep_rgb_gain(levels[v], v);
      }
    }
    return;
  }
  saturation.lines[0] = deep_line_of_black(factors[0], model == ColorModel::yuv);
  if (model == ColorModel::yuv)
    saturation.lines[0] = marked_line(kBlackValue, saturation.lines[0].slope, true);
  saturation.exact = true;
  for (std::uint32_t v = 1; v < counts.size(); ++v) {
    if (counts[v] == 0) continue;
    saturation.lines[v] = deep_line(levels[v], factors[v], v, form.depth);
    saturation.exact = saturation.exact && is_exact(saturation.lines[v]);
  }
}

void make_fixed_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                      DeepGains& gains) {
  for (std::size_t v = 1; v < counts.size(); ++v) {
    if (counts[v] == 0) continue;  // unused, and a division is the cost of this loop
    gains.fixed[v] = deep_gain(gains.curve[v], static_cast<std::uint32_t>(v), form.depth);
  }
}

void make_scaled_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                       DeepGains& gains) {
  if (form.depth > 12) {
    // Divisions in double precision cost less than a test for each.
    for (std::uint32_t v = 1; v < counts.size(); ++v)
      gains.scaled[v] = deep_scaled_gain(gains.curve[v], v, 16);
    return;
  }
  for (std::uint32_t v = 1; v < counts.size(); ++v) {
    if (counts[v] != 0) gains.scaled[v] = deep_scaled_gain(gains.curve[v], v, form.depth);
  }
}

void make_gray_words(const DeepSamples& form, DeepGains& gains) {
  // A gray sample is its own v, so that W itself is the result.
  constexpr std::uint32_t kHalf = 1 << (kDeepCurveBits - 1);
  for (std::size_t v = 1; v < gains.words.size(); ++v) {
    gains.words[v] =
        deep_word(form, static_cast<std::int32_t>((gains.curve[v] + kHalf) >> kDeepCurveBits));
  }
}

}  // namespace equalux
