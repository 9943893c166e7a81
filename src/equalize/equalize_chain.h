#pragma once

#include <memory>
#include <optional>

#include <equalux/filter.h>

#include "src/equalize/tone/tone_chain.h"

/// Equalization of whole frames: the filter that both backends share, and the interface of the
/// chains that a backend provides.
namespace equalux {

/// Implementation of equalization for the frames of one stream. configure() may be called again.
class EqualizeChain : public ToneChain<EqualizeParams> {
 public:
  /// Sets the format that process() rounds to, where frames carry fractions of levels; nothing =
  /// frames hold whole levels. Call it before configure(); only ChainKind::deep is given a format.
  virtual void round_to(std::optional<PixelFormat> format) { (void)format; }
  /// Makes the chain add up its curves. Call it before configure().
  virtual void collect_curves() {}
  [[nodiscard]] virtual std::optional<CurveSum> curve_sum() const { return std::nullopt; }
};

/// Kinds of chains.
enum class ChainKind : std::uint8_t {
  fused,   ///< 8 bits a sample: histogram, curve, apply, with no frame in between
  deep,    ///< as fused, for more than 8 bits
  space,   ///< luma and lightness of RGB and gray, by tables
  staged,  ///< published stages over a float HSV image
};

/// Returns the kind that parameters and format need.
[[nodiscard]] ChainKind chain_for(const EqualizeParams& params, PixelFormat format);

using EqualizeBackend = ToneBackend<EqualizeParams, ChainKind, EqualizeChain>;

/// Makes the filter over a backend's chains. Throws Error(usage) for invalid parameters.
[[nodiscard]] std::unique_ptr<Filter> make_equalize_filter(
    const EqualizeParams& params, std::unique_ptr<EqualizeBackend> backend);

}  // namespace equalux
