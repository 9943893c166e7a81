#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/curve_chain.h"
#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/saturation_pass.h"
#include "cuda/runtime/handles.h"

/// Production path on a GPU: one kernel for a frame. See fused_kernel.cuh.
namespace equalux::cuda {

/// Chain of one kernel. Belongs to the device that was current in configure(). Is not thread-safe.
class FusedChain final : public CurveChain {
 public:
  explicit FusedChain(const EqualizeParams& params, Launches launches = Launches::overlapping)
      : CurveChain(params), launches_(launches) {
    excluded_ = std::make_unique<ExcludedPixels>(params);
  }
  ~FusedChain() override;

  /// Allocates device memory for frames of `desc`, of any 8-bit format. Waits for all work on the
  /// device. Throws Error(unavailable).
  void configure(const ImageDesc& desc) override;

  /// Enqueues a frame in device memory, of any stride and alignment; accesses are of 16 bytes where
  /// all planes allow it. Does not wait. Frames of one chain must not overlap in time. Sets one
  /// mark, and another for a pass that changes saturation. Throws Error(unavailable) where the
  /// launch fails, and Error(usage) for strides of 2^31 bytes and more.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

  /// Enqueues a change of S alone, in place: by a rule, or by a factor k for each value where
  /// `factors`, in device memory, is not null. Only for chains with the identity as their curve.
  /// Sets one mark.
  void saturate(const ImageView& frame, const saturation::Rule& rule, const std::uint16_t* factors,
                const FrameContext& context);

  void update(const EqualizeParams& params) override;
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
  /// Returns true where a launch of `grid` blocks may overlap the end of the one before it, with so
  /// many chains on the device.
  [[nodiscard]] bool may_overlap(cudaStream_t stream, unsigned grid, int chains) const;
  /// Launches the kernel on `grid` blocks, all of which must be resident at the same time.
  void start(const Launch& launch, unsigned grid, FusedParams& params, cudaStream_t stream);
  void join_device(int device);
  /// Waits for all work on the device and takes this chain off the device's count.
  void leave_device() noexcept;

  /// Access to a frame's planes, and the lines that it has for the kernel.
  struct Placed {
    Access access;
    std::uint32_t lines;
  };
  /// Sets addresses, strides and width. Throws Error(usage) where a stride is too large.
  [[nodiscard]] Placed place(const ConstImageView& in, const ImageView& out,
                             FusedParams& params) const;
  /// Divides the frame into chunks, and these among warps. Returns the grid's blocks. Throws
  /// Error(usage) where the frame is too large for the device.
  [[nodiscard]] unsigned divide(const Launch& launch, const Placed& placed,
                                FusedParams& params) const;
  /// Completes the parameters and launches the kernel. `frame` has those that do not depend on the
  /// frame's address.
  void enqueue(const ConstImageView& in, const ImageView& out, const FrameContext& context,
               FusedParams frame);

  void upload_bins() override;
  /// Enqueues the making of the curve ahead of a frame, where nothing has made it yet.
  void look_ahead(const tone::Frame& tone, cudaStream_t stream);
  void upload_curve() override;

  SaturationPass colours_;  ///< saturation of frames whose curve is that of luma
  Launches launches_;
  ImageDesc desc_;
  std::array<Launch, kAccesses> launches_of_;         ///< by Access
  std::array<Launch, kAccesses> saturated_launches_;  ///< by Access; empty until a frame needs them
  int multiprocessors_ = 0;
  int device_ = -1;                       ///< -1 before configure()
  bool overlaps_launches_ = false;        ///< launches may use programmatic dependent launch
  cudaStream_t last_stream_ = nullptr;    ///< stream of the last launch
  unsigned proven_grid_ = 0;              ///< most blocks of a cooperative launch on last_stream_
  FusedParams frame_;                     ///< parameters that all frames have in common
  std::optional<tone::Limits> ahead_of_;  ///< limits for which the state's next curve was made
  DevicePointer<FusedState> state_;
};

}  // namespace equalux::cuda
