#include <cmath>
#include <string>

#include <equalux/hessian.h>

#include "src/common/option_values.h"
#include "src/hessian/hessian_weights.h"
#include "src/hessian/vessel_math.h"

/// Every rule that the Hessian family's parameters obey is stated here, once.
namespace equalux {
namespace {

using Clauses = std::vector<std::string>;

/// As short as it is exact: "0.3", not "0.300000".
std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

template <typename Enum>
void check_enum(Clauses& broken, std::string_view key, Enum value) {
  if (static_cast<std::size_t>(value) < enum_names<Enum>().size()) return;
  broken.push_back(std::string(key) + " is enumerator " + std::to_string(static_cast<int>(value)) +
                   ", which does not exist");
}

void check_range(Clauses& broken, std::string_view key, double value, double least, double most) {
  if (value >= least && value <= most) return;  // NaN is not
  broken.push_back(std::string(key) + " is " + number(value) + ", must be " + number(least) +
                   " to " + number(most));
}

void check_above_zero(Clauses& broken, std::string_view key, double value, double most) {
  if (value > 0 && value <= most) return;
  broken.push_back(std::string(key) + " is " + number(value) + ", must be above 0, at most " +
                   number(most));
}

void check_scale(Clauses& broken, std::string_view key, double sigma, double least,
                 double truncate) {
  check_range(broken, key, sigma, least, kMaxSigma);
  if (sigma >= least && sigma <= kMaxSigma && truncate >= kMinTruncate &&
      truncate <= kMaxTruncate && gaussian_radius(sigma, truncate) > kMaxGaussianRadius) {
    broken.push_back("truncate is " + number(truncate) + ", must be so that truncate times " +
                     std::string(key) + " is at most " + std::to_string(kMaxGaussianRadius));
  }
}

template <typename Params>
void check_common(Clauses& broken, const Params& params) {
  check_enum(broken, "derivative", params.derivative);
  check_enum(broken, "channel", params.channel);
  check_range(broken, "truncate", params.truncate, kMinTruncate, kMaxTruncate);
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
  check_common(broken, params);
  check_scale(broken, "sigma", params.sigma, kMinSigma, params.truncate);
  if (desc != nullptr) check_frame(broken, params, *desc);
  return broken;
}

std::vector<std::string> violations(const VesselParams& params, Backend, const ImageDesc* desc) {
  Clauses broken;
  check_common(broken, params);
  check_enum(broken, "polarity", params.polarity);
  check_enum(broken, "measure", params.measure);
  check_enum(broken, "mask", params.mask);
  check_enum(broken, "output", params.output);
  if (params.sigmas.empty() || params.sigmas.size() > kMaxScales) {
    broken.push_back("sigmas has " + std::to_string(params.sigmas.size()) +
                     " scales, must have 1 to " + std::to_string(kMaxScales));
  }
  for (const double sigma : params.sigmas)
    check_scale(broken, "sigmas", sigma, kMinShapeSigma, params.truncate);
  if (params.derivative == HessianDerivative::sobel_laplacian) {
    broken.push_back(
        "derivative is sobel-laplacian, which has no scale, must be gaussian or gradient");
  }
  const VesselThresholds thresholds = vessel_thresholds(params);
  check_above_zero(broken, "low", thresholds.low, kMaxVesselThreshold);
  check_above_zero(broken, "high", thresholds.high, kMaxVesselThreshold);
  if (thresholds.low > thresholds.high) {
    broken.push_back("low is " + number(thresholds.low) + ", must be at most high, which is " +
                     number(thresholds.high));
  }
  if (params.min_size < 0) {
    broken.push_back("min-size is " + std::to_string(params.min_size) +
                     ", must be 0 to 2147483647 pixels");
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
  check_common(broken, params);
  check_enum(broken, "output", params.output);
  check_scale(broken, "sigma", params.sigma, kMinShapeSigma, params.truncate);
  check_above_zero(broken, "threshold", params.threshold, 1000);
  check_range(broken, "line-ratio", params.line_ratio, 0, 1);
  check_range(broken, "blob-ratio", params.blob_ratio, 0, 1);
  if (params.line_ratio > params.blob_ratio) {
    broken.push_back("line-ratio is " + number(params.line_ratio) +
                     ", must be at most blob-ratio, which is " + number(params.blob_ratio));
  }
  if (desc != nullptr) {
    check_frame(broken, params, *desc);
    if (params.output == ShapesOutput::overlay && !holds_colour(desc->format)) {
      broken.push_back("output overlay needs frames of 8 bits, must be classes");
    }
  }
  return broken;
}

void validate(const HessianParams& params, Backend backend, const ImageDesc* desc) {
  throw_violations(violations(params, backend, desc));
}
void validate(const VesselParams& params, Backend backend, const ImageDesc* desc) {
  throw_violations(violations(params, backend, desc));
}
void validate(const ShapesParams& params, Backend backend, const ImageDesc* desc) {
  throw_violations(violations(params, backend, desc));
}

}  // namespace equalux
