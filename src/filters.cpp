#include <algorithm>
#include <utility>

#include <equalux/clahe.h>
#include <equalux/convolve.h>
#include <equalux/denoise.h>
#include <equalux/filter.h>
#include <equalux/hessian.h>

#include "src/common/filter_recipe.h"
#include "src/format/rounding.h"
#include "src/options/idle_options.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"

/// List of the filters of this build. A new filter is one row of rows().
namespace equalux {
namespace {

/// Convolution with a named kernel, with a part of its options.
FilterRow named_kernel(const OptionName& kernel) {
  std::vector<std::string_view> keys{"offset", "border", "border-value", "mode", "block"};
  if (kernel.name == "box") keys.front() = "size";
  if (kernel.name == "gaussian") {
    keys.front() = "sigma";
    keys.insert(keys.begin() + 1, {"size", "truncate"});
  }
  auto options = std::make_shared<std::vector<Option>>();
  for (const std::string_view key : keys)
    options->push_back(*find_option(convolve_options(), key));
  // The row lives as long as the program and keeps the options alive.
  return filter_row<ConvolveParams>({kernel.name, kernel.help, *options, {}, {}},
                                    [kernel, options](const EqualizeParams&) {
                                      ConvolveParams params;
                                      params.kernel = kernel.name;
                                      return params;
                                    });
}

const std::vector<FilterRow>& rows() {
  static const std::vector<FilterRow> all = [] {
    std::vector<FilterRow> rows{
        filter_row<EqualizeParams>(
            {"equalize", "histogram equalization of the value channel of HSV", equalize_options(),
             "Histogram equalizer",
             "Makes low-contrast video readable: equalizes the value channel of HSV, on the CPU or "
             "a GPU"},
            [](const EqualizeParams& equalize) { return equalize; }),
        filter_row<ClaheParams>(
            {"clahe", "adaptive equalization, a curve of its own for each tile", clahe_options(),
             "Adaptive histogram equalizer",
             "Makes low-contrast video readable, dark and bright parts alike: equalizes the value "
             "channel of HSV tile by tile, on the CPU or a GPU"}),
        filter_row<DenoiseParams>(
            {"denoise", "noise reduction over time, along what moves", denoise_options(),
             "Noise reducer",
             "Takes the noise of dark scenes off video without blurring what moves, on the "
             "CPU or a GPU"}),
        filter_row<ConvolveParams>(
            {"convolve", "convolution with a named kernel or with weights of your own",
             convolve_options(), "Convolution",
             "Blurs, sharpens, finds edges: convolves with a small kernel, on the CPU or a GPU"}),
    };
    for (const OptionName& kernel : convolve_kernel_list())
      if (kernel.name != "custom") rows.push_back(named_kernel(kernel));
    // No title and so no GStreamer element, as GStreamer has no video format for two planes of
    // floats.
    rows.insert(
        rows.end(),
        {filter_row<HessianParams>({"eigenvalues",
                                    "eigenvalues of the Hessian, two planes of floats",
                                    hessian_options(),
                                    {},
                                    {}}),
         filter_row<VesselParams>({"vessel", "vessels and other lines: mask, overlay or heat map",
                                   vessel_options(), "Vessel finder",
                                   "Finds vessels and other lines by eigenvalues of the Hessian: "
                                   "tinted, as a mask or as a heat map"}),
         filter_row<ShapesParams>({"shapes", "colours dark and bright lines and blobs",
                                   shapes_options(), "Line and blob finder",
                                   "Finds dark and bright lines and blobs by eigenvalues of the "
                                   "Hessian: tinted, or as classes"})});
    return rows;
  }();
  return all;
}

const FilterRow& find(const FilterSpec& spec) {
  std::vector<std::string_view> names;
  for (const FilterRow& each : rows()) {
    if (each.info.name == spec.name) return each;
    names.push_back(each.info.name);
  }
  throw_usage("filter '" + spec.name + "' is unknown, must be " + nearest_or_all(spec.name, names));
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

RecipePtr read_recipe(const FilterSpec& spec, const EqualizeParams& equalize) {
  const FilterRow& row = find(spec);
  FilterSpec whole = spec;
  // Defaults of `equalize` that a value of the spec leaves without meaning are no error of the
  // spec.
  for (auto& value : idle_beside(row.info.options, spec.options))
    whole.options.push_back(std::move(value));
  return row.read(whole, equalize);
}

std::vector<std::string> violations(const FilterSpec& spec, const EqualizeParams& equalize,
                                    Backend backend) {
  return read_recipe(spec, equalize)->violations(backend);
}

std::vector<ImageDesc> configure_chain(std::span<const std::unique_ptr<Filter>> filters,
                                       const ImageDesc& input) {
  std::vector<ImageDesc> behind;
  ImageDesc stream = input;
  Fractions fractions;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    fractions.out = i + 1 < filters.size() && format_with_fractions(stream.format) &&
                    filters[i]->takes_fractions(stream, {fractions.in, true}) &&
                    filters[i + 1]->takes_fractions(stream, {true, false});
    try {
      behind.push_back(filters[i]->configure_with(stream, fractions));
    } catch (const Error& error) {
      const RecipePtr recipe = recipe_of(*filters[i]);
      if (error.code() != ExitCode::usage || filters.size() == 1 || recipe == nullptr) throw;
      throw Error(error.code(), "filter " + std::string(recipe->name()) + ": " + error.what());
    }
    if (!fractions.out) stream = behind.back();
    fractions.in = fractions.out;
  }
  return behind;
}

std::unique_ptr<Filter> make_cpu_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                        const CpuOptions& options) {
  return make_changeable(read_recipe(spec, equalize), options);
}

std::unique_ptr<Filter> make_cuda_filter(const FilterSpec& spec, const EqualizeParams& equalize,
                                         const CudaOptions& options) {
  return make_changeable(read_recipe(spec, equalize), options);
}

}  // namespace equalux
