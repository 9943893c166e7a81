#pragma once

#include <utility>

#include "pipelines/plugin/filter_recipe.h"

namespace equalux::gst {

/// A filter with fixed parameters, of a type that the core's violations(), validate(),
/// make_cpu_filter() and make_cuda_filter() know.
template <typename Params>
class ParamsRecipe : public FilterRecipe {
 public:
  explicit ParamsRecipe(Params params) : params_(std::move(params)) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override {
    // What else may be wrong with the parameters is said when the filter is made.
    const ImageDesc desc{format, 1, 1};
    return violations(format_params(), Backend::automatic, &desc).empty();
  }
  void check(Backend backend) const override { validate(params_, backend); }
  [[nodiscard]] std::unique_ptr<Filter> make(const CpuOptions& options) const override {
    return make_cpu_filter(params_, options);
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CudaOptions& options) const override {
    return make_cuda_filter(params_, options);
  }

 protected:
  /// Those parameters that decide which formats are taken; all else as by default.
  [[nodiscard]] virtual Params format_params() const { return {}; }
  [[nodiscard]] const Params& params() const { return params_; }

 private:
  Params params_;
};

}  // namespace equalux::gst
