#pragma once

#include <cstdint>

#include <equalux/clahe.h>

#include "cuda/clahe/opencv_clahe.h"
#include "cuda/runtime/handles.h"
#include "src/clahe/tile_chain.h"

/// `clahe` with the bytes of cv::createCLAHE, on a GPU.
namespace equalux::cuda {

/// Runs the three kernels frame by frame. Belongs to the device that was current when it was
/// configured. One thread at a time.
class OpencvClaheChain final : public TileChain {
 public:
  explicit OpencvClaheChain(const ClaheParams& params) : params_(params) {}

  /// Allocates for frames of `desc`, gray8 or gray16_le. Throws Error(unavailable).
  void configure(const ImageDesc& desc) override;
  /// Enqueues one frame in device memory of any stride and alignment.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const ClaheParams& params) override;

 private:
  ClaheParams params_;
  LaunchDevice device_;
  int depth_ = 8;
  opencv::Grid grid_;
  OpencvFrame frame_;                    ///< what is the same for all frames
  DevicePointer<std::int32_t> sources_;  ///< of columns, then of rows
  DevicePointer<OpencvMix> mixes_;       ///< of columns, then of rows
  DevicePointer<std::uint32_t> counts_;
  DevicePointer<std::uint16_t> levels_;
};

}  // namespace equalux::cuda
