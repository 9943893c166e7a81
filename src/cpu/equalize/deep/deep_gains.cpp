#include "src/cpu/equalize/deep/deep_gains.h"

namespace equalux {

void DeepGains::resize(const DeepSamples& form) {
  const auto levels = static_cast<std::size_t>(form.weights.luma_max) + 1;
  curve.assign(levels, 0);
  fixed.assign(levels, deep_gain_one(form.depth));
  scaled.assign(levels, deep_scaled_gain(0, 0, form.depth));
  words.assign(levels, 0);
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
