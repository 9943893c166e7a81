#include "cuda/equalize/saturation_pass.h"

#include "cuda/equalize/fused/fused_chain.h"
#include "cuda/runtime/device_copy.h"

namespace equalux::cuda {
namespace {

/// Returns the curve that leaves every value of a frame as it is.
ToneCurve identity_of(const ImageDesc& desc) {
  const bool limited =
      traits(desc.format).model == ColorModel::yuv && desc.range == ColorRange::limited;
  ToneCurve curve;
  for (std::uint32_t v = 0; v < (limited ? 220U : 256U); ++v)
    curve.levels.push_back(v * ToneCurve::kUnit);
  return curve;
}

}  // namespace

SaturationPass::SaturationPass() = default;
SaturationPass::~SaturationPass() = default;

void SaturationPass::configure(const ImageDesc& desc) {
  desc_ = desc;
  coloured_ = traits(desc.format).model != ColorModel::gray;
  chain_.reset();
}

void SaturationPass::prepare() {
  if (!coloured_ || chain_ != nullptr) return;
  if (factors_ == nullptr) {
    factors_ = allocate_device<std::uint16_t>(256);
    fill_device(factors_.get(), 0, 256 * sizeof(std::uint16_t), "clearing the factors");
  }
  EqualizeParams params;
  params.curve = identity_of(desc_);
  auto chain = std::make_unique<FusedChain>(params, Launches::separate);
  chain->configure(desc_);
  chain_ = std::move(chain);
}

std::uint16_t* SaturationPass::factors() {
  prepare();
  return factors_.get();
}

void SaturationPass::enqueue(const ImageView& frame, const saturation::Rule& rule,
                             const FrameContext& context) {
  prepare();
  chain_->saturate(frame, rule, rule.most == saturation::kOne ? nullptr : factors_.get(), context);
}

}  // namespace equalux::cuda
