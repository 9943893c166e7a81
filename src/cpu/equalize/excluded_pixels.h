#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <equalux/filter.h>

#include "src/common/function_ref.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/surround_tracker.h"
#include "src/equalize/region.h"
#include "src/format/pixel_values.h"

/// Pixels of a frame that do not count: those outside a region, and the dark ones of a surround.
namespace equalux {

/// What a span of pixels belongs to.
enum class SpanKind : std::uint8_t {
  outside,  ///< lies outside the region: all of its pixels are excluded
  around    ///< lies in marked blocks of the surround: pixels up to dark_level() are excluded
};

/// Finds excluded pixels. One thread at a time.
class ExcludedPixels {
 public:
  ExcludedPixels(const EqualizeParams& params, RowExecutor& executor);

  /// Prepares for frames of `desc`, of any format of whole numbers; `weights` are those of its
  /// depth. Throws where the region does not fit the frames.
  void configure(const ImageDesc& desc, const YuvWeights& weights);
  /// Sets region and surround from the next frame on. Throws as configure(), and then keeps the old
  /// ones.
  void update(const EqualizeParams& params);
  void reset() { surround_.reset(); }
  /// Returns a filter's state with the surround inserted, if it is tracked and frames were seen.
  [[nodiscard]] std::string with_surround(std::string filter_state) const {
    return surround::with_state(std::move(filter_state), surround_.grid(), surround_.state());
  }
  /// Returns the surround in a filter's state, for go_on(); nothing where it is not tracked or not
  /// in the state. Throws Error(usage) where it does not fit, and changes nothing.
  [[nodiscard]] std::optional<surround::State> surround_in(std::string_view filter_state) const {
    if (params_.surround != Surround::ignore) return std::nullopt;
    return surround::state_in(filter_state, surround_.grid());
  }
  void go_on(const std::optional<surround::State>& state) { surround_.go_on(state); }

  /// Returns false where all pixels count.
  [[nodiscard]] bool active() const { return leaves_out(params_); }
  /// Returns the largest value that is excluded around the picture.
  [[nodiscard]] int dark_level() const { return surround::dark_level(weights_.luma_max); }

  /// Takes a span of row y, on the thread that owns `slot`.
  using CountSpan =
      FunctionRef<void(const PixelValues& values, int y, Columns span, SpanKind kind, int slot)>;
  /// Follows the surround to a frame, then calls count() for every span, of several rows at once.
  void count_spans(const ConstImageView& in, const FrameContext& context, CountSpan count);

 private:
  void count_row(const PixelValues& values, int y, int slot, CountSpan count) const;

  EqualizeParams params_;
  RowExecutor& executor_;
  ImageDesc desc_;
  YuvWeights weights_{};
  RegionOutside outside_;
  SurroundTracker surround_;
};

}  // namespace equalux
