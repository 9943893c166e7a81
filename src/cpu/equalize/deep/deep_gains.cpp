#include "src/cpu/equalize/deep/deep_gains.h"

#include <algorithm>
#include <bit>

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
}

void DeepSaturation::set_factors(const DeepSamples& form, const std::uint32_t* coarse) {
  const std::uint32_t* const end = coarse + coarse_max(form) + 1;
  most = *std::max_element(coarse, end);
  limits = most > saturation::kOne;
  if (std::all_of(coarse, end, [coarse](std::uint32_t k) { return k == *coarse; })) {
    std::fill(factors.begin(), factors.end(), static_cast<std::uint16_t>(*coarse));
    return;
  }
  for (std::size_t v = 0; v < factors.size(); ++v) {
    factors[v] = static_cast<std::uint16_t>(
        deep_factor_between(form, coarse, static_cast<std::uint32_t>(v)));
  }
}

namespace {

/// Whether a DeepLine with this slope is exact. W and v are not 0.
bool has_exact_slope(std::uint32_t level, std::uint32_t factor, double slope, std::uint32_t v,
                     std::int32_t depth) {
  const double scaled = slope * saturation::kOne;
  const auto whole = static_cast<std::int64_t>(scaled);
  // For most levels that is all; but the slope was rounded.
  if (static_cast<double>(whole) != scaled) return false;
  const std::uint64_t product = static_cast<std::uint64_t>(whole) * v << kDeepCurveBits;
  if (product != std::uint64_t{factor} * level) return false;
  const std::int64_t share = saturation::scaled_share(
      deep_gain_share(deep_gain(level, v, depth)),
      {static_cast<std::int32_t>(factor), static_cast<std::int32_t>(saturation::kOne)});
  return share == whole << (deep_share_bits(depth) - 8);
}

}  // namespace

void make_lines(const DeepSamples& form, ColorModel model, const std::vector<std::uint32_t>& counts,
                const std::vector<std::uint32_t>& levels, DeepSaturation& saturation) {
  constexpr double kUnit = 1.0 / (1 << kDeepCurveBits);
  const auto line = [](double value, double slope, bool exact) {
    const auto bits = std::bit_cast<std::uint64_t>(value * kAboveValue) & ~std::uint64_t{1};
    return DeepLine{std::bit_cast<double>(bits | (exact ? 1 : 0)), slope};
  };
  const std::vector<std::uint16_t>& factors = saturation.factors;
  const double black = model == ColorModel::yuv ? 1 : 0;
  saturation.lines[0] = line(black, static_cast<double>(factors[0]) / saturation::kOne, black != 0);
  saturation.exact = true;
  for (std::uint32_t v = 1; v < counts.size(); ++v) {
    if (counts[v] == 0) continue;
    const std::uint32_t level = levels[v];
    // At most 2^40, exact like its divisor.
    const auto product = static_cast<double>(std::int64_t{factors[v]} * level);
    const double slope = product / (static_cast<double>(v) * (saturation::kOne / kUnit));
    const bool exact = level != 0 && has_exact_slope(level, factors[v], slope, v, form.depth);
    saturation.lines[v] = line(level * kUnit, slope, exact);
    saturation.exact = saturation.exact && exact;
  }
}

void make_fixed_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                      DeepGains& gains) {
  for (std::size_t v = 1; v < counts.size(); ++v) {
    if (counts[v] == 0) continue;  // Nobody looks there, and a division is what this loop costs.
    gains.fixed[v] = deep_gain(gains.curve[v], static_cast<std::uint32_t>(v), form.depth);
  }
}

void make_scaled_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                       DeepGains& gains) {
  if (form.depth > 12) {
    // Divisions in double precision cost less than finding out whether they are needed.
    for (std::uint32_t v = 1; v < counts.size(); ++v)
      gains.scaled[v] = deep_scaled_gain(gains.curve[v], v, 16);
    return;
  }
  for (std::uint32_t v = 1; v < counts.size(); ++v) {
    if (counts[v] != 0) gains.scaled[v] = deep_scaled_gain(gains.curve[v], v, form.depth);
  }
}

void make_gray_words(const DeepSamples& form, DeepGains& gains) {
  // A sample is its own v, which its gain would only be divided by and multiplied with.
  constexpr std::uint32_t kHalf = 1 << (kDeepCurveBits - 1);
  for (std::size_t v = 1; v < gains.words.size(); ++v) {
    gains.words[v] =
        deep_word(form, static_cast<std::int32_t>((gains.curve[v] + kHalf) >> kDeepCurveBits));
  }
}

}  // namespace equalux
