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

/// Second step of saturation: S of HSV times a factor in pixels whose value is final already, row
/// by row while rows are in the caches. It is what the chains of value do with the identity as
/// curve. docs/algorithm.md, "Saturation".
namespace equalux {

/// Changes saturation of rows of 8 bits. set() and configure() belong to one thread at a time; any
/// thread may apply rows.
class SaturationPass {
 public:
  /// Makes a pass; `loops` must outlive it.
  explicit SaturationPass(const FusedRows& loops) : loops_(loops) {}

  /// Prepares for frames of `desc`, of any 8-bit format. Memory is allocated by prepare(), or with
  /// the first frame that needs it.
  void configure(const ImageDesc& desc);
  void prepare() {
    if (coloured_ && tables_ == nullptr) tables_ = std::make_unique<Tables>();
  }

  /// Sets the rule for the next frame; without effect where frames have no colour. `levels` is W,
  /// up to M, of the curve that was applied, or null where the rule has one k for all. `level_of`
  /// maps a value to the curve's level, or is null where they are the same.
  void set(const saturation::Rule& rule, const std::uint32_t* levels = nullptr,
           const std::uint8_t* level_of = nullptr);
  /// Returns true where pixels of the next frame change. Only then rows may be applied.
  [[nodiscard]] bool active() const { return active_; }

  /// Changes n pixels of packed RGB; `in` and `out` are the same memory or do not overlap.
  void apply_rgb(Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out) const {
    loops_.saturate_rgb(tables_->gains, stores, at_, in, n, out);
  }
  /// Changes a line of cells with n luma columns; `in` and `out` are the same memory or do not
  /// overlap.
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
  std::optional<std::uint32_t> made_for_;  // k of all levels that the tables were made for
  std::unique_ptr<Tables> tables_;         // null until needed
};

}  // namespace equalux
