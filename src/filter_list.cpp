#include <equalux/error.h>
#include <equalux/filter.h>
#include <equalux/hessian.h>

#include "nearest_name.h"

/// The filters of this build by name. A new filter is one row and one branch.
namespace equalux {

const std::vector<FilterInfo>& filter_list() {
  static const std::vector<FilterInfo> filters{
      {"equalize", "histogram equalization of the value channel of HSV", equalize_option_keys()},
      {"eigenvalues", "eigenvalues of the Hessian, as two planes of floats", hessian_option_keys()},
  };
  return filters;
}

namespace {

template <typename Params>
Params read_params(const FilterSpec& spec, Params params) {
  for (const auto& [key, value] : spec.options)
    set_option(params, key, value);
  return params;
}

/// make(params) of the filter that the spec names.
template <typename Make>
std::unique_ptr<Filter> make_named(const FilterSpec& spec, const EqualizeParams& equalize,
                                   const Make& make) {
  if (spec.name == "equalize") return make(read_params(spec, equalize));
  if (spec.name == "eigenvalues") return make(read_params(spec, HessianParams{}));
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
  return make_named(spec, equalize,
                    [&](const auto& params) { return make_cpu_filter(params, options); });
}

std::unique_ptr<Filter> make_cuda_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                         const CudaOptions& options) {
  return make_named(spec, equalize,
                    [&](const auto& params) { return make_cuda_filter(params, options); });
}

}  // namespace equalux
