#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <equalux/image.h>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/equalize/saturation.h"
#include "src/format/layout.h"

/// S of HSV times a factor in pixels that have got their value already, whatever curves gave it to
/// them: a pass of its own over rows while they are in the caches. It is what the chains of value
/// do where their curve is the identity. docs/algorithm.md, "Saturation".
namespace equalux {

/// Of frames of 8 bits. Changes are made by one thread at a time, rows by any.
class SaturationPass {
 public:
  /// `loops` outlive the pass.
  explicit SaturationPass(const FusedRows& loops) : loops_(loops) {}

  /// For frames of `desc`, any format of 8 bits. Memory is allocated by prepare(), or with the
  /// first frame that needs it.
  void configure(const ImageDesc& desc);
  void prepare() {
    if (coloured_ && tables_ == nullptr) tables_ = std::make_unique<Tables>();
  }

  /// What the next frame's pixels get; nothing where frames have no colour. `levels` is W of the
  /// curve that they came by, of levels up to M, or null where the rule has one k for all.
  /// `level_of` has what counts for the curve as the level of a value, or null where that is the
  /// value.
  void set(const saturation::Rule& rule, const std::uint32_t* levels = nullptr,
           const std::uint8_t* level_of = nullptr);
  /// Whether the next frame's pixels change. Only then the two below may be called.
  [[nodiscard]] bool active() const { return active_; }

  /// n pixels of packed RGB; `in` and `out` are the same or do not overlap.
  void apply_rgb(Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out) const {
    loops_.saturate_rgb(tables_->gains, stores, at_, in, n, out);
  }
  /// A line of cells with n columns of luma; `in` and `out` likewise.
  void apply_yuv(Stores stores, const YuvRowOut& in, std::size_t n, const YuvRowOut& out) const {
    loops_.saturate_yuv(tables_->gains, tables_->gain48.data(), sampling_, weights_, stores,
                        {{in.luma[0], in.luma[1]}, in.cb, in.cr}, n, out);
  }

 private:
  struct Tables {
    SaturatedGains gains;
    std::array<std::uint64_t, 256> gain48{};
  };

  const FusedRows& loops_;
  bool coloured_ = false;
  bool active_ = false;
  RgbLayout at_{};
  Sampling sampling_ = Sampling::gray;
  YuvWeights weights_{0, 255, 0, 0, 0, 0};
  std::optional<std::uint32_t> made_for_;  // the k of all levels that the tables have
  std::unique_ptr<Tables> tables_;         // null until they are needed
};

}  // namespace equalux
