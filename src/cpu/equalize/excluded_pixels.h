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

/// The pixels of a frame that do not count: those outside a region, and the dark ones of a
/// surround.
namespace equalux {

/// One thread at a time.
class ExcludedPixels {
 public:
  /// `loops` outlive it.
  ExcludedPixels(const EqualizeParams& params, RowExecutor& executor, const FusedRows& loops);
  ~ExcludedPixels();

  /// Prepares for frames of `desc`, any 8-bit format. Throws where the region is none for them.
  void configure(const ImageDesc& desc, const YuvWeights& weights);
  /// Takes another region or surround, from the next frame on; throws as configure() and then keeps
  /// those before.
  void update(const EqualizeParams& params);
  void reset() { surround_.reset(); }
  /// A filter's state with the surround in it, if one is looked for and frames were seen.
  [[nodiscard]] std::string with_surround(std::string filter_state) const {
    return surround::with_state(std::move(filter_state), surround_.grid(), surround_.state());
  }
  /// The surround in a filter's state, for go_on(); nothing where none is looked for, or none is in
  /// it. Throws Error(usage) where it does not fit, and changes nothing.
  [[nodiscard]] std::optional<surround::State> surround_in(std::string_view filter_state) const {
    if (params_.surround != Surround::ignore) return std::nullopt;
    return surround::state_in(filter_state, surround_.grid());
  }
  void go_on(const std::optional<surround::State>& state) { surround_.go_on(state); }

  /// False where all pixels count.
  [[nodiscard]] bool active() const { return leaves_out(params_); }
  /// `counts` of a frame, less those of the pixels that do not count; the same where none is left.
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
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by slot
  ValueHistogram included_{};
};

}  // namespace equalux
