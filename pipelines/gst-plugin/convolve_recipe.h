#pragma once

#include <equalux/convolve.h>

#include "filter_recipe.h"

namespace equalux::gst {

/// Convolution with fixed parameters.
class ConvolveRecipe final : public FilterRecipe {
 public:
  explicit ConvolveRecipe(const ConvolveParams& params) : params_(params) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override;
  [[nodiscard]] bool needs_cuda() const override { return equalux::needs_cuda(params_); }
  [[nodiscard]] bool needs_cpu() const override { return params_.mode == ConvolveMode::sequential; }
  void check(Backend backend) const override { validate(params_, backend); }
  [[nodiscard]] std::unique_ptr<Filter> make(const CpuOptions& options) const override;
  [[nodiscard]] std::unique_ptr<Filter> make(const CudaOptions& options) const override;

 private:
  ConvolveParams params_;
};

}  // namespace equalux::gst
