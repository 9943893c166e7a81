#include <equalux/clahe.h>
#include <equalux/error.h>

#include "src/common/filter_recipe.h"
#include "src/cpu/clahe/clahe_chain.h"

namespace equalux {
namespace {

/// Adaptive equalization on the CPU.
class CpuClaheFilter final : public TunableFilter<ClaheParams> {
 public:
  CpuClaheFilter(const ClaheParams& params, const CpuOptions& options)
      : TunableFilter(params),
        executor_(options.threads),
        chain_(params, executor_, fused_rows()) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cpu, &input);
    equalux::validate(input);
    chain_.configure(input);
    desc_ = input;
    return input;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != desc_) {
      throw Error(ExitCode::usage, "clahe: the frame is not what the filter was configured for");
    }
    chain_.process(in, out, context);
  }

  bool retune(const ClaheParams& params) override {
    validate(params, Backend::cpu, desc_.width == 0 ? nullptr : &desc_);
    if (!chain_.update(params)) return false;
    params_ = params;
    return true;
  }

  void reset() override { chain_.reset(); }
  [[nodiscard]] std::string save() const override { return chain_.save(); }
  void load(std::string_view state) override { chain_.load(state); }

 private:
  RowExecutor executor_;
  ClaheChain chain_;
  ImageDesc desc_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const ClaheParams& params, const CpuOptions& options) {
  validate(params, Backend::cpu);
  return std::make_unique<CpuClaheFilter>(params, options);
}

}  // namespace equalux
