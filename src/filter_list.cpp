#include <equalux/error.h>
#include <equalux/filter.h>

#include "nearest_name.h"

/// The filters of this build by name. A new filter is one row and one branch.
namespace equalux {

const std::vector<FilterInfo>& filter_list() {
  static const std::vector<FilterInfo> filters{
      {"equalize", "histogram equalization of the value channel of HSV", equalize_option_keys()},
  };
  return filters;
}

namespace {

/// The one filter so far, its parameters read off the spec.
EqualizeParams equalize_params(const FilterSpec& spec, const EqualizeParams& defaults) {
  if (spec.name == "equalize") {
    EqualizeParams params = defaults;
    for (const auto& [key, value] : spec.options)
      set_option(params, key, value);
    return params;
  }
  std::vector<std::string_view> names;
  for (const FilterInfo& filter : filter_list())
    names.push_back(filter.name);
  const std::string nearest = nearest_name(spec.name, names);
  throw Error(ExitCode::usage, "filter '" + spec.name + "' is unknown, must be " +
                                   (nearest.empty() ? list_of_names(names) : nearest));
}

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                        const CpuOptions& options) {
  return make_cpu_filter(equalize_params(spec, equalize), options);
}

std::unique_ptr<Filter> make_cuda_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                         const CudaOptions& options) {
  return make_cuda_filter(equalize_params(spec, equalize), options);
}

}  // namespace equalux
