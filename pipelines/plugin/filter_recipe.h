#pragma once

#include <memory>
#include <optional>

#include <equalux/filter.h>

/// What an element's own properties ask for.
namespace equalux::gst {

/// Makes the filters of one element. Fixed once made, so that streaming threads may share it.
class FilterRecipe {
 public:
  virtual ~FilterRecipe() = default;

  /// True for the formats that its filters take.
  [[nodiscard]] virtual bool accepts(PixelFormat format) const = 0;
  /// The one format of the results, which are of system memory then; nothing where each has that of
  /// its frame.
  [[nodiscard]] virtual std::optional<PixelFormat> output_format() const { return std::nullopt; }
  /// True where a property is set that only the CUDA backend has.
  [[nodiscard]] virtual bool needs_cuda() const { return false; }
  /// True where one is set that only the CPU has.
  [[nodiscard]] virtual bool needs_cpu() const { return false; }
  /// Throws Error(usage) for properties that do not go together, or not with that backend.
  virtual void check(Backend backend) const = 0;
  /// Throw what check() does, and Error(unavailable).
  [[nodiscard]] virtual std::unique_ptr<Filter> make(const CpuOptions& options) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Filter> make(const CudaOptions& options) const = 0;
  /// Gives a filter of another recipe of this kind these properties, where it can take them without
  /// forgetting the frames it has seen. Throws what check() does.
  virtual bool retune(Filter& filter) const {
    static_cast<void>(filter);
    return false;
  }
};
using RecipePtr = std::shared_ptr<const FilterRecipe>;

}  // namespace equalux::gst
