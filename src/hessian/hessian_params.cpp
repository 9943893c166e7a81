#include <limits>

#include <equalux/hessian.h>

#include "src/hessian/hessian_weights.h"
#include "src/hessian/vessel_math.h"
#include "src/options/option_table.h"

/// Options of the Hessian filters, and their rules between options and about frames.
namespace equalux {

EQUALUX_DEFINE_NAMES(HessianDerivative, "HessianDerivative",
                     {"gaussian", "derivatives of a sampled Gaussian"},
                     {"gradient", "the Gaussian, then differences"},
                     {"sobel-laplacian", "small kernels, which have no scale"})
EQUALUX_DEFINE_NAMES(HessianChannel, "Channel", {"luma", "luma; of YUV the only one"},
                     {"value", "max(R, G, B)"}, {"red", "red"},
                     {"green", "green, the best for the back of an eye"}, {"blue", "blue"})
EQUALUX_DEFINE_NAMES(Polarity, "Polarity", {"dark", "lines darker than what is around them"},
                     {"bright", "lines brighter than what is around them"})
EQUALUX_DEFINE_NAMES(VesselMeasure, "VesselMeasure", {"ridge", "contrast to the local mean"},
                     {"frangi", "Frangi's vesselness, 0 to 1: less in blobs, corners"})
EQUALUX_DEFINE_NAMES(FieldOfView, "FieldOfView",
                     {"auto", "not in a dark surround, where all corners of the frame are dark"},
                     {"none", "everywhere"})
EQUALUX_DEFINE_NAMES(VesselOutput, "VesselOutput", {"mask", "GRAY8: 255 in vessels, 0 elsewhere"},
                     {"overlay", "the frame in its own format, vessels tinted"},
                     {"heat", "BGR: the measure, black over red and yellow to white"})
EQUALUX_DEFINE_NAMES(ShapesOutput, "ShapesOutput",
                     {"overlay", "the frame in its own format, classes tinted"},
                     {"classes",
                      "GRAY8: 0 none, 1 dark line, 2 bright line, 3 dark blob, 4 bright blob"})

/// Numbers separated by commas.
template <>
struct OptionValue<std::vector<double>> {
  static constexpr OptionType kType = OptionType::text;

  static std::vector<double> read(const Option& option, std::string_view text) {
    std::vector<double> numbers;
    for (const std::string_view number : split(text, ','))
      numbers.push_back(OptionValue<double>::read(option, number));
    return numbers;
  }
  static std::string text(const std::vector<double>& numbers) {
    std::string text;
    for (const double number : numbers)
      text += (text.empty() ? "" : ",") + number_text(number);
    return text;
  }
  static void check(const Option& option, const std::vector<double>& numbers, Clauses& broken) {
    for (const double number : numbers)
      OptionValue<double>::check(option, number, broken);
  }
};

namespace {

template <typename Params>
OptionRow<Params> sigma_row(double least) {
  return {{.key = "sigma",
           .title = "Sigma",
           .help = "scale of the Gaussian; not of sobel-laplacian",
           .least = least,
           .most = kMaxSigma,
           .unit = "pixels",
           .step = 0.5,
           .live = true},
          &Params::sigma};
}

/// Options that all three filters have.
template <typename Params>
std::vector<OptionRow<Params>> common_rows(const EnumNames& derivatives) {
  return {{{.key = "truncate",
            .title = "Truncate",
            .help = "radius of a Gaussian in units of its sigma; at most 64 pixels",
            .least = kMinTruncate,
            .most = kMaxTruncate},
           &Params::truncate},
          {{.key = "derivative",
            .title = "Derivative",
            .help = "how second derivatives are taken",
            .names = derivatives.names,
            .names_type = derivatives.type},
           &Params::derivative},
          {{.key = "channel",
            .title = "Channel",
            .help = "what is read of a frame; all but luma need RGB or gray"},
           &Params::channel}};
}

/// Table of some rows, with the common ones after the first.
template <typename Params>
OptionTable<Params> table_of(std::string_view owner, std::vector<OptionRow<Params>> rows,
                             const EnumNames& derivatives) {
  const std::vector<OptionRow<Params>> common = common_rows<Params>(derivatives);
  rows.insert(rows.begin() + 1, common.begin(), common.end());
  return OptionTable<Params>(owner, std::move(rows));
}

const EnumNames& all_derivatives() {
  return names_of_enum<HessianDerivative>();
}

const OptionTable<HessianParams>& hessian_table() {
  static const OptionTable<HessianParams> table = table_of<HessianParams>(
      "eigenvalues", {sigma_row<HessianParams>(kMinSigma)}, all_derivatives());
  return table;
}

const OptionTable<ShapesParams>& shapes_table() {
  using P = ShapesParams;
  static const OptionTable<P> table = table_of<P>(
      "shapes",
      {sigma_row<P>(kMinShapeSigma),
       {{.key = "threshold",
         .title = "Threshold",
         .help = "|lambda2| of the least line or blob",
         .least = 0,
         .most = 1000,
         .above_least = true,
         .unit = "levels",
         .step = 1,
         .slider_least = 1,
         .slider_most = 100,
         .live = true},
        &P::threshold},
       {{.key = "line-ratio",
         .title = "Line ratio",
         .help = "|lambda1 / lambda2| up to which there is a line",
         .least = 0,
         .most = 1,
         .step = 0.05,
         .live = true},
        &P::line_ratio},
       {{.key = "blob-ratio",
         .title = "Blob ratio",
         .help = "lambda1 / lambda2 from which on there is a blob",
         .least = 0,
         .most = 1,
         .step = 0.05,
         .live = true},
        &P::blob_ratio},
       {{.key = "output",
         .title = "Output",
         .help = "what becomes of lines and blobs; what is not filtered is black in classes",
         .decides_format = true},
        &P::output}},
      all_derivatives());
  return table;
}

const OptionTable<VesselParams>& vessel_table() {
  using P = VesselParams;
  // sobel-laplacian is left out, as it has no scale.
  static const EnumNames derivatives{"VesselDerivative", all_derivatives().names.first(2)};
  static const OptionTable<P> table = table_of<P>(
      "vessel",
      {{{.key = "sigmas",
         .title = "Sigmas",
         .help =
             "scales, up to 8 with commas between them; a vessel of width w answers best to w / 2",
         .value = "S,S...",
         .least = kMinShapeSigma,
         .most = kMaxSigma,
         .unit = "pixels",
         .live = true},
        &P::sigmas},
       {{.key = "polarity",
         .title = "Polarity",
         .help = "which lines are looked for",
         .live = true},
        &P::polarity},
       {{.key = "measure", .title = "Measure", .help = "what makes a line a line", .live = true},
        &P::measure},
       {{.key = "mask", .title = "Mask", .help = "where vessels may be", .live = true}, &P::mask},
       {{.key = "low",
         .title = "Low",
         .help = "measure of all pixels of a vessel",
         .least = 0,
         .most = 10,
         .above_least = true,
         .step = 0.01,
         .slider_least = 0.01,
         .slider_most = 1,
         .unset = "the measure's own: ridge 0.08, frangi 0.1",
         .live = true},
        &P::low},
       {{.key = "high",
         .title = "High",
         .help = "measure that a vessel has somewhere",
         .least = 0,
         .most = 10,
         .above_least = true,
         .step = 0.01,
         .slider_least = 0.01,
         .slider_most = 1,
         .unset = "the measure's own: ridge 0.16, frangi 0.4",
         .live = true},
        &P::high},
       {{.key = "min-size",
         .title = "Minimum size",
         .help = "smallest vessel that is kept",
         .least = 0,
         .most = std::numeric_limits<int>::max(),
         .unit = "pixels",
         .step = 10,
         .slider_most = 1000,
         .live = true},
        &P::min_size},
       {{.key = "output",
         .title = "Output",
         .help = "what becomes of the vessels; what is not filtered is black in mask and heat",
         .shown = "overlay",
         .decides_format = true},
        &P::output}},
      derivatives);
  return table;
}

/// Checks that the kernels of a scale do not reach too far.
void check_reach(Clauses& broken, const Option& sigma, double value, double truncate) {
  if (!in_range(sigma, value) || !(truncate >= kMinTruncate && truncate <= kMaxTruncate)) return;
  if (gaussian_radius(value, truncate) <= kMaxGaussianRadius) return;
  broken.push_back("truncate is " + number_text(truncate) + ", must be so that truncate times " +
                   std::string(sigma.key) + " is at most " + std::to_string(kMaxGaussianRadius));
}

/// Checks sigma and truncate, which belong to derivatives that have a scale.
template <typename Params>
void check_scale(Clauses& broken, const Params& params, std::span<const Option> options) {
  if (params.derivative != HessianDerivative::sobel_laplacian) {
    check_reach(broken, options.front(), params.sigma, params.truncate);
    return;
  }
  const Params defaults;
  const auto foreign = [&](std::string_view key, double value, double fallback) {
    if (value == fallback || !in_range(*find_option(options, key), value)) return;
    broken.push_back(std::string(key) + " is " + number_text(value) +
                     ", must be left out with derivative sobel-laplacian, which has no scale");
  };
  foreign("sigma", params.sigma, defaults.sigma);
  foreign("truncate", params.truncate, defaults.truncate);
}

template <typename Params>
void check_frame(Clauses& broken, const Params& params, const ImageDesc& desc) {
  if (hessian_reads(desc.format, params.channel)) return;
  const std::string name(to_string(desc.format));
  const bool luma_only = hessian_reads(desc.format, HessianChannel::luma);
  if (luma_only && params.channel != HessianChannel::luma) {
    broken.push_back("channel is " + std::string(enum_name(params.channel)) +
                     ", which frames of format " + name + " do not have, must be luma");
  } else {
    broken.push_back("the frame's format is " + name +
                     ", must be gray8, grayf32, packed RGB of 8 bits, nv12, i420, y42b or y444");
  }
}

bool holds_colour(PixelFormat format) {
  return traits(format).model != ColorModel::real;
}

}  // namespace

std::vector<std::string> violations(const HessianParams& params, Backend, const ImageDesc* desc) {
  Clauses broken;
  hessian_table().check(params, broken);
  check_scale(broken, params, hessian_options());
  if (desc != nullptr) check_frame(broken, params, *desc);
  return broken;
}

std::vector<std::string> violations(const VesselParams& params, Backend, const ImageDesc* desc) {
  Clauses broken;
  vessel_table().check(params, broken);
  if (params.sigmas.empty() || params.sigmas.size() > kMaxScales) {
    broken.push_back("sigmas has " + std::to_string(params.sigmas.size()) +
                     " scales, must have 1 to " + std::to_string(kMaxScales));
  }
  for (const double sigma : params.sigmas)
    check_reach(broken, vessel_options().front(), sigma, params.truncate);
  if (params.derivative == HessianDerivative::sobel_laplacian) {
    broken.push_back(
        "derivative is sobel-laplacian, which has no scale, must be gaussian or gradient");
  }
  const VesselThresholds thresholds = vessel_thresholds(params);
  if (thresholds.low > thresholds.high) {
    broken.push_back("low is " + number_text(thresholds.low) + ", must be at most high, which is " +
                     number_text(thresholds.high));
  }
  if (desc != nullptr) {
    check_frame(broken, params, *desc);
    if (params.output == VesselOutput::overlay && !holds_colour(desc->format)) {
      broken.push_back("output overlay needs frames of 8 bits, must be mask or heat");
    }
  }
  return broken;
}

std::vector<std::string> violations(const ShapesParams& params, Backend, const ImageDesc* desc) {
  Clauses broken;
  shapes_table().check(params, broken);
  check_scale(broken, params, shapes_options());
  if (params.line_ratio > params.blob_ratio) {
    broken.push_back("line-ratio is " + number_text(params.line_ratio) +
                     ", must be at most blob-ratio, which is " + number_text(params.blob_ratio));
  }
  if (desc != nullptr) {
    check_frame(broken, params, *desc);
    if (params.output == ShapesOutput::overlay && !holds_colour(desc->format)) {
      broken.push_back("output overlay needs frames of 8 bits, must be classes");
    }
  }
  return broken;
}

bool takes(const HessianParams& params, PixelFormat format) {
  return hessian_reads(format, params.channel);
}
bool takes(const VesselParams& params, PixelFormat format) {
  return hessian_reads(format, params.channel) &&
         (params.output != VesselOutput::overlay || has_byte_samples(format));
}
bool takes(const ShapesParams& params, PixelFormat format) {
  return hessian_reads(format, params.channel) &&
         (params.output != ShapesOutput::overlay || has_byte_samples(format));
}

std::optional<PixelFormat> output_format(const HessianParams&) {
  return PixelFormat::grayf32x2;
}
std::optional<PixelFormat> output_format(const VesselParams& params) {
  switch (params.output) {
    case VesselOutput::mask:
      return PixelFormat::gray8;
    case VesselOutput::heat:
      return PixelFormat::bgr;
    default:
      return std::nullopt;
  }
}
std::optional<PixelFormat> output_format(const ShapesParams& params) {
  if (params.output == ShapesOutput::classes) return PixelFormat::gray8;
  return std::nullopt;
}

EQUALUX_DEFINE_OPTIONS(HessianParams, hessian)
EQUALUX_DEFINE_OPTIONS(VesselParams, vessel)
EQUALUX_DEFINE_OPTIONS(ShapesParams, shapes)

}  // namespace equalux
