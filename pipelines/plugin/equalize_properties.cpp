#include "pipelines/plugin/equalize_properties.h"

#include <array>

#include "pipelines/plugin/filter_properties.h"

namespace equalux::gst {

namespace {

enum EqualizeProperty : guint {
  kScaler = kFirstOwnProperty,
  kBins,
  kChain,
  kSpace,
  kRgbToHsv,
  kHistogram,
  kScan,
  kEqualize,
  kPixelsPerThread,
  kGrid,
  kBlock,
  kRegion,
  kSurround,
  kCurveFrom,
  kCurve,  ///< and the other numbers that shape the curve, in the order of kCurveNumbers
};

GType scaler_type() {
  static constexpr std::array kDescriptions{
      "Cumulative histogram over the number of pixels", "The same, stretched from the first bin on",
      "The same, stretched from the first bin that is not empty on"};
  static const GType type = register_enum("GstEqualuxScaler", enum_names<Scaler>(), kDescriptions);
  return type;
}

GType chain_type() {
  static constexpr std::array kDescriptions{"Two passes over the frame, exact; any format",
                                            "The published stages, for study; RGB and GRAY8"};
  static const GType type = register_enum("GstEqualuxChain", enum_names<Chain>(), kDescriptions);
  return type;
}

GType surround_type() {
  static constexpr std::array kDescriptions{"It counts like the picture",
                                            "It is found and left out of the histogram"};
  static const GType type =
      register_enum("GstEqualuxSurround", enum_names<Surround>(), kDescriptions);
  return type;
}

GType space_type() {
  static constexpr std::array kDescriptions{"The largest of R, G and B; any format",
                                            "Y of YUV, or a weighted mean of RGB",
                                            "CIE L*, which keeps hue best; RGB and gray of 8 bits"};
  static const GType type = register_enum("GstEqualuxSpace", enum_names<Space>(), kDescriptions);
  return type;
}

GType rgb_to_hsv_type() {
  static constexpr std::array kDescriptions{"Neighbouring threads read neighbouring pixels",
                                            "Each thread reads a run of pixels"};
  static const GType type =
      register_enum("GstEqualuxRgbToHsv", enum_names<RgbToHsvVariant>(), kDescriptions, true);
  return type;
}

GType histogram_type() {
  static constexpr std::array kDescriptions{"Counts in global memory",
                                            "Counts in each block's shared memory first"};
  static const GType type =
      register_enum("GstEqualuxHistogram", enum_names<HistogramVariant>(), kDescriptions, true);
  return type;
}

GType scan_type() {
  static constexpr std::array kDescriptions{"One bin after another",
                                            "From both ends",
                                            "From both ends, in shared memory (GPU)",
                                            "Kogge and Stone",
                                            "Kogge and Stone, in shared memory (GPU)",
                                            "Brent and Kung",
                                            "Brent and Kung, in shared memory (GPU)",
                                            "CUB's scan (GPU)"};
  static const GType type =
      register_enum("GstEqualuxScan", enum_names<ScanVariant>(), kDescriptions, true);
  return type;
}

GType equalize_type() {
  static constexpr std::array kDescriptions{"A division for each pixel",
                                            "A division for each bin, a look-up for each pixel"};
  static const GType type =
      register_enum("GstEqualuxEqualize", enum_names<EqualizeVariant>(), kDescriptions, true);
  return type;
}

/// The numbers that shape the curve.
struct CurveNumber {
  const char* name;
  const char* nick;
  const char* blurb;
  double EqualizeParams::*field;
  double least, most, usual;
};
constexpr std::array<CurveNumber, 8> kCurveNumbers{{
    {"strength", "Strength", "0 = the picture as it is, 1 = its full equalization",
     &EqualizeParams::strength, 0, 1, 1},
    {"clip-limit", "Clip limit",
     "Steepest rise of the curve, 1 to 255 times the identity's (0 = none)",
     &EqualizeParams::clip_limit, 0, 255, 0},
    {"floor", "Floor", "Per cent of the darkest pixels that may become black",
     &EqualizeParams::floor, 0, 99.9, 0},
    {"ceiling", "Ceiling", "Per cent of the pixels above which they may become white",
     &EqualizeParams::ceiling, 0.1, 100, 100},
    {"max-gain", "Largest gain", "Largest factor of a pixel's value, 1 to 255 (0 = none)",
     &EqualizeParams::max_gain, 0, 255, 0},
    {"temporal-ms", "Time constant",
     "Time constant of the curve in milliseconds (0 = each frame alone)",
     &EqualizeParams::temporal_ms, 0, kMaxTemporalMs, 0},
    {"brighten-ms", "Time constant, brighter",
     "The same where the picture gets brighter (0 = temporal-ms)", &EqualizeParams::brighten_ms, 0,
     kMaxTemporalMs, 0},
    {"darken-ms", "Time constant, darker",
     "The same where the picture gets darker (0 = temporal-ms)", &EqualizeParams::darken_ms, 0,
     kMaxTemporalMs, 0},
}};

const CurveNumber* curve_number(guint id) {
  return id < kCurve || id - kCurve >= kCurveNumbers.size() ? nullptr : &kCurveNumbers[id - kCurve];
}

void install_curve_numbers(GObjectClass* klass) {
  guint id = kCurve;
  for (const CurveNumber& each : kCurveNumbers) {
    g_object_class_install_property(klass, id++,
                                    g_param_spec_double(each.name, each.nick, each.blurb,
                                                        each.least, each.most, each.usual, kLive));
  }
}

void install_counting(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kRegion,
      g_param_spec_string(
          "region", "Region",
          "Pixels that make the curve, which all are transformed by: "
          "x,y,width,height in pixels or with a % in per cent, or a .pgm file whose "
          "white counts; other than regions, which limits what is transformed",
          nullptr, kLiveText));
  g_object_class_install_property(
      klass, kSurround,
      g_param_spec_enum("surround", "Surround",
                        "Black bars and the surround of round and octagonal pictures",
                        surround_type(), static_cast<int>(Surround::keep), kLive));
}

void install_curve_from(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kCurveFrom,
      g_param_spec_string("curve-from", "Curve from",
                          "File with the curve of every frame, which equalux run --curve-to wrote; "
                          "without what makes or bounds a curve",
                          nullptr, kLiveText));
}

void install_knob(GObjectClass* klass, guint id, const char* name, const char* nick,
                  const char* blurb, GType type) {
  g_object_class_install_property(klass, id, g_param_spec_enum(name, nick, blurb, type, 0, kLive));
}

void install_launch_shape(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPixelsPerThread,
      g_param_spec_int("pixels-per-thread", "Pixels per thread",
                       "Staged chain on a GPU: 1, 2, 4 or 8 (0 = auto)", 0, 8, 0, kLive));
  g_object_class_install_property(
      klass, kGrid,
      g_param_spec_string("grid", "Grid", "Staged chain on a GPU: blocks of a launch, x,y,z",
                          nullptr, kLiveText));
  g_object_class_install_property(
      klass, kBlock,
      g_param_spec_string("block", "Block", "Staged chain on a GPU: threads of a block, x,y,z",
                          nullptr, kLiveText));
}

// 0 is "auto", which is an empty optional.
template <typename Enum>
std::optional<Enum> knob_from(const GValue* value) {
  const gint number = g_value_get_enum(value);
  if (number == 0) return std::nullopt;
  return static_cast<Enum>(number - 1);
}

template <typename Enum>
void set_knob(GValue* value, const std::optional<Enum>& knob) {
  g_value_set_enum(value, knob ? static_cast<gint>(*knob) + 1 : 0);
}

}  // namespace

EqualizeParams params_of(const EqualizeSettings& settings) {
  EqualizeParams params = settings.params;
  if (!settings.grid.empty()) set_option(params, "grid", settings.grid);
  if (!settings.block.empty()) set_option(params, "block", settings.block);
  if (!settings.curve_from.empty()) set_option(params, "curve-from", settings.curve_from);
  return params;
}

void install_equalize_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kScaler,
      g_param_spec_enum("scaler", "Scaler", "How the cumulative histogram becomes a tone curve",
                        scaler_type(), static_cast<int>(Scaler::max_abs), kLive));
  g_object_class_install_property(
      klass, kBins,
      g_param_spec_int("bins", "Bins", "Histogram bins, 2 to 65536 (0 = one for each level)", 0,
                       kMaxBins, 0, kLive));
  g_object_class_install_property(
      klass, kChain,
      g_param_spec_enum("chain", "Chain", "Implementation", chain_type(),
                        static_cast<int>(Chain::fused), kLive));
  g_object_class_install_property(
      klass, kSpace,
      g_param_spec_enum("space", "Space", "What is equalized", space_type(),
                        static_cast<int>(Space::value), kLive));
  install_curve_numbers(klass);
  install_counting(klass);
  install_curve_from(klass);
  install_knob(klass, kRgbToHsv, "rgb-to-hsv", "RGB to HSV",
               "Staged chain on a GPU: how pixels are read", rgb_to_hsv_type());
  install_knob(klass, kHistogram, "histogram", "Histogram",
               "Staged chain on a GPU: where bins are counted", histogram_type());
  install_knob(klass, kScan, "scan", "Scan", "Staged chain: prefix sum of the histogram",
               scan_type());
  install_knob(klass, kEqualize, "equalize", "Equalize", "Staged chain: how the curve is applied",
               equalize_type());
  install_launch_shape(klass);
}

bool set_property(EqualizeSettings& settings, guint id, const GValue* value) {
  EqualizeParams& params = settings.params;
  StagedParams& staged = params.staged;
  if (const CurveNumber* number = curve_number(id); number != nullptr) {
    params.*number->field = g_value_get_double(value);
    return true;
  }
  switch (id) {
    case kScaler:
      params.scaler = static_cast<Scaler>(g_value_get_enum(value));
      break;
    case kBins:
      params.bins = g_value_get_int(value);
      break;
    case kChain:
      params.chain = static_cast<Chain>(g_value_get_enum(value));
      break;
    case kSpace:
      params.space = static_cast<Space>(g_value_get_enum(value));
      break;
    case kRgbToHsv:
      staged.rgb_to_hsv = knob_from<RgbToHsvVariant>(value);
      break;
    case kHistogram:
      staged.histogram = knob_from<HistogramVariant>(value);
      break;
    case kScan:
      staged.scan = knob_from<ScanVariant>(value);
      break;
    case kEqualize:
      staged.equalize = knob_from<EqualizeVariant>(value);
      break;
    case kPixelsPerThread: {
      const gint number = g_value_get_int(value);
      staged.pixels_per_thread = number == 0 ? std::nullopt : std::optional<int>(number);
      break;
    }
    case kGrid:
      settings.grid = text_from(value);
      break;
    case kBlock:
      settings.block = text_from(value);
      break;
    case kRegion:
      params.region = text_from(value);
      break;
    case kCurveFrom:
      settings.curve_from = text_from(value);
      break;
    case kSurround:
      params.surround = static_cast<Surround>(g_value_get_enum(value));
      break;
    default:
      return false;
  }
  return true;
}

bool get_property(const EqualizeSettings& settings, guint id, GValue* value) {
  const EqualizeParams& params = settings.params;
  const StagedParams& staged = params.staged;
  if (const CurveNumber* number = curve_number(id); number != nullptr) {
    g_value_set_double(value, params.*number->field);
    return true;
  }
  switch (id) {
    case kScaler:
      g_value_set_enum(value, static_cast<gint>(params.scaler));
      break;
    case kBins:
      g_value_set_int(value, params.bins);
      break;
    case kChain:
      g_value_set_enum(value, static_cast<gint>(params.chain));
      break;
    case kSpace:
      g_value_set_enum(value, static_cast<gint>(params.space));
      break;
    case kRgbToHsv:
      set_knob(value, staged.rgb_to_hsv);
      break;
    case kHistogram:
      set_knob(value, staged.histogram);
      break;
    case kScan:
      set_knob(value, staged.scan);
      break;
    case kEqualize:
      set_knob(value, staged.equalize);
      break;
    case kPixelsPerThread:
      g_value_set_int(value, staged.pixels_per_thread.value_or(0));
      break;
    case kGrid:
      set_text(value, settings.grid);
      break;
    case kBlock:
      set_text(value, settings.block);
      break;
    case kRegion:
      set_text(value, params.region);
      break;
    case kCurveFrom:
      set_text(value, settings.curve_from);
      break;
    case kSurround:
      g_value_set_enum(value, static_cast<gint>(params.surround));
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace equalux::gst
