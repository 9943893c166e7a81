#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/surround_tracker.h"
#include "cuda/runtime/handles.h"
#include "src/equalize/region.h"

/// Pixels of a frame that do not count for its curve, found on a GPU, with the results of
/// src/cpu/equalize/excluded_pixels.h.
namespace equalux::cuda {

/// Counts the excluded pixels frame by frame. Belongs to the device that was current when it was
/// configured. One thread at a time.
class ExcludedPixels {
 public:
  explicit ExcludedPixels(const EqualizeParams& params) : params_(params) {}

  /// Allocates for frames of `desc`, any format of whole numbers; `weights` are those of its depth.
  /// Throws where the region does not fit the frames, and Error(unavailable).
  void configure(const ImageDesc& desc, const YuvWeights& weights);
  /// Takes another region or surround from the next frame on; another region waits for the frames
  /// in flight. Throws as configure(), and then keeps the settings it had.
  void update(const EqualizeParams& params);
  void reset() { surround_.reset(); }
  /// Returns a filter's state with the surround added, if the surround is tracked and frames were
  /// seen.
  [[nodiscard]] std::string with_surround(std::string filter_state) const {
    return surround::with_state(std::move(filter_state), surround_.grid(), surround_.state());
  }
  /// Reads the surround from a filter's state, for go_on(); nothing where it is not tracked, or the
  /// state has none. Throws Error(usage) where it does not fit, and changes nothing.
  [[nodiscard]] std::optional<surround::State> surround_in(std::string_view filter_state) const {
    if (params_.surround != Surround::ignore) return std::nullopt;
    return surround::state_in(filter_state, surround_.grid());
  }
  void go_on(const std::optional<surround::State>& state) { surround_.go_on(state); }

  /// False where all pixels count.
  [[nodiscard]] bool active() const { return leaves_out(params_); }
  /// Enqueues the counting of a frame's excluded pixels into `state`, for the next launch of the
  /// fused kernel on the stream.
  void enqueue(const ConstImageView& in, const FrameContext& context, FusedState* state,
               cudaStream_t stream);
  /// Enqueues the subtraction of a frame's excluded pixels, unless all are excluded, from the
  /// counts of a frame of more than 8 bits, which deep_histogram() made.
  void leave_out(const ConstImageView& in, const FrameContext& context, const DeepCount& count,
                 cudaStream_t stream);

 private:
  struct Frame;
  [[nodiscard]] DevicePointer<std::uint32_t> upload_outside(const std::string& region) const;
  void allocate();
  /// Follows the surround, and describes a frame for the kernels that count.
  [[nodiscard]] Frame look(const ConstImageView& in, const FrameContext& context,
                           cudaStream_t stream);

  EqualizeParams params_;
  ImageDesc desc_;
  YuvWeights weights_{};
  DevicePointer<std::uint32_t> outside_;  ///< one bit per pixel, rows of whole words; null = none
  SurroundTracker surround_;
  /// More than 8 bits: a counter of excluded pixels for each value, and their sum. They are 0
  /// between frames; null until pixels are excluded.
  DevicePointer<std::uint32_t> counts_;
};

}  // namespace equalux::cuda
