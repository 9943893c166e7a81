#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/curve_chain.h"
#include "cuda/equalize/excluded_pixels.h"
#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/saturation_pass.h"
#include "cuda/runtime/handles.h"

/// The production path on a GPU: one kernel a frame. See fused_kernel.cuh.
namespace equalux::cuda {

/// Belongs to the device that was current when it was configured. One thread at a time.
class FusedChain final : public CurveChain {
 public:
  explicit FusedChain(const EqualizeParams& params, Launches launches = Launches::overlapping)
      : CurveChain(params), excluded_(params), launches_(launches) {}
  ~FusedChain() override;

  /// Allocates for frames of `desc`, any 8-bit format. Throws Error(unavailable).
  void configure(const ImageDesc& desc) override;

  /// Device memory of any stride and alignment, 16-byte accesses where all planes allow them.
  /// Frames of one chain must not overlap in time. The marks are told of the one stage. Throws
  /// Error(unavailable) where the launch is refused, and Error(usage) for strides of 2^31 bytes and
  /// more.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

  /// Changes S alone, by a rule, or by k of each value in device memory where `factors` is not
  /// null, in place; of chains that have the identity as their curve. The marks are told of it.
  void saturate(const ImageView& frame, const saturation::Rule& rule, const std::uint16_t* factors,
                const FrameContext& context);

  void update(const EqualizeParams& params) override;
  void reset() override {
    excluded_.reset();
    CurveChain::reset();
  }
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;

 private:
  struct Launch {
    const void* kernel = nullptr;
    unsigned block = 0;
    std::size_t shared_bytes = 0;
  };
  [[nodiscard]] Launch prepare(Access access, bool saturates) const;
  void prepare_launches(bool saturates);
  [[nodiscard]] const Launch& launch_for(Access access, bool saturates) const {
    return (saturates ? saturated_launches_ : launches_of_)[static_cast<std::size_t>(access)];
  }
  /// Whether a launch of so many blocks may overlap the end of the one before it.
  [[nodiscard]] bool may_overlap(cudaStream_t stream, unsigned grid, int chains) const;
  /// Launches the kernel on `grid` blocks that wait for each other.
  void start(const Launch& launch, unsigned grid, FusedParams& params, cudaStream_t stream);
  void join_device(int device);
  /// Waits for what is under way, and no longer counts among the device's chains.
  void leave_device() noexcept;

  /// The frame's own parameters: `frame` has what does not depend on where it lies.
  void enqueue(const ConstImageView& in, const ImageView& out, const FrameContext& context,
               FusedParams frame);

  void upload_bins() override;
  /// Enqueues what a frame with such a curve needs beforehand.
  void look_ahead(const tone::Frame& tone, cudaStream_t stream);
  void upload_curve() override;

  ExcludedPixels excluded_;
  SaturationPass colours_;  ///< of frames whose luma the curve is of
  Launches launches_;
  ImageDesc desc_;
  std::array<Launch, kAccesses> launches_of_;         ///< by Access
  std::array<Launch, kAccesses> saturated_launches_;  ///< the same; empty until one is needed
  int multiprocessors_ = 0;
  int device_ = -1;                     ///< -1 until configured
  bool overlaps_launches_ = false;      ///< the device has programmatic dependent launch
  cudaStream_t last_stream_ = nullptr;  ///< of the last launch
  unsigned proven_grid_ = 0;  ///< blocks that a cooperative launch on last_stream_ has had
  FusedParams frame_;         ///< what all frames have in common
  std::optional<tone::Limits> ahead_of_;  ///< what the state's next curve was made with
  DevicePointer<FusedState> state_;
};

}  // namespace equalux::cuda
