#include "src/clahe/tile_chain.h"

#include <utility>

#include "src/equalize/tone/tone_filter.h"

namespace equalux {
namespace {

/// Adaptive equalization filter, with the chain that parameters and format need.
class ClaheFilter final : public ToneFilter<ClaheParams, ClaheBackend, TileChain> {
 public:
  ClaheFilter(const ClaheParams& params, std::unique_ptr<ClaheBackend> backend)
      : ToneFilter("clahe", params, std::move(backend)) {}

  ImageDesc configure(const ImageDesc& input) override {
    equalux::validate(input);
    validate(params_, backend().name(), &input);
    note_gray(input, params_.curve.saturation);
    backend().enter();
    if (chain() != nullptr) backend().finish_frames();
    take_chain().reset();
    std::unique_ptr<TileChain> chain =
        backend().make_chain(tile_kind(params_, input.format), params_);
    chain->configure(input);
    use(std::move(chain), input, input);
    return input;
  }

  bool retune(const ClaheParams& params) override {
    validate(params, backend().name(), configured());
    if (params.tiles_x != params_.tiles_x || params.tiles_y != params_.tiles_y ||
        params.curve.compatible != params_.curve.compatible) {
      return false;
    }
    take(params);
    return true;
  }
};

}  // namespace

TileKind tile_kind(const ClaheParams& params, PixelFormat format) {
  if (params.curve.compatible == Compatible::opencv) return TileKind::opencv;
  return has_deep_samples(format) ? TileKind::deep : TileKind::tiles;
}

std::unique_ptr<Filter> make_clahe_filter(const ClaheParams& params,
                                          std::unique_ptr<ClaheBackend> backend) {
  validate(params, backend->name());
  return std::make_unique<ClaheFilter>(params, std::move(backend));
}

}  // namespace equalux
