#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "handles.h"
#include "space_stages.h"
#include "tone_control.h"

/// Equalization of luma or lightness of packed RGB and gray on a GPU: the same stages as
/// src/cpu/space_chain.h.
namespace equalux::cuda {

/// Belongs to the device that was current when it was configured. One thread at a time.
class SpaceChain {
 public:
  explicit SpaceChain(const EqualizeParams& params) : params_(params), control_(params) {}

  /// Allocates for frames of `desc`, which space_needs_tables(). Throws Error(unavailable).
  void configure(const ImageDesc& desc);

  /// Enqueues one frame; device memory of any stride and alignment, four pixels at a time where
  /// both frames allow it. `in` and `out` may be the same memory with the same strides. Frames of
  /// one chain must not overlap in time. The context's marks are told of each stage. Throws
  /// Error(unavailable) where a launch is refused.
  void enqueue(const ConstImageView& in, const ImageView& out, const FrameContext& context,
               cudaStream_t stream);

  /// Other parameters of the curve, from the next frame on; the space stays. Other bins, and curves
  /// that are kept, wait for what is under way.
  void update(const EqualizeParams& params);
  /// As of a Filter. The frames under way count to what is saved; load() comes after configure().
  void reset() { control_.reset(); }
  [[nodiscard]] std::string save() const;
  void load(std::string_view state);
  void collect_curves() { collects_ = true; }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const;

 private:
  void upload_bins();
  /// Makes the tables of the parameters' curve, if there is one, which then hold for all frames.
  void upload_curve();

  EqualizeParams params_;
  tone::Control control_;
  int multiprocessors_ = 0;
  DevicePointer<SpaceState> state_;
  bool collects_ = false;
  std::uint64_t collected_ = 0;  ///< frames whose curves are in the sums
};

}  // namespace equalux::cuda
