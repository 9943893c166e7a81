#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

/// Chains of filters of one backend, for processors and for hosts that pass single frames.
namespace equalux {

/// Returns true for formats that pass through all filters, so that a source is not asked for frames
/// that the second one refuses; for all formats if there is no filter. If no format passes all, it
/// returns true for those of the first filter: configure() then says which filter refuses what.
/// Filters after one without a recipe are not checked, as its results may have any format.
[[nodiscard]] bool chain_accepts(const std::vector<std::unique_ptr<Filter>>& filters,
                                 PixelFormat format);

/// Chain of filters. One thread at a time.
class FilterChain {
 public:
  /// Makes a chain; `between` allocates the frames between filters; null = from the heap.
  explicit FilterChain(std::vector<std::unique_ptr<Filter>> filters,
                       const ImageMemory* between = nullptr);

  [[nodiscard]] const std::vector<std::unique_ptr<Filter>>& filters() const { return filters_; }

  /// Returns chain_accepts() of these filters.
  [[nodiscard]] bool accepts(PixelFormat format) const { return chain_accepts(filters_, format); }
  /// Allocates everything for frames of `input` and returns the last filter's output desc.
  ImageDesc configure(const ImageDesc& input);
  /// Returns true where `in` and `out` of submit() may be the same memory.
  [[nodiscard]] bool works_in_place() const;
  /// Filters a frame, as Filter::submit().
  void submit(const ConstImageView& in, const ImageView& out, FrameContext context);

 private:
  std::vector<std::unique_ptr<Filter>> filters_;
  const ImageMemory* memory_;
  std::vector<Image> between_;  ///< output of filter i, input of filter i + 1
};

/// Returns the states of all filters as a JSON array of their save().
[[nodiscard]] std::string save_filters(const std::vector<std::unique_ptr<Filter>>& filters);
/// Restores such states. Throws Error(usage) where one does not fit; all filters then keep theirs.
void load_filters(const std::vector<std::unique_ptr<Filter>>& filters, std::string_view state);

}  // namespace equalux
