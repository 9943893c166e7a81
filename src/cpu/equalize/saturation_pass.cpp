#include "src/cpu/equalize/saturation_pass.h"

#include "src/equalize/fixed_curve.h"
#include "src/equalize/tone/tone_curve.h"
#include "src/equalize/tone/tone_limits.h"

namespace equalux {

void SaturationPass::configure(const ImageDesc& desc) {
  const ColorModel model = traits(desc.format).model;
  coloured_ = model != ColorModel::gray;
  sampling_ = sampling_of(desc.format);
  at_ = rgb_layout(desc.format);
  weights_ = model == ColorModel::yuv ? yuv_weights(desc.matrix, desc.range)
                                      : YuvWeights{0, 255, 0, 0, 0, 0};
  active_ = false;
  made_for_.reset();
}

void SaturationPass::set(const saturation::Rule& rule, const std::uint32_t* levels,
                         const std::uint8_t* level_of) {
  active_ = coloured_ && saturation::changes(rule);
  if (!active_) return;
  const bool alike = rule.most == saturation::kOne || levels == nullptr;
  if (alike && made_for_ == rule.factor) return;
  prepare();
  CurveTable same{};
  for (std::uint32_t v = 0; v < same.size(); ++v) {
    same[v] = tone::unchanged(v);
    tables_->gain48[v] = gain_48(tone::gain_fraction(v, same[v]));
  }
  const auto most = static_cast<std::uint32_t>(weights_.luma_max);
  make_saturated({rule.factor, saturation::kOne}, same, weights_.luma_max, tables_->gains);
  for (std::uint32_t v = 0; !alike && v <= most; ++v) {
    tables_->gains.factors[v] = static_cast<std::uint16_t>(
        saturation::factor_of_result(rule, levels, level_of == nullptr ? v : level_of[v], most));
  }
  ValueHistogram all;
  all.fill(1);
  if (sampling_ == Sampling::rgb) make_words(all, at_.step, loops_, tables_->gains);
  make_vectors(all, weights_.luma_max, 255 - weights_.luma_offset, loops_, tables_->gains);
  made_for_.reset();
  if (alike) made_for_ = rule.factor;
}

}  // namespace equalux
