#include "src/lab/convolution/kernel.h"

#include <algorithm>

#include <equalux/error.h>
#include <equalux/filter.h>

#include "src/common/filter_recipe.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"

namespace equalux::cli::lab {
namespace {

constexpr std::string_view kAnyKernel = "convolve";  // filter for custom kernels

/// Returns the named kernels, then the filter for custom ones.
std::vector<std::string_view> kernel_filters() {
  std::vector<std::string_view> names = spellings(convolve_kernel_list());
  std::erase(names, "custom");
  names.push_back(kAnyKernel);
  return names;
}

template <typename Params>
Params read_keys(const std::string& filter, const std::string& text) {
  Params params;
  params.channel = HessianChannel::green;
  for (const auto& [key, value] : parse_filter_spec(filter + ":" + text).options)
    set_option(params, key, value);
  validate(params, Backend::automatic);
  return params;
}

}  // namespace

HessianParams read_hessian(const std::string& text) {
  return read_keys<HessianParams>("eigenvalues", text);
}

VesselParams read_vessel(const std::string& text) {
  auto params = read_keys<VesselParams>("vessel", text);
  if (params.output != VesselOutput::mask) {
    throw_usage("--vessel has output, which is mask in the lab, must be left out");
  }
  return params;
}

ConvolveParams read_kernel(const std::string& text) {
  const FilterSpec spec = parse_filter_spec(text);
  const std::vector<std::string_view> names = kernel_filters();
  if (std::find(names.begin(), names.end(), spec.name) == names.end()) {
    throw_usage("--kernel '" + text + "' is unknown, must be " + nearest_or_all(spec.name, names));
  }
  ConvolveParams params;
  if (spec.name != kAnyKernel) params.kernel = spec.name;
  for (const auto& [key, value] : spec.options) {
    if (key == "mode" || key == "block") {
      throw_usage("--kernel has " + key +
                  ", which is what lab convolution varies, must be left out");
    }
  }
  throw_violations(violations(spec, {}, Backend::automatic));  // refuses unknown keys, too
  set_options(params, spec.name, convolve_options(), spec.options);
  return params;
}

}  // namespace equalux::cli::lab
