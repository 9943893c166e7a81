#include "src/cpu/equalize/deep/deep_saturation_pass.h"

#include "src/equalize/fixed_curve.h"

namespace equalux {

void DeepSaturationPass::configure(const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  model_ = t.model;
  form_ = deep_samples(desc);
  at_ = rgb_layout(desc.format);
  chroma_ = deep_chroma_of(t);
  active_ = false;
  made_for_.reset();
  any_values_.clear();
}

void DeepSaturationPass::prepare() {
  if (model_ == ColorModel::gray || !any_values_.empty()) return;
  const auto levels = static_cast<std::size_t>(form_.weights.luma_max) + 1;
  saturation_.resize(form_);
  any_values_.assign(levels, 1);
  same_.curve.resize(levels);
  for (std::size_t v = 0; v < levels; ++v)
    same_.curve[v] = static_cast<std::uint32_t>(v << kDeepCurveBits);
}

void DeepSaturationPass::set(const saturation::Rule& rule, const std::uint32_t* levels) {
  active_ = model_ != ColorModel::gray && saturation::changes(rule);
  if (!active_) return;
  prepare();
  const bool alike = rule.most == saturation::kOne;
  if (alike && made_for_ == rule.factor) return;
  const std::uint32_t last = coarse_max(form_);
  CurveTable coarse{};
  for (std::uint32_t i = 0; i <= last; ++i)
    coarse[i] = saturation::factor_of_result(rule, levels, i, last);
  saturation_.set_factors(form_, coarse.data());
  make_lines(form_, model_, any_values_, same_.curve, saturation_);
  made_for_.reset();
  if (alike) made_for_ = rule.factor;
}

}  // namespace equalux
