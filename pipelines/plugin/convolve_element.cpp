#include "pipelines/plugin/convolve_element.h"

#include "pipelines/plugin/convolve_properties.h"
#include "pipelines/plugin/params_recipe.h"

namespace equalux::gst {

namespace {

class ConvolveRecipe final : public ParamsRecipe<ConvolveParams> {
 public:
  using ParamsRecipe::ParamsRecipe;

  [[nodiscard]] bool needs_cuda() const override { return equalux::needs_cuda(params()); }
  [[nodiscard]] bool needs_cpu() const override {
    return params().mode == ConvolveMode::sequential;
  }
};

}  // namespace

const ElementKind kConvolveElement{
    "equaluxconvolve",
    "GstEqualuxConvolve",
    "Convolution",
    "Blurs, sharpens, finds edges: convolves with a small kernel, on the CPU or a GPU",
    install_convolve_properties,
    OwnPropertiesOf<ConvolveSettings, ConvolveRecipe>::make};

}  // namespace equalux::gst
