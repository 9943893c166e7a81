#include "pipelines/plugin/vessel_properties.h"

#include <array>

#include "pipelines/plugin/filter_properties.h"

namespace equalux::gst {

namespace {

enum VesselProperty : guint {
  kOutput = kFirstOwnProperty,
  kSigmas,
  kTruncate,
  kDerivative,
  kChannel,
  kPolarity,
  kMeasure,
  kMask,
  kLow,
  kHigh,
  kMinSize,
};

constexpr double kMostThreshold = 10;

GType output_type() {
  static constexpr std::array kDescriptions{"GRAY8: 255 in vessels, 0 elsewhere",
                                            "The frame in its own format, vessels tinted",
                                            "BGR: the measure, black over red and yellow to white"};
  static const GType type =
      register_enum("GstEqualuxVesselOutput", enum_names<VesselOutput>(), kDescriptions);
  return type;
}

GType derivative_type() {
  // Without sobel-laplacian, which has no scale.
  static constexpr std::array kDescriptions{"Derivatives of a sampled Gaussian",
                                            "The Gaussian, then differences"};
  static const GType type = register_enum(
      "GstEqualuxVesselDerivative",
      {enum_name(HessianDerivative::gaussian), enum_name(HessianDerivative::gradient)},
      kDescriptions);
  return type;
}

GType channel_type() {
  static constexpr std::array kDescriptions{"Luma; of YUV the only one", "max(R, G, B)", "Red",
                                            "Green, the best for the back of an eye", "Blue"};
  static const GType type =
      register_enum("GstEqualuxChannel", enum_names<HessianChannel>(), kDescriptions);
  return type;
}

GType polarity_type() {
  static constexpr std::array kDescriptions{"Lines darker than what is around them",
                                            "Lines brighter than what is around them"};
  static const GType type =
      register_enum("GstEqualuxPolarity", enum_names<Polarity>(), kDescriptions);
  return type;
}

GType measure_type() {
  static constexpr std::array kDescriptions{"Contrast to the local mean",
                                            "Frangi's vesselness, 0 to 1: less in blobs, corners"};
  static const GType type =
      register_enum("GstEqualuxVesselMeasure", enum_names<VesselMeasure>(), kDescriptions);
  return type;
}

GType mask_type() {
  static constexpr std::array kDescriptions{
      "Not in a dark surround, where all corners of the frame are dark", "Everywhere"};
  static const GType type =
      register_enum("GstEqualuxFieldOfView", enum_names<FieldOfView>(), kDescriptions);
  return type;
}

template <typename Enum>
void install_enum(GObjectClass* klass, guint id, const char* name, const char* nick,
                  const char* blurb, GType type, Enum value) {
  g_object_class_install_property(
      klass, id, g_param_spec_enum(name, nick, blurb, type, static_cast<gint>(value), kLive));
}

void install_scales(GObjectClass* klass, const VesselSettings& defaults) {
  g_object_class_install_property(
      klass, kSigmas,
      g_param_spec_string(
          "sigmas", "Sigmas",
          "Scales, 1 to 8 of them, 1 to 16 pixels each: s,s,s...; a vessel of width "
          "w answers best to w / 2",
          defaults.sigmas.c_str(), kLiveText));
  g_object_class_install_property(
      klass, kTruncate,
      g_param_spec_double("truncate", "Truncate",
                          "Radius of a Gaussian in units of its sigma; at most 64 pixels",
                          kMinTruncate, kMaxTruncate, defaults.params.truncate, kLive));
}

void install_thresholds(GObjectClass* klass, const VesselSettings& defaults) {
  g_object_class_install_property(
      klass, kLow,
      g_param_spec_double(
          "low", "Low",
          "Measure of all pixels of a vessel, above 0 to 10 (-1 = the measure's own: ridge "
          "0.08, frangi 0.1)",
          -1, kMostThreshold, defaults.low, kLive));
  g_object_class_install_property(
      klass, kHigh,
      g_param_spec_double(
          "high", "High",
          "Measure that a vessel has somewhere, above 0 to 10 (-1 = the measure's own: "
          "ridge 0.16, frangi 0.4)",
          -1, kMostThreshold, defaults.high, kLive));
  g_object_class_install_property(
      klass, kMinSize,
      g_param_spec_int("min-size", "Minimum size", "Smallest vessel that is kept, pixels", 0,
                       G_MAXINT, defaults.params.min_size, kLive));
}

/// Below 0 is the measure's own threshold.
std::optional<double> threshold_from(double value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

}  // namespace

VesselParams params_of(const VesselSettings& settings) {
  VesselParams params = settings.params;
  set_option(params, "sigmas", settings.sigmas);
  params.low = threshold_from(settings.low);
  params.high = threshold_from(settings.high);
  return params;
}

void install_vessel_properties(GObjectClass* klass) {
  const VesselSettings defaults;
  const VesselParams& params = defaults.params;
  // Not for control sources: another format of frames is negotiated.
  g_object_class_install_property(
      klass, kOutput,
      g_param_spec_enum(
          "output", "Output",
          "What becomes of the vessels; what is not filtered is black in mask and heat",
          output_type(), static_cast<gint>(params.output), kLiveText));
  install_scales(klass, defaults);
  install_enum(klass, kDerivative, "derivative", "Derivative", "How second derivatives are taken",
               derivative_type(), params.derivative);
  install_enum(klass, kChannel, "channel", "Channel",
               "What is read of a frame; all but luma need RGB or gray", channel_type(),
               params.channel);
  install_enum(klass, kPolarity, "polarity", "Polarity", "Which lines are looked for",
               polarity_type(), params.polarity);
  install_enum(klass, kMeasure, "measure", "Measure", "What makes a line a line", measure_type(),
               params.measure);
  install_enum(klass, kMask, "mask", "Mask", "Where vessels may be", mask_type(), params.mask);
  install_thresholds(klass, defaults);
}

bool set_property(VesselSettings& settings, guint id, const GValue* value) {
  VesselParams& params = settings.params;
  switch (id) {
    case kOutput:
      params.output = static_cast<VesselOutput>(g_value_get_enum(value));
      break;
    case kSigmas:
      settings.sigmas = text_from(value, VesselSettings{}.sigmas.c_str());
      break;
    case kTruncate:
      params.truncate = g_value_get_double(value);
      break;
    case kDerivative:
      params.derivative = static_cast<HessianDerivative>(g_value_get_enum(value));
      break;
    case kChannel:
      params.channel = static_cast<HessianChannel>(g_value_get_enum(value));
      break;
    case kPolarity:
      params.polarity = static_cast<Polarity>(g_value_get_enum(value));
      break;
    case kMeasure:
      params.measure = static_cast<VesselMeasure>(g_value_get_enum(value));
      break;
    case kMask:
      params.mask = static_cast<FieldOfView>(g_value_get_enum(value));
      break;
    case kLow:
      settings.low = g_value_get_double(value);
      break;
    case kHigh:
      settings.high = g_value_get_double(value);
      break;
    case kMinSize:
      params.min_size = g_value_get_int(value);
      break;
    default:
      return false;
  }
  return true;
}

bool get_property(const VesselSettings& settings, guint id, GValue* value) {
  const VesselParams& params = settings.params;
  switch (id) {
    case kOutput:
      g_value_set_enum(value, static_cast<gint>(params.output));
      break;
    case kSigmas:
      set_text(value, settings.sigmas);
      break;
    case kTruncate:
      g_value_set_double(value, params.truncate);
      break;
    case kDerivative:
      g_value_set_enum(value, static_cast<gint>(params.derivative));
      break;
    case kChannel:
      g_value_set_enum(value, static_cast<gint>(params.channel));
      break;
    case kPolarity:
      g_value_set_enum(value, static_cast<gint>(params.polarity));
      break;
    case kMeasure:
      g_value_set_enum(value, static_cast<gint>(params.measure));
      break;
    case kMask:
      g_value_set_enum(value, static_cast<gint>(params.mask));
      break;
    case kLow:
      g_value_set_double(value, settings.low);
      break;
    case kHigh:
      g_value_set_double(value, settings.high);
      break;
    case kMinSize:
      g_value_set_int(value, params.min_size);
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace equalux::gst
