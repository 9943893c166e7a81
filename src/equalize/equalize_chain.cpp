#include "src/equalize/equalize_chain.h"

#include <utility>

#include <equalux/error.h>

#include "src/common/filter_recipe.h"
#include "src/common/log.h"
#include "src/equalize/space.h"
#include "src/format/rounding.h"

namespace equalux {
namespace {

/// Equalization by the chain that parameters and format ask for.
class EqualizeFilter final : public TunableFilter<EqualizeParams>, private FilterCurves {
 public:
  EqualizeFilter(const EqualizeParams& params, std::unique_ptr<EqualizeBackend> backend)
      : TunableFilter(params), backend_(std::move(backend)) {}

  ~EqualizeFilter() override { backend_->enter_to_free(); }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override { return configure_with(input, {}); }

  [[nodiscard]] bool takes_fractions(const ImageDesc& input, Fractions fractions) const override {
    if (!fractions.in) return !fractions.out;  // it makes none
    const ImageDesc fine = desc_with_fractions(input);
    return violations(params_, backend_->name(), &fine).empty();
  }

  ImageDesc configure_with(const ImageDesc& stream, Fractions fractions) override {
    const ImageDesc input = fractions.in ? desc_with_fractions(stream) : stream;
    validate(params_, backend_->name(), &input);
    if (traits(input.format).model == ColorModel::gray && params_.saturation != 1) {
      logger().warn("saturation {} changes nothing: frames of {} have no colour",
                    option_text(params_, "saturation"), to_string(input.format));
    }
    backend_->enter();
    const ChainKind kind = chain_for(params_, input.format);
    // A chain whose configure() fails goes.
    std::unique_ptr<EqualizeChain> chain = std::move(chain_);
    desc_ = {};
    if (chain == nullptr || kind != kind_) chain = backend_->make_chain(kind, params_);
    if (collects_) chain->collect_curves();
    const bool rounds = fractions.in && !fractions.out;
    chain->round_to(rounds ? std::optional(stream.format) : std::nullopt);
    chain->configure(input);
    chain_ = std::move(chain);
    kind_ = kind;
    desc_ = input;
    out_desc_ = rounds ? stream : input;
    return out_desc_;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != out_desc_) {
      throw Error(ExitCode::usage, "equalize: the frame is not what the filter was configured for");
    }
    backend_->enter();
    chain_->process(in, out, context);
  }

  bool retune(const EqualizeParams& params) override {
    validate(params, backend_->name(), desc_.width == 0 ? nullptr : &desc_);
    // Another chain, or another space, is another filter.
    if (params_.chain != Chain::fused || params.chain != Chain::fused ||
        params.space != params_.space || params.compatible != params_.compatible) {
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

  [[nodiscard]] FilterCurves* curves() override { return this; }

 private:
  bool collect() override {
    if (params_.chain != Chain::fused || params_.curve || params_.compatible != Compatible::none) {
      return false;
    }
    collects_ = true;
    return true;
  }
  [[nodiscard]] std::optional<CurveSum> sum() const override {
    if (chain_ == nullptr) return std::nullopt;
    backend_->enter();
    return chain_->curve_sum();
  }

  std::unique_ptr<EqualizeBackend> backend_;
  ImageDesc desc_;
  ImageDesc out_desc_;  // another format where fractions are rounded
  bool collects_ = false;
  ChainKind kind_ = ChainKind::fused;
  std::unique_ptr<EqualizeChain> chain_;  // null until configured
};

}  // namespace

ChainKind chain_for(const EqualizeParams& params, PixelFormat format) {
  if (params.chain == Chain::staged) return ChainKind::staged;
  if (space_needs_tables(params.space, format)) return ChainKind::space;
  return has_deep_samples(format) ? ChainKind::deep : ChainKind::fused;
}

std::unique_ptr<Filter> make_equalize_filter(const EqualizeParams& params,
                                             std::unique_ptr<EqualizeBackend> backend) {
  validate(params, backend->name());
  return std::make_unique<EqualizeFilter>(params, std::move(backend));
}

}  // namespace equalux
