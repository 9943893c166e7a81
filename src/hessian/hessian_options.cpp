#include <string>

#include <equalux/hessian.h>

#include "src/common/option_values.h"

/// Parameters of the Hessian family from text.
namespace equalux {
namespace {

constexpr const char* kSigmaRange = "0.5 to 16 pixels";
constexpr const char* kShapeSigmaRange = "1 to 16 pixels";
constexpr const char* kTruncateRange = "1 to 8";

/// The keys that all three filters have.
template <typename Params>
bool set_common(Params& params, std::string_view key, std::string_view value) {
  if (key == "truncate") {
    params.truncate = read_double(key, value, kTruncateRange);
  } else if (key == "derivative") {
    params.derivative = read_enum<HessianDerivative>(key, value);
  } else if (key == "channel") {
    params.channel = read_enum<HessianChannel>(key, value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void set_option(HessianParams& params, std::string_view key, std::string_view value) {
  if (set_common(params, key, value)) return;
  if (key == "sigma") {
    params.sigma = read_double(key, value, kSigmaRange);
  } else {
    refuse_key("eigenvalues", key, hessian_option_keys());
  }
}

void set_option(VesselParams& params, std::string_view key, std::string_view value) {
  if (set_common(params, key, value)) return;
  if (key == "sigmas") {
    params.sigmas.clear();
    for (const std::string_view sigma : split(value, ','))
      params.sigmas.push_back(read_double(key, sigma, kShapeSigmaRange));
  } else if (key == "polarity") {
    params.polarity = read_enum<Polarity>(key, value);
  } else if (key == "measure") {
    params.measure = read_enum<VesselMeasure>(key, value);
  } else if (key == "mask") {
    params.mask = read_enum<FieldOfView>(key, value);
  } else if (key == "low") {
    params.low = read_double(key, value, "above 0 to 10");
  } else if (key == "high") {
    params.high = read_double(key, value, "above 0 to 10");
  } else if (key == "min-size") {
    params.min_size = read_int(key, value, "0 to 2147483647 pixels");
  } else if (key == "output") {
    params.output = read_enum<VesselOutput>(key, value);
  } else {
    refuse_key("vessel", key, vessel_option_keys());
  }
}

void set_option(ShapesParams& params, std::string_view key, std::string_view value) {
  if (set_common(params, key, value)) return;
  if (key == "sigma") {
    params.sigma = read_double(key, value, kShapeSigmaRange);
  } else if (key == "threshold") {
    params.threshold = read_double(key, value, "above 0 to 1000 levels");
  } else if (key == "line-ratio") {
    params.line_ratio = read_double(key, value, "0 to 1");
  } else if (key == "blob-ratio") {
    params.blob_ratio = read_double(key, value, "0 to 1");
  } else if (key == "output") {
    params.output = read_enum<ShapesOutput>(key, value);
  } else {
    refuse_key("shapes", key, shapes_option_keys());
  }
}

const std::vector<std::string_view>& hessian_option_keys() {
  static const std::vector<std::string_view> keys{"sigma", "truncate", "derivative", "channel"};
  return keys;
}

const std::vector<std::string_view>& vessel_option_keys() {
  static const std::vector<std::string_view> keys{"sigmas",   "truncate", "derivative", "channel",
                                                  "polarity", "measure",  "mask",       "low",
                                                  "high",     "min-size", "output"};
  return keys;
}

const std::vector<std::string_view>& shapes_option_keys() {
  static const std::vector<std::string_view> keys{"sigma",      "truncate",  "derivative",
                                                  "channel",    "threshold", "line-ratio",
                                                  "blob-ratio", "output"};
  return keys;
}

}  // namespace equalux
