#include "src/clahe/tile_chain.h"

#include <utility>

#include <equalux/error.h>

#include "src/common/filter_recipe.h"
#include "src/common/log.h"

namespace equalux {
namespace {

/// Adaptive equalization by the chain that parameters and format ask for.
class ClaheFilter final : public TunableFilter<ClaheParams> {
 public:
  ClaheFilter(const ClaheParams& params, std::unique_ptr<ClaheBackend> backend)
      : TunableFilter(params), backend_(std::move(backend)) {}

  ~ClaheFilter() override { backend_->enter_to_free(); }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, backend_->name(), &input);
    equalux::validate(input);
    if (traits(input.format).model == ColorModel::gray && params_.curve.saturation != 1) {
      logger().warn("saturation {} changes nothing: frames of {} have no colour",
                    option_text(params_, "saturation"), to_string(input.format));
    }
    backend_->enter();
    // A chain whose configure() fails goes.
    if (chain_ != nullptr) backend_->finish_frames();
    chain_.reset();
    desc_ = {};
    std::unique_ptr<TileChain> chain =
        backend_->make_chain(tile_kind(params_, input.format), params_);
    chain->configure(input);
    chain_ = std::move(chain);
    desc_ = input;
    return input;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != desc_) {
      throw Error(ExitCode::usage, "clahe: the frame is not what the filter was configured for");
    }
    backend_->enter();
    chain_->process(in, out, context);
  }

  bool retune(const ClaheParams& params) override {
    validate(params, backend_->name(), desc_.width == 0 ? nullptr : &desc_);
    if (params.tiles_x != params_.tiles_x || params.tiles_y != params_.tiles_y ||
        params.curve.compatible != params_.curve.compatible) {
      return false;
    }
    if (chain_ != nullptr) {
      backend_->enter();
      chain_->update(params);
    }
    params_ = params;
    return true;
  }

  void reset() override {
    if (chain_ != nullptr) chain_->reset();
  }
  [[nodiscard]] std::string save() const override {
    if (chain_ == nullptr) return "{}";
    backend_->enter();
    return chain_->save();
  }
  void load(std::string_view state) override {
    if (chain_ == nullptr) return;
    backend_->enter();
    chain_->load(state);
  }

 private:
  std::unique_ptr<ClaheBackend> backend_;
  ImageDesc desc_;
  std::unique_ptr<TileChain> chain_;  // null until configured
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
