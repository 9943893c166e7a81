#pragma once

#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/equalize/excluded_pixels.h"
#include "src/cpu/equalize/fused/fused_rows.h"

namespace equalux {

/// Counts the excluded pixels of frames of 8 bits. One thread at a time.
class FusedExcluded {
 public:
  /// Makes the counter; `loops` must outlive it.
  explicit FusedExcluded(const FusedRows& loops);
  ~FusedExcluded();

  /// Allocates for `threads` threads and frames of `desc`, of any 8-bit format.
  void configure(const ImageDesc& desc, const YuvWeights& weights, int threads);
  /// Frees what configure() allocated.
  void clear();
  [[nodiscard]] bool configured() const { return !scratch_.empty(); }
  /// Returns `counts` of a frame without the excluded pixels, or all if none would be left.
  [[nodiscard]] const ValueHistogram& included(ExcludedPixels& excluded,
                                               const ValueHistogram& counts,
                                               const ConstImageView& in,
                                               const FrameContext& context);

 private:
  struct Scratch;
  void count(const ConstImageView& in, const PixelValues& values, int y, Columns span,
             SpanKind kind, Scratch& scratch) const;

  const FusedRows& loops_;
  ImageDesc desc_;
  YuvWeights weights_{};
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread
  ValueHistogram included_{};
};

}  // namespace equalux
