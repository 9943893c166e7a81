#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <equalux/clahe.h>

#include "cuda/clahe/deep_clahe.h"
#include "cuda/clahe/device_tiles.h"
#include "cuda/equalize/deep/deep_saturation_pass.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/launch_device.h"
#include "src/clahe/tile_chain.h"

/// Adaptive equalization of frames of more than 8 bits on a GPU.
namespace equalux::cuda {

/// Runs the kernels frame by frame. Belongs to the device that was current when it was configured.
/// One thread at a time.
class DeepClaheChain final : public TileChain {
 public:
  explicit DeepClaheChain(const ClaheParams& params) : params_(params), control_(params.curve) {}

  /// Allocates for frames of `desc`, any format of more than 8 bits. Throws Error(unavailable).
  void configure(const ImageDesc& desc) override;
  /// Enqueues one frame in device memory of any stride and alignment. Accesses have 4 bytes where
  /// all planes allow it.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const ClaheParams& params) override;
  void reset() override { control_.reset(); }
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;

 private:
  /// Changes the saturation of the frame's results.
  void recolour(const DeepClaheFrame& frame, const ImageView& out, const FrameContext& context);
  /// Returns the memory for the sums of the tiles' curves: of the current frame, or of the next
  /// one.
  [[nodiscard]] unsigned long long* sums(bool next) const;

  ClaheParams params_;
  tone::Control control_;
  LaunchDevice launch_device_;
  DeepClaheFrame frame_;
  DevicePointer<DeepColumnMix> columns_;
  DevicePointer<LineMix> lines_;
  DeviceTiles tiles_;
  DevicePointer<unsigned long long> curve_sums_;  // of two frames, which take turns
  bool second_sums_ = false;
  DeepSaturationPass colours_;
  std::optional<std::uint32_t> made_for_;  // the k of all values for which the factors were made
};

}  // namespace equalux::cuda
