#include <algorithm>
#include <functional>
#include <utility>

#include <equalux/clahe.h>
#include <equalux/convolve.h>
#include <equalux/filter.h>
#include <equalux/hessian.h>

#include "src/common/nearest_name.h"
#include "src/common/option_values.h"

/// The filters of this build by name. A new filter is one row of rows().
namespace equalux {
namespace {

using Keys = std::vector<std::string_view>;

/// A filter that `--filter` knows, and what reads its parameters and makes it.
struct FilterRow {
  FilterInfo info;
  std::function<std::vector<std::string>(const FilterSpec&, const EqualizeParams&, Backend)>
      violations;
  std::function<std::unique_ptr<Filter>(const FilterSpec&, const EqualizeParams&,
                                        const CpuOptions&)>
      make_cpu;
  std::function<std::unique_ptr<Filter>(const FilterSpec&, const EqualizeParams&,
                                        const CudaOptions&)>
      make_cuda;
};

/// A row of a filter whose parameters read(spec, equalize) gives. violations(), make_cpu_filter()
/// and make_cuda_filter() must take parameters of that type.
template <typename Read>
FilterRow row(std::string_view name, std::string_view summary, const Keys& keys, Read read) {
  return {
      {name, summary, keys},
      [read](const FilterSpec& spec, const EqualizeParams& equalize, Backend backend) {
        return violations(read(spec, equalize), backend);
      },
      [read](const FilterSpec& spec, const EqualizeParams& equalize, const CpuOptions& options) {
        return make_cpu_filter(read(spec, equalize), options);
      },
      [read](const FilterSpec& spec, const EqualizeParams& equalize, const CudaOptions& options) {
        return make_cuda_filter(read(spec, equalize), options);
      }};
}

EqualizeParams read_equalize(const FilterSpec& spec, const EqualizeParams& defaults) {
  EqualizeParams params = defaults;
  for (const auto& [key, value] : spec.options)
    set_option(params, key, value);
  return params;
}

/// A convolution that knows some keys, of the kernel that it is named after if there is one.
FilterRow convolution(std::string_view name, std::string_view summary, const Keys& keys,
                      std::string_view kernel = {}) {
  const auto read = [keys, kernel](const FilterSpec& spec, const EqualizeParams&) {
    ConvolveParams params;
    if (!kernel.empty()) params.kernel = kernel;
    for (const auto& [key, value] : spec.options) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) refuse_key(spec.name, key, keys);
      set_option(params, key, value);
    }
    // Weights make the kernel custom; a kernel given beside them must not depend on the order.
    for (const auto& [key, value] : spec.options) {
      if (key == "kernel") set_option(params, key, value);
    }
    return params;
  };
  return row(name, summary, keys, read);
}

/// A filter whose parameters come from the spec alone.
template <typename Params>
FilterRow plain(std::string_view name, std::string_view summary, const Keys& keys) {
  return row(name, summary, keys, [](const FilterSpec& spec, const EqualizeParams&) {
    Params params;
    for (const auto& [key, value] : spec.options)
      set_option(params, key, value);
    return params;
  });
}

const std::vector<FilterRow>& rows() {
  static const Keys three{"offset", "border", "border-value", "mode", "block"};
  static const Keys gaussian{"sigma",        "size", "truncate", "border",
                             "border-value", "mode", "block"};
  static const Keys box{"size", "border", "border-value", "mode", "block"};
  static const std::vector<FilterRow> all{
      row("equalize", "histogram equalization of the value channel of HSV", equalize_option_keys(),
          read_equalize),
      plain<ClaheParams>("clahe", "adaptive equalization, a curve of its own for each tile",
                         clahe_option_keys()),
      convolution("convolve", "convolution with a named kernel or with weights of your own",
                  convolve_option_keys()),
      convolution("box-blur", "mean of 3 x 3 samples", three, "box-blur"),
      convolution("gaussian-blur", "3 x 3 samples weighted 1 2 1, 2 4 2, 1 2 1", three,
                  "gaussian-blur"),
      convolution("edge", "8 times a sample less its neighbours", three, "edge"),
      convolution("emboss-horizontal", "left less right, on 128", three, "emboss-horizontal"),
      convolution("emboss-vertical", "above less below, on 128", three, "emboss-vertical"),
      convolution("sharpen", "5 times a sample less the four beside it", three, "sharpen"),
      convolution("identity", "the frame as it is", three, "identity"),
      convolution("gaussian", "Gaussian of any sigma, up to 31 x 31", gaussian, "gaussian"),
      convolution("box", "mean of up to 31 x 31 samples", box, "box"),
      plain<HessianParams>("eigenvalues", "eigenvalues of the Hessian, two planes of floats",
                           hessian_option_keys()),
      plain<VesselParams>("vessel", "vessels and other lines: mask, overlay or heat map",
                          vessel_option_keys()),
      plain<ShapesParams>("shapes", "colours dark and bright lines and blobs",
                          shapes_option_keys()),
  };
  return all;
}

const FilterRow& find(const FilterSpec& spec) {
  for (const FilterRow& each : rows()) {
    if (each.info.name == spec.name) return each;
  }
  Keys names;
  for (const FilterRow& each : rows())
    names.push_back(each.info.name);
  const std::string nearest = nearest_name(spec.name, names);
  throw_usage("filter '" + spec.name + "' is unknown, must be " +
              (nearest.empty() ? list_of_names(names) : nearest));
}

}  // namespace

const std::vector<FilterInfo>& filter_list() {
  static const std::vector<FilterInfo> filters = [] {
    std::vector<FilterInfo> infos;
    for (const FilterRow& each : rows())
      infos.push_back(each.info);
    return infos;
  }();
  return filters;
}

std::vector<std::string> violations(const FilterSpec& spec, const EqualizeParams& equalize,
                                    Backend backend) {
  return find(spec).violations(spec, equalize, backend);
}

std::unique_ptr<Filter> make_cpu_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                        const CpuOptions& options) {
  return find(spec).make_cpu(spec, equalize, options);
}

std::unique_ptr<Filter> make_cuda_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                         const CudaOptions& options) {
  return find(spec).make_cuda(spec, equalize, options);
}

}  // namespace equalux
