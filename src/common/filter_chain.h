#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

/// Filters that work one after another on frames in the memory of their backend: for processors,
/// and for hosts that hand frames over one by one.
namespace equalux {

/// True for the formats that go through all filters, so that a source is not asked for frames that
/// the second one refuses; all formats where there is no filter. Where none goes through, those
/// that the first one takes: configure() then says which filter refuses what. Whom a filter of no
/// recipe hands its results to is not asked, as they may have any format.
[[nodiscard]] bool chain_accepts(const std::vector<std::unique_ptr<Filter>>& filters,
                                 PixelFormat format);

/// One thread at a time.
class FilterChain {
 public:
  /// `between` is where frames lie on their way from one filter to the next; null = on the heap.
  explicit FilterChain(std::vector<std::unique_ptr<Filter>> filters,
                       const ImageMemory* between = nullptr);

  [[nodiscard]] const std::vector<std::unique_ptr<Filter>>& filters() const { return filters_; }

  /// As chain_accepts().
  [[nodiscard]] bool accepts(PixelFormat format) const { return chain_accepts(filters_, format); }
  /// Allocates everything for frames of `input`; returns the last filter's output.
  ImageDesc configure(const ImageDesc& input);
  /// True where submit() may be given the same memory for both frames.
  [[nodiscard]] bool works_in_place() const;
  /// As Filter::submit().
  void submit(const ConstImageView& in, const ImageView& out, FrameContext context);

 private:
  std::vector<std::unique_ptr<Filter>> filters_;
  const ImageMemory* memory_;
  std::vector<Image> between_;  ///< what filter i hands to filter i + 1
};

/// What filters keep from frame to frame, as a JSON array of what each one saves.
[[nodiscard]] std::string save_filters(const std::vector<std::unique_ptr<Filter>>& filters);
/// Restores that. Throws Error(usage) where it does not fit, and all stays as it was then.
void load_filters(const std::vector<std::unique_ptr<Filter>>& filters, std::string_view state);

}  // namespace equalux
