#include <equalux/clahe.h>
#include <equalux/error.h>

#include "src/cpu/clahe/clahe_chain.h"

namespace equalux {
namespace {

/// Adaptive equalization on the CPU.
class CpuClaheFilter final : public Filter {
 public:
  CpuClaheFilter(const ClaheParams& params, const CpuOptions& options)
      : params_(params), executor_(options.threads), chain_(params, executor_, row_kernels()) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override { return has_byte_samples(format); }

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

  void reset() override { chain_.reset(); }
  [[nodiscard]] std::string save() const override { return chain_.save(); }
  void load(std::string_view state) override { chain_.load(state); }

 private:
  ClaheParams params_;
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
