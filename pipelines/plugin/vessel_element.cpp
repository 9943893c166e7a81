#include "pipelines/plugin/vessel_element.h"

#include "pipelines/plugin/params_recipe.h"
#include "pipelines/plugin/vessel_properties.h"

namespace equalux::gst {

namespace {

class VesselRecipe final : public ParamsRecipe<VesselParams> {
 public:
  using ParamsRecipe::ParamsRecipe;

  [[nodiscard]] std::optional<PixelFormat> output_format() const override {
    switch (params().output) {
      case VesselOutput::mask:
        return PixelFormat::gray8;
      case VesselOutput::heat:
        return PixelFormat::bgr;
      default:
        return std::nullopt;
    }
  }

 private:
  [[nodiscard]] VesselParams format_params() const override {
    VesselParams result;
    result.channel = params().channel;
    result.output = VesselOutput::overlay;
    return result;
  }
};

}  // namespace

const ElementKind kVesselElement{"equaluxvessel",
                                 "GstEqualuxVessel",
                                 "Vessel finder",
                                 "Finds vessels and other lines by eigenvalues of the Hessian: "
                                 "tinted, as a mask or as a heat map",
                                 install_vessel_properties,
                                 OwnPropertiesOf<VesselSettings, VesselRecipe>::make};

}  // namespace equalux::gst
