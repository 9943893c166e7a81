#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "deep_stages.h"
#include "handles.h"
#include "tone_control.h"

/// Equalization of frames of more than 8 bits on a GPU: the same stages as src/cpu/deep_chain.h.
namespace equalux::cuda {

/// Belongs to the device that was current when it was configured. One thread at a time.
class DeepChain {
 public:
  explicit DeepChain(const EqualizeParams& params) : params_(params), control_(params) {}

  /// Allocates for frames of `desc`, any format with has_deep_samples(). Throws Error(unavailable).
  void configure(const ImageDesc& desc);

  /// Enqueues one frame; device memory of any stride and alignment, 32-bit accesses where all
  /// planes allow them. `in` and `out` may be the same memory with the same strides. Frames of one
  /// chain must not overlap in time. The context's marks are told of each stage. Throws
  /// Error(unavailable) where a launch is refused.
  void enqueue(const ConstImageView& in, const ImageView& out, const FrameContext& context,
               cudaStream_t stream);

  /// Other parameters of the curve, from the next frame on. Other bins, and curves that are kept,
  /// wait for what is under way.
  void update(const EqualizeParams& params);
  /// As of a Filter. The frames under way count to what is saved; load() comes after configure().
  void reset() { control_.reset(); }
  [[nodiscard]] std::string save() const;
  void load(std::string_view state);
  void collect_curves() { collects_ = true; }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const;

 private:
  void make_curve(const FrameContext& context, cudaStream_t stream);
  void upload_bins();
  /// Makes the gains of the parameters' curve, if there is one, which then hold for all frames.
  void upload_curve();

  EqualizeParams params_;
  tone::Control control_;
  ImageDesc desc_;
  int multiprocessors_ = 0;
  DeepFrame frame_{};  ///< what all frames have in common
  DeepTables tables_{};
  DevicePointer<std::uint32_t> words_;  ///< of all tables but the gains
  DevicePointer<std::uint64_t> gains_;
  DevicePointer<std::uint8_t> last_of_bin_;
  DevicePointer<tone::History> histories_;  ///< both of the tables
  DevicePointer<unsigned long long> curve_sums_;
  bool collects_ = false;
  std::uint64_t collected_ = 0;  ///< frames whose curves are in the sums
};

}  // namespace equalux::cuda
