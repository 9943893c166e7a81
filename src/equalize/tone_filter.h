#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <equalux/error.h>
#include <equalux/filter.h>

#include "src/common/filter_recipe.h"
#include "src/common/log.h"

namespace equalux {

/// A filter of tone curves, whose frames go through a chain that a backend brings. A Chain has
/// process(), update(), reset(), save() and load(); a Backend has name(), enter() and
/// enter_to_free().
template <typename Params, typename Backend, typename Chain>
class ToneFilter : public TunableFilter<Params> {
 public:
  ~ToneFilter() override { backend_->enter_to_free(); }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != out_desc_) {
      throw Error(ExitCode::usage,
                  std::string(name_) + ": the frame is not what the filter was configured for");
    }
    backend_->enter();
    chain_->process(in, out, context);
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

 protected:
  /// `name` is the filter's, and lives as long as the program.
  ToneFilter(std::string_view name, const Params& params, std::unique_ptr<Backend> backend)
      : TunableFilter<Params>(params), name_(name), backend_(std::move(backend)) {}

  /// Says where frames have no colour that `saturation` could change.
  void note_gray(const ImageDesc& desc, double saturation) const {
    if (saturation == 1 || traits(desc.format).model != ColorModel::gray) return;
    logger().warn("saturation {} changes nothing: frames of {} have no colour",
                  option_text(this->params_, "saturation"), to_string(desc.format));
  }

  [[nodiscard]] Backend& backend() const { return *backend_; }
  [[nodiscard]] Chain* chain() const { return chain_.get(); }
  /// The chain, which goes unless it comes back by use(): no frames until then.
  [[nodiscard]] std::unique_ptr<Chain> take_chain() {
    desc_ = {};
    out_desc_ = {};
    return std::move(chain_);
  }
  /// A configured chain for frames of `desc`, and what they become.
  void use(std::unique_ptr<Chain> chain, const ImageDesc& desc, const ImageDesc& out_desc) {
    chain_ = std::move(chain);
    desc_ = desc;
    out_desc_ = out_desc;
  }
  /// What frames are now; null before configure().
  [[nodiscard]] const ImageDesc* configured() const { return desc_.width == 0 ? nullptr : &desc_; }
  /// Takes valid parameters of the same chain.
  void take(const Params& params) {
    if (chain_ != nullptr) {
      backend_->enter();
      chain_->update(params);
    }
    this->params_ = params;
  }

 private:
  std::string_view name_;
  std::unique_ptr<Backend> backend_;
  ImageDesc desc_;
  ImageDesc out_desc_;
  std::unique_ptr<Chain> chain_;  // null until configured
};

}  // namespace equalux
