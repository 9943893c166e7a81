#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/surround_tracker.h"
#include "src/equalize/region.h"
#include "src/format/pixel_values.h"

/// Pixels of a frame that do not count: those outside a region, and the dark ones of a surround.
namespace equalux {

/// Counts excluded pixels. One thread at a time.
class ExcludedPixels {
 public:
  /// Makes the counter; `loops` must outlive it.
  ExcludedPixels(const EqualizeParams& params, RowExecutor& executor, const FusedRows& loops);
  ~ExcludedPixels();

  /// Prepares for frames of `desc`, of any 8-bit format. Throws where the region does not fit them.
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
  /// Returns `counts` of a frame without the excluded pixels, or all if none would be left.
  [[nodiscard]] const ValueHistogram& included(const ValueHistogram& counts,
                                               const ConstImageView& in,
                                               const FrameContext& context);

 private:
  struct Scratch;
  void make_scratch();
  void count_row(const ConstImageView& in, const PixelValues& values, int y,
                 Scratch& scratch) const;
  void count_span(const ConstImageView& in, const PixelValues& values, int y, Columns span,
                  SingleTables& tables, Scratch& scratch) const;

  EqualizeParams params_;
  RowExecutor& executor_;
  const FusedRows& loops_;
  ImageDesc desc_;
  YuvWeights weights_{};
  RegionOutside outside_;
  SurroundTracker surround_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread
  ValueHistogram included_{};
};

}  // namespace equalux
