#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/equalize/saturation.h"

/// saturation_pass.h of more than 8 bits.
namespace equalux {

/// Changes are made by one thread at a time, rows by any.
class DeepSaturationPass {
 public:
  /// `loops` outlive the pass.
  explicit DeepSaturationPass(const DeepRows& loops) : loops_(loops) {}

  /// For frames of `desc`, any format with has_deep_samples(). Memory is allocated by prepare(), or
  /// with the first frame that needs it.
  void configure(const ImageDesc& desc);
  void prepare();

  /// What the next frame's pixels get; nothing where frames have no colour. `levels` is W of the
  /// coarse levels of the curve that they came by, up to coarse_max(), or null where the rule has
  /// one k for all.
  void set(const saturation::Rule& rule, const std::uint32_t* levels = nullptr);
  /// Whether the next frame's pixels change. Only then the two below may be called.
  [[nodiscard]] bool active() const { return active_; }

  /// n pixels of packed RGB; `in` and `out` are the same or do not overlap.
  void apply_rgb(Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out) const {
    loops_.saturate_rgb(form_, at_, same_, saturation_, stores, in, n, out);
  }
  /// A line of cells with n columns and so many rows of luma; `in` and `out` likewise.
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
  std::optional<std::uint32_t> made_for_;  // the k of all levels that saturation_ has
  // Empty until they are needed.
  DeepGains same_;                         // its curve is the identity
  std::vector<std::uint32_t> any_values_;  // counts of frames that may have all
  DeepSaturation saturation_;
};

}  // namespace equalux
