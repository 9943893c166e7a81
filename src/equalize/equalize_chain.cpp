#include "src/equalize/equalize_chain.h"

#include <utility>

#include "src/equalize/space.h"
#include "src/equalize/tone/tone_filter.h"
#include "src/format/rounding.h"

namespace equalux {
namespace {

/// Equalization filter, with the chain that parameters and format need.
class EqualizeFilter final : public ToneFilter<EqualizeParams, EqualizeBackend, EqualizeChain>,
                             private FilterCurves {
 public:
  EqualizeFilter(const EqualizeParams& params, std::unique_ptr<EqualizeBackend> backend)
      : ToneFilter("equalize", params, std::move(backend)) {}

  ImageDesc configure(const ImageDesc& input) override { return configure_with(input, {}); }

  [[nodiscard]] bool takes_fractions(const ImageDesc& input, Fractions fractions) const override {
    if (!fractions.in) return !fractions.out;  // equalization leaves no fractions
    if (!format_with_fractions(input.format)) return false;
    const ImageDesc fine = desc_with_fractions(input);
    return violations(params_, backend().name(), &fine).empty();
  }

  ImageDesc configure_with(const ImageDesc& stream, Fractions fractions) override {
    const ImageDesc input = fractions.in ? desc_with_fractions(stream) : stream;
    validate(params_, backend().name(), &input);
    equalux::validate(input);
    note_gray(input, params_.saturation);
    backend().enter();
    const ChainKind kind = chain_for(params_, input.format);
    // Taken out of the filter, so that a chain whose configure() throws is destroyed.
    std::unique_ptr<EqualizeChain> chain = take_chain();
    if (chain == nullptr || kind != kind_) chain = backend().make_chain(kind, params_);
    if (collects_) chain->collect_curves();
    const bool rounds = fractions.in && !fractions.out;
    chain->round_to(rounds ? std::optional(stream.format) : std::nullopt);
    chain->configure(input);
    kind_ = kind;
    const ImageDesc output = rounds ? stream : input;
    use(std::move(chain), input, output);
    return output;
  }

  bool retune(const EqualizeParams& params) override {
    validate(params, backend().name(), configured());
    // Another chain or space needs another filter.
    if (params_.chain != Chain::fused || params.chain != Chain::fused ||
        params.space != params_.space || params.compatible != params_.compatible) {
      return false;
    }
    take(params);
    return true;
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
    if (chain() == nullptr) return std::nullopt;
    backend().enter();
    return chain()->curve_sum();
  }

  bool collects_ = false;
  ChainKind kind_ = ChainKind::fused;  // kind of the present chain
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
