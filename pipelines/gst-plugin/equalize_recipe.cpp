#include "equalize_recipe.h"

namespace equalux::gst {

bool EqualizeRecipe::accepts(PixelFormat format) const {
  // The chain alone decides; what else may be wrong is said when the filter is made.
  EqualizeParams params;
  params.chain = params_.chain;
  const ImageDesc desc{format, 1, 1};
  return violations(params, Backend::automatic, &desc).empty();
}

std::unique_ptr<Filter> EqualizeRecipe::make(const CpuOptions& options) const {
  return make_cpu_filter(params_, options);
}

std::unique_ptr<Filter> EqualizeRecipe::make(const CudaOptions& options) const {
  return make_cuda_filter(params_, options);
}

}  // namespace equalux::gst
