#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <equalux/filter.h>

#include "src/options/option_table.h"

/// Recipes of filters: parameters of any filter, parsed once from a spec.
namespace equalux {

class FilterRecipe;
using RecipePtr = std::shared_ptr<const FilterRecipe>;

/// Fixed parameters of a filter, from which filters are made. Threads may share it.
class FilterRecipe {
 public:
  FilterRecipe() = default;
  virtual ~FilterRecipe() = default;
  FilterRecipe(const FilterRecipe&) = delete;
  FilterRecipe& operator=(const FilterRecipe&) = delete;

  /// Returns the filter's name, as in filter_list().
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::span<const Option> options() const = 0;
  /// Returns the value of an option as text; empty where it is not set.
  [[nodiscard]] virtual std::string text(std::string_view key) const = 0;
  /// Returns a recipe with other values of some options. Throws Error(usage) for values that cannot
  /// be read.
  [[nodiscard]] virtual RecipePtr with(const OptionValues& values) const = 0;

  /// Lists the rules that the parameters break, as violations() does.
  [[nodiscard]] virtual std::vector<std::string> violations(
      Backend backend, const ImageDesc* desc = nullptr) const = 0;
  /// Returns true for formats that its filters take.
  [[nodiscard]] virtual bool accepts(PixelFormat format) const = 0;
  /// Returns the format of all results; nothing where a result has the format of its frame.
  [[nodiscard]] virtual std::optional<PixelFormat> output_format() const = 0;

  /// Makes a filter. Throws Error(usage) for invalid parameters, and Error(unavailable).
  [[nodiscard]] virtual std::unique_ptr<Filter> make(const CpuOptions& options) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Filter> make(const CudaOptions& options) const = 0;
  /// Gives these parameters to a filter made from such a recipe, where it can keep its temporal
  /// state; else returns false. Throws Error(usage) for invalid parameters.
  [[nodiscard]] virtual bool retune(Filter& filter) const = 0;
};

/// Parses a spec, with `equalize` as the defaults of the filter `equalize`. Throws Error(usage) for
/// an unknown filter or key and for an unreadable value, and what reading a file that it names
/// throws.
[[nodiscard]] RecipePtr read_recipe(const FilterSpec& spec, const EqualizeParams& equalize = {});

/// Makes a filter whose options may change by key and value: it keeps its temporal state where it
/// can, and is replaced by a new one inside otherwise.
[[nodiscard]] std::unique_ptr<Filter> make_changeable(RecipePtr recipe, const CpuOptions& options);
[[nodiscard]] std::unique_ptr<Filter> make_changeable(RecipePtr recipe, const CudaOptions& options);
/// Returns the present recipe of such a filter; null for other filters.
[[nodiscard]] RecipePtr recipe_of(const Filter& filter);

/// Base of filters that can take other parameters and keep their temporal state.
template <typename Params>
class TunableFilter : public Filter {
 public:
  [[nodiscard]] bool accepts(PixelFormat format) const final { return takes(params_, format); }
  bool update(const OptionValues& values) override {
    Params next = params_;
    for (const auto& [key, value] : values)
      set_option(next, key, value);
    return retune(next);
  }
  /// Returns false where the change needs a new filter. Throws Error(usage) for invalid parameters.
  virtual bool retune(const Params& params) = 0;

 protected:
  explicit TunableFilter(Params params) : params_(std::move(params)) {}
  Params params_;
};

/// Passes parameters to a filter; returns false for filters that take none.
template <typename Params>
bool retune(Filter& filter, const Params& params) {
  auto* tunable = dynamic_cast<TunableFilter<Params>*>(&filter);
  return tunable != nullptr && tunable->retune(params);
}

/// Sets options in any order: an option that replaces another is set first, so that both are known
/// to be set. Throws Error(usage) for a key that `options` lack.
template <typename Params>
void set_options(Params& params, std::string_view owner, std::span<const Option> options,
                 const OptionValues& values) {
  for (const auto& [key, value] : values) {
    const Option* option = find_option(options, key);
    if (option != nullptr && !option->replaces.empty()) set_option(params, key, value);
  }
  for (const auto& [key, value] : values)
    if (option_of(owner, options, key).replaces.empty()) set_option(params, key, value);
}

/// Calls violations() where a member of the same name hides it.
template <typename Params>
[[nodiscard]] std::vector<std::string> clauses_of(const Params& params, Backend backend,
                                                  const ImageDesc* desc) {
  return violations(params, backend, desc);
}

/// Calls output_format() for parameters that have it.
template <typename Params>
[[nodiscard]] std::optional<PixelFormat> format_of_results(const Params& params) {
  if constexpr (requires { output_format(params); }) {
    return output_format(params);
  } else {
    return std::nullopt;
  }
}

/// Recipe of one type of parameters, for which set_option(), option_text(), violations(), takes()
/// and the factories are overloaded, and output_format() where results have a format of their own.
template <typename Params>
class ParamsRecipe final : public FilterRecipe {
 public:
  ParamsRecipe(const FilterInfo& filter, Params params)
      : filter_(filter), params_(std::move(params)) {}

  [[nodiscard]] std::string_view name() const override { return filter_.name; }
  [[nodiscard]] std::span<const Option> options() const override { return filter_.options; }
  [[nodiscard]] std::string text(std::string_view key) const override {
    return option_text(params_, key);
  }
  [[nodiscard]] RecipePtr with(const OptionValues& values) const override {
    Params params = params_;
    set_options(params, filter_.name, filter_.options, values);
    return std::make_shared<ParamsRecipe>(filter_, std::move(params));
  }
  [[nodiscard]] std::vector<std::string> violations(Backend backend,
                                                    const ImageDesc* desc) const override {
    return clauses_of(params_, backend, desc);
  }
  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }
  [[nodiscard]] std::optional<PixelFormat> output_format() const override {
    return format_of_results(params_);
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CpuOptions& options) const override {
    return make_cpu_filter(params_, options);
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CudaOptions& options) const override {
    return make_cuda_filter(params_, options);
  }
  [[nodiscard]] bool retune(Filter& filter) const override {
    return equalux::retune(filter, params_);
  }

 private:
  FilterInfo filter_;
  Params params_;
};

/// Filter of the list, with the function that parses its parameters.
struct FilterRow {
  FilterInfo info;
  std::function<RecipePtr(const FilterSpec& spec, const EqualizeParams& equalize)> read;
};

/// Makes the row of a filter whose parameters start from `begin(equalize)`.
template <typename Params, typename Begin>
[[nodiscard]] FilterRow filter_row(const FilterInfo& info, Begin begin) {
  return {info, [info, begin](const FilterSpec& spec, const EqualizeParams& equalize) {
            return ParamsRecipe<Params>(info, begin(equalize)).with(spec.options);
          }};
}

template <typename Params>
[[nodiscard]] FilterRow filter_row(const FilterInfo& info) {
  return filter_row<Params>(info, [](const EqualizeParams&) { return Params{}; });
}

}  // namespace equalux
