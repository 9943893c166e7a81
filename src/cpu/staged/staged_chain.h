#pragma once

#include <cstdint>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/staged/staged_stages.h"
#include "src/equalize/equalize_chain.h"

/// Published chain on the CPU: five stages over a float HSV image.
namespace equalux {

/// Chain of the published stages. One thread at a time.
class StagedChain final : public EqualizeChain {
 public:
  StagedChain(const EqualizeParams& params, RowExecutor& executor);

  /// Allocates for frames of `desc`, packed RGB or gray8.
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

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
