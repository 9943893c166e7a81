#pragma once

#include <memory>

#include <equalux/clahe.h>

#include "src/equalize/tone/tone_chain.h"

/// Equalization of tiles: the filter that both backends share, and the interface of the chains that
/// a backend provides.
namespace equalux {

/// Implementation of tiles for the frames of one stream. configure() is called once.
class TileChain : public ToneChain<ClaheParams> {
 public:
  /// Takes other parameters, with the same number of tiles, for the frames to come.
  void update(const ClaheParams& params) override = 0;
};

/// Kinds of chains.
enum class TileKind : std::uint8_t {
  tiles,   ///< 8 bits a sample
  deep,    ///< more than 8 bits a sample
  opencv,  ///< the bytes of cv::createCLAHE
};

/// Returns the kind that parameters and format need.
[[nodiscard]] TileKind tile_kind(const ClaheParams& params, PixelFormat format);

using ClaheBackend = ToneBackend<ClaheParams, TileKind, TileChain>;

/// Makes the filter over a backend's chains. Throws Error(usage) for invalid parameters.
[[nodiscard]] std::unique_ptr<Filter> make_clahe_filter(const ClaheParams& params,
                                                        std::unique_ptr<ClaheBackend> backend);

}  // namespace equalux
