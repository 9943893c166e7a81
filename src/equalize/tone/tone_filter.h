#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <equalux/filter.h>

#include "src/common/filter_recipe.h"
#include "src/common/frame_check.h"
#include "src/common/log.h"

namespace equalux {

/// Base of filters with tone curves: checks frames and passes them to a chain of a backend, types
/// of tone_chain.h.
template <typename Params, typename Backend, typename Chain>
class ToneFilter : public TunableFilter<Params> {
 public:
  ~ToneFilter() override { backend_->enter_to_free(); }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    check_frames(name_, in, desc_, out, out_desc_);
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
  /// `name` is the filter's; it must live as long as the program.
  ToneFilter(std::string_view name, const Params& params, std::unique_ptr<Backend> backend)
      : TunableFilter<Params>(params), name_(name), backend_(std::move(backend)) {}

  /// Warns that `saturation` changes nothing where frames have no colour.
  void note_gray(const ImageDesc& desc, double saturation) const {
    if (saturation == 1 || traits(desc.format).model != ColorModel::gray) return;
    logger().warn("saturation {} changes nothing: frames of {} have no colour",
                  option_text(this->params_, "saturation"), to_string(desc.format));
  }

  [[nodiscard]] Backend& backend() const { return *backend_; }
  [[nodiscard]] Chain* chain() const { return chain_.get(); }
  /// Gives the chain away. No frames may come until use() is called.
  [[nodiscard]] std::unique_ptr<Chain> take_chain() {
    desc_ = {};
    out_desc_ = {};
    return std::move(chain_);
  }
  /// Takes a configured chain for frames of `desc`, which become `out_desc`.
  void use(std::unique_ptr<Chain> chain, const ImageDesc& desc, const ImageDesc& out_desc) {
    chain_ = std::move(chain);
    desc_ = desc;
    out_desc_ = out_desc;
  }
  /// Desc of the frames to come; null before configure().
  [[nodiscard]] const ImageDesc* configured() const { return desc_.width == 0 ? nullptr : &desc_; }
  /// Updates the chain to valid parameters.
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
