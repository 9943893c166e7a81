#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <equalux/clahe.h>

#include "cuda/clahe/clahe.h"
#include "cuda/clahe/device_tiles.h"
#include "cuda/equalize/saturation_pass.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/launch_device.h"
#include "src/clahe/tile_chain.h"

/// Adaptive equalization of 8-bit frames on a GPU.
namespace equalux::cuda {

/// Runs the three kernels frame by frame. Belongs to the device that was current when it was
/// configured. One thread at a time.
class ClaheChain final : public TileChain {
 public:
  explicit ClaheChain(const ClaheParams& params) : params_(params), control_(params.curve) {}

  /// Allocates for frames of `desc`, any 8-bit format. Throws Error(unavailable).
  void configure(const ImageDesc& desc) override;
  /// Enqueues one frame in device memory of any stride and alignment. Accesses have 16 bytes where
  /// all planes allow it.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const ClaheParams& params) override;
  void reset() override { control_.reset(); }
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;

 private:
  void describe(const ImageDesc& desc);

  ClaheParams params_;
  tone::Control control_;
  LaunchDevice launch_device_;
  ImageDesc desc_;
  ClaheFrame frame_;
  DevicePointer<ColumnMix> columns_;
  DevicePointer<LineMix> lines_;
  DeviceTiles tiles_;
  DevicePointer<unsigned long long> curve_sums_;  // for clahe_factors()
  SaturationPass colours_;
};

}  // namespace equalux::cuda
