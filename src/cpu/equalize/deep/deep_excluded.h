#pragma once

#include <cstdint>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/cpu/equalize/excluded_pixels.h"

namespace equalux {

/// Counts the excluded pixels of frames of more than 8 bits. One thread at a time.
class DeepExcluded {
 public:
  /// Makes the counter; `loops` must outlive it.
  explicit DeepExcluded(const DeepRows& loops) : loops_(loops) {}

  /// Allocates for `threads` threads and frames of `desc`, of any format with has_deep_samples().
  void configure(const ImageDesc& desc, const DeepSamples& form, int threads);
  /// Frees what configure() allocated.
  void clear() { scratch_.clear(); }
  [[nodiscard]] bool configured() const { return !scratch_.empty(); }
  /// Returns `counts` of a frame without the excluded pixels, or all if none would be left.
  [[nodiscard]] const std::vector<std::uint32_t>& included(ExcludedPixels& excluded,
                                                           const std::vector<std::uint32_t>& counts,
                                                           const ConstImageView& in,
                                                           const FrameContext& context);

 private:
  /// Two tables that are incremented in turn.
  struct Tables {
    std::vector<std::uint32_t> even;
    std::vector<std::uint32_t> odd;
  };
  /// Memory of one thread.
  struct Scratch {
    Tables outside;
    Tables around;  // bright pixels included
  };

  void count(const ConstImageView& in, const PixelValues& values, int y, Columns span,
             Tables& tables) const;

  const DeepRows& loops_;
  ImageDesc desc_;
  DeepSamples form_{};
  std::vector<Scratch> scratch_;  // one for each thread
  std::vector<std::uint32_t> included_;
};

}  // namespace equalux
