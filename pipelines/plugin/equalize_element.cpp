#include "pipelines/plugin/equalize_element.h"

#include "pipelines/plugin/equalize_properties.h"
#include "pipelines/plugin/params_recipe.h"

namespace equalux::gst {

namespace {

class EqualizeRecipe final : public ParamsRecipe<EqualizeParams> {
 public:
  using ParamsRecipe::ParamsRecipe;

  [[nodiscard]] bool needs_cuda() const override { return equalux::needs_cuda(params()); }
  bool retune(Filter& filter) const override { return filter.update(params()); }

 private:
  [[nodiscard]] EqualizeParams format_params() const override {
    EqualizeParams result;
    result.chain = params().chain;
    if (result.chain == Chain::fused) result.space = params().space;
    return result;
  }
};

}  // namespace

const ElementKind kEqualizeElement{
    "equalux",
    "GstEqualux",
    "Histogram equalizer",
    "Makes low-contrast video readable: equalizes the value channel of HSV, on the CPU or a GPU",
    install_equalize_properties,
    OwnPropertiesOf<EqualizeSettings, EqualizeRecipe>::make};

}  // namespace equalux::gst
