#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <equalux/filter.h>

/// A filter's parameters, whichever filter's: what a spec says, read once.
namespace equalux {

class FilterRecipe;
using RecipePtr = std::shared_ptr<const FilterRecipe>;

/// Makes filters of fixed parameters. Threads may share it.
class FilterRecipe {
 public:
  FilterRecipe() = default;
  virtual ~FilterRecipe() = default;
  FilterRecipe(const FilterRecipe&) = delete;
  FilterRecipe& operator=(const FilterRecipe&) = delete;

  /// As violations() of parameters.
  [[nodiscard]] virtual std::vector<std::string> violations(
      Backend backend, const ImageDesc* desc = nullptr) const = 0;
  /// Throw Error(usage) for parameters that are no good, and Error(unavailable).
  [[nodiscard]] virtual std::unique_ptr<Filter> make(const CpuOptions& options) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Filter> make(const CudaOptions& options) const = 0;
};

/// A filter of the list: what is told of it, and how its parameters are read.
struct FilterRow {
  FilterInfo info;
  std::function<RecipePtr(const FilterSpec& spec, const EqualizeParams& equalize)> read;
};

/// Parameters for which violations(), make_cpu_filter() and make_cuda_filter() are overloaded.
template <typename Params>
class ParamsRecipe final : public FilterRecipe {
 public:
  explicit ParamsRecipe(Params params) : params_(std::move(params)) {}

  [[nodiscard]] std::vector<std::string> violations(Backend backend,
                                                    const ImageDesc* desc) const override {
    return equalux::violations(params_, backend, desc);
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CpuOptions& options) const override {
    return make_cpu_filter(params_, options);
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CudaOptions& options) const override {
    return make_cuda_filter(params_, options);
  }

 private:
  Params params_;
};

/// Sets options, whatever their order: one that replaces another goes before it, so that both are
/// seen to be set.
template <typename Params>
void set_options(Params& params, std::span<const Option> options, const OptionValues& values) {
  for (const bool replacing : {true, false}) {
    for (const auto& [key, value] : values) {
      const Option* option = find_option(options, key);
      if ((option != nullptr && !option->replaces.empty()) == replacing)
        set_option(params, key, value);
    }
  }
}

/// The row of a filter whose parameters begin with `begin(equalize)`, for which set_option() is
/// overloaded as well.
template <typename Params, typename Begin>
[[nodiscard]] FilterRow filter_row(const FilterInfo& info, Begin begin) {
  return {info, [info, begin](const FilterSpec& spec, const EqualizeParams& equalize) {
            Params params = begin(equalize);
            set_options(params, info.options, spec.options);
            return std::make_shared<ParamsRecipe<Params>>(std::move(params));
          }};
}

template <typename Params>
[[nodiscard]] FilterRow filter_row(const FilterInfo& info) {
  return filter_row<Params>(info, [](const EqualizeParams&) { return Params{}; });
}

}  // namespace equalux
