#pragma once

#include <string>

#include "filter_recipe.h"

namespace equalux::gst {

/// Equalization with fixed parameters.
class EqualizeRecipe final : public FilterRecipe {
 public:
  explicit EqualizeRecipe(const EqualizeParams& params) : params_(params) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override;
  [[nodiscard]] bool needs_cuda() const override { return equalux::needs_cuda(params_); }
  void check(Backend backend) const override { validate(params_, backend); }
  [[nodiscard]] std::unique_ptr<Filter> make(const CpuOptions& options) const override;
  [[nodiscard]] std::unique_ptr<Filter> make(const CudaOptions& options) const override;

 private:
  EqualizeParams params_;
};

}  // namespace equalux::gst
