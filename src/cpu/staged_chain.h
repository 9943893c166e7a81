#pragma once

#include <cstdint>
#include <vector>

#include <equalux/filter.h>

#include "cpu/staged_stages.h"

/// The report's chain on the CPU: five stages over a float HSV image.
namespace equalux {

/// One thread at a time.
class StagedChain {
 public:
  StagedChain(const EqualizeParams& params, RowExecutor& executor);

  /// Allocates for frames of `desc`, a packed RGB form or gray8.
  void configure(const ImageDesc& desc);
  /// Filters one frame; `in` and `out` may be the same memory with the same strides.
  void process(const ConstImageView& in, const ImageView& out, const FrameContext& context);

 private:
  EqualizeParams params_;
  RowExecutor& executor_;
  HsvImage hsv_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> partial_;
  std::vector<std::uint32_t> cdf_;
  std::vector<std::uint32_t> scratch_;
  std::vector<float> curve_;
};

}  // namespace equalux
