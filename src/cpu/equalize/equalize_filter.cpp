#include <equalux/filter.h>

#include "src/cpu/equalize/deep/deep_chain.h"
#include "src/cpu/equalize/fused/fused_chain.h"
#include "src/cpu/equalize/space/lightness_chain.h"
#include "src/cpu/staged/staged_chain.h"
#include "src/equalize/equalize_chain.h"

namespace equalux {
namespace {

class CpuEqualizeBackend final : public EqualizeBackend {
 public:
  explicit CpuEqualizeBackend(const CpuOptions& options) : executor_(options.threads) {}

  [[nodiscard]] Backend name() const override { return Backend::cpu; }

  [[nodiscard]] std::unique_ptr<EqualizeChain> make_chain(ChainKind kind,
                                                          const EqualizeParams& params) override {
    switch (kind) {
      case ChainKind::deep:
        return std::make_unique<DeepChain>(params, executor_, deep_rows());
      case ChainKind::space:
        if (params.space == Space::luma) break;
        return std::make_unique<LightnessChain>(params, executor_, fused_rows(), hue_rows());
      case ChainKind::staged:
        return std::make_unique<StagedChain>(params, executor_);
      case ChainKind::fused:
        break;
    }
    return std::make_unique<FusedChain>(params, executor_, fused_rows());
  }

 private:
  RowExecutor executor_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const EqualizeParams& params, const CpuOptions& options) {
  return make_equalize_filter(params, std::make_unique<CpuEqualizeBackend>(options));
}

}  // namespace equalux
