#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/equalize/saturation.h"

/// Second step of saturation for more than 8 bits, see saturation_pass.h.
namespace equalux {

/// Changes saturation of rows. set() and configure() belong to one thread at a time; any thread may
/// apply rows.
class DeepSaturationPass {
 public:
  /// Makes a pass; `loops` must outlive it.
  explicit DeepSaturationPass(const DeepRows& loops) : loops_(loops) {}

  /// Prepares for frames of `desc`, of any format with has_deep_samples(). Memory is allocated by
  /// prepare(), or with the first frame that needs it.
  void configure(const ImageDesc& desc);
  void prepare();

  /// Sets the rule for the next frame; without effect where frames have no colour. `levels` is W of
  /// the coarse levels, up to coarse_max(), of the curve that was applied, or null where the rule
  /// has one k for all.
  void set(const saturation::Rule& rule, const std::uint32_t* levels = nullptr);
  /// Returns true where pixels of the next frame change. Only then rows may be applied.
  [[nodiscard]] bool active() const { return active_; }

  /// Changes n pixels of packed RGB; `in` and `out` are the same memory or do not overlap.
  void apply_rgb(Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out) const {
    loops_.saturate_rgb(form_, at_, same_, saturation_, stores, in, n, out);
  }
  /// Changes a line of cells with n columns and so many rows of luma; `in` and `out` are the same
  /// memory or do not overlap.
  void apply_yuv(Stores stores, int rows, const YuvRowOut& in, std::size_t n,
                 const YuvRowOut& out) const {
    loops_.saturate_yuv({form_, chroma_, rows}, same_, saturation_, stores,
                        {{in.luma[0], in.luma[1]}, in.cb, in.cr}, n, out);
  }

 private:
  const DeepRows& loops_;
  ColorModel model_ = ColorModel::gray;
  bool active_ = false;
  DeepSamples form_{};
  RgbLayout at_{};
  DeepChroma chroma_ = DeepChroma::each;
  std::optional<std::uint32_t> made_for_;  // k of all levels that saturation_ was made for
  // Allocated when needed.
  DeepGains same_;                         // with the identity as its curve
  std::vector<std::uint32_t> any_values_;  // counts of a frame that may have all levels
  DeepSaturation saturation_;
};

}  // namespace equalux
