#include "pipelines/plugin/convolve_properties.h"

#include <algorithm>
#include <array>

#include "pipelines/plugin/filter_properties.h"

namespace equalux::gst {

namespace {

enum ConvolveProperty : guint {
  kKernel = kFirstOwnProperty,
  kWeights,
  kDivisor,
  kOffset,
  kSize,
  kSigma,
  kTruncate,
  kBorder,
  kBorderValue,
  kMode,
  kBlock,
};

GType kernel_type() {
  static constexpr std::array kDescriptions{"Mean of 3 x 3 samples",
                                            "3 x 3 samples weighted 1 2 1, 2 4 2, 1 2 1",
                                            "8 times a sample less its neighbours",
                                            "Left less right, on 128",
                                            "Above less below, on 128",
                                            "5 times a sample less the four beside it",
                                            "The frame as it is",
                                            "Gaussian of size or sigma",
                                            "Mean of size x size samples",
                                            "The property weights"};
  static const GType type =
      register_enum("GstEqualuxKernel", spellings(convolve_kernel_list()), kDescriptions);
  return type;
}

GType border_type() {
  static constexpr std::array kDescriptions{"The frame's edge, repeated",
                                            "The frame mirrored, its edge once", "border-value"};
  static const GType type = register_enum("GstEqualuxBorder", enum_names<Border>(), kDescriptions);
  return type;
}

GType mode_type() {
  static constexpr std::array kDescriptions{
      "The fastest of the backend", "One sample after another (CPU)",
      "A thread a sample, all in global memory (GPU)", "The kernel in constant memory (GPU)",
      "The kernel in constant, samples in shared memory (GPU)"};
  static const GType type =
      register_enum("GstEqualuxConvolveMode", enum_names<ConvolveMode>(), kDescriptions);
  return type;
}

int kernel_number(const std::string& name) {
  const std::vector<std::string_view> names = spellings(convolve_kernel_list());
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

void install_numbers(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kSize,
      g_param_spec_int("size", "Size",
                       "gaussian and box: samples a side, odd, 3 to 31 (0 = from sigma, or 3)", 0,
                       kMaxSeparableKernel, 0, kLive));
  g_object_class_install_property(
      klass, kSigma,
      g_param_spec_double("sigma", "Sigma", "gaussian: pixels, from 0.01 (0 = from size)", 0, 1000,
                          0, kLive));
  g_object_class_install_property(
      klass, kTruncate,
      g_param_spec_double("truncate", "Truncate", "gaussian without size: radius in units of sigma",
                          0, 100, ConvolveParams{}.truncate, kLive));
  g_object_class_install_property(
      klass, kBorderValue,
      g_param_spec_int("border-value", "Border value", "Level outside, where border is constant", 0,
                       255, 0, kLive));
  g_object_class_install_property(
      klass, kBlock,
      g_param_spec_int("block", "Block",
                       "Threads a side of a block of the GPU's modes for study: 8, 16 or 32", 8, 32,
                       ConvolveParams{}.block, kLive));
}

}  // namespace

ConvolveParams params_of(const ConvolveSettings& settings) {
  ConvolveParams params = settings.params;
  if (!settings.weights.empty()) set_option(params, "weights", settings.weights);
  return params;
}

void install_convolve_properties(GObjectClass* klass) {
  const ConvolveParams defaults;
  g_object_class_install_property(
      klass, kKernel,
      g_param_spec_enum("kernel", "Kernel", "Which kernel; weights make it custom", kernel_type(),
                        kernel_number(defaults.kernel), kLive));
  g_object_class_install_property(
      klass, kWeights,
      g_param_spec_string("weights", "Weights",
                          "n * n decimals, row after row, n odd and at most 15: w,w,w...", nullptr,
                          kLiveText));
  g_object_class_install_property(
      klass, kDivisor,
      g_param_spec_string("divisor", "Divisor", "A decimal that the weights are divided by",
                          defaults.divisor.c_str(), kLiveText));
  g_object_class_install_property(
      klass, kOffset,
      g_param_spec_string("offset", "Offset", "A decimal added to sums (null = the kernel's own)",
                          nullptr, kLiveText));
  g_object_class_install_property(
      klass, kBorder,
      g_param_spec_enum("border", "Border", "What stands for samples outside the frame",
                        border_type(), static_cast<int>(Border::replicate), kLive));
  g_object_class_install_property(
      klass, kMode,
      g_param_spec_enum("mode", "Mode", "How it runs; all give the same bytes", mode_type(),
                        static_cast<int>(ConvolveMode::production), kLive));
  install_numbers(klass);
}

bool set_property(ConvolveSettings& settings, guint id, const GValue* value) {
  ConvolveParams& params = settings.params;
  switch (id) {
    case kKernel:
      params.kernel =
          convolve_kernel_list()[static_cast<std::size_t>(g_value_get_enum(value))].name;
      break;
    case kWeights:
      settings.weights = text_from(value);
      break;
    case kDivisor:
      params.divisor = text_from(value, "1");
      break;
    case kOffset:
      params.offset = text_from(value);
      break;
    case kSize:
      params.size = g_value_get_int(value);
      break;
    case kSigma:
      params.sigma = g_value_get_double(value);
      break;
    case kTruncate:
      params.truncate = g_value_get_double(value);
      break;
    case kBorder:
      params.border = static_cast<Border>(g_value_get_enum(value));
      break;
    case kBorderValue:
      params.border_value = g_value_get_int(value);
      break;
    case kMode:
      params.mode = static_cast<ConvolveMode>(g_value_get_enum(value));
      break;
    case kBlock:
      params.block = g_value_get_int(value);
      break;
    default:
      return false;
  }
  return true;
}

bool get_property(const ConvolveSettings& settings, guint id, GValue* value) {
  const ConvolveParams& params = settings.params;
  switch (id) {
    case kKernel:
      g_value_set_enum(value, kernel_number(params.kernel));
      break;
    case kWeights:
      set_text(value, settings.weights);
      break;
    case kDivisor:
      set_text(value, params.divisor);
      break;
    case kOffset:
      set_text(value, params.offset);
      break;
    case kSize:
      g_value_set_int(value, params.size);
      break;
    case kSigma:
      g_value_set_double(value, params.sigma);
      break;
    case kTruncate:
      g_value_set_double(value, params.truncate);
      break;
    case kBorder:
      g_value_set_enum(value, static_cast<gint>(params.border));
      break;
    case kBorderValue:
      g_value_set_int(value, params.border_value);
      break;
    case kMode:
      g_value_set_enum(value, static_cast<gint>(params.mode));
      break;
    case kBlock:
      g_value_set_int(value, params.block);
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace equalux::gst
