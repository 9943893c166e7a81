#include "convolve_recipe.h"

namespace equalux::gst {

bool ConvolveRecipe::accepts(PixelFormat format) const {
  // No parameter changes which; what may be wrong with them is said when the filter is made.
  const ImageDesc desc{format, 1, 1};
  return violations(ConvolveParams{}, Backend::automatic, &desc).empty();
}

std::unique_ptr<Filter> ConvolveRecipe::make(const CpuOptions& options) const {
  return make_cpu_filter(params_, options);
}

std::unique_ptr<Filter> ConvolveRecipe::make(const CudaOptions& options) const {
  return make_cuda_filter(params_, options);
}

}  // namespace equalux::gst
