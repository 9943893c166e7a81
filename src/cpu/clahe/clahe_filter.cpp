#include <equalux/clahe.h>

#include "src/clahe/tile_chain.h"
#include "src/cpu/clahe/clahe_chain.h"
#include "src/cpu/clahe/deep_clahe_chain.h"
#include "src/cpu/clahe/opencv_clahe_chain.h"

namespace equalux {
namespace {

class CpuClaheBackend final : public ClaheBackend {
 public:
  explicit CpuClaheBackend(const CpuOptions& options) : executor_(options.threads) {}

  [[nodiscard]] Backend name() const override { return Backend::cpu; }

  [[nodiscard]] std::unique_ptr<TileChain> make_chain(TileKind kind,
                                                      const ClaheParams& params) override {
    switch (kind) {
      case TileKind::opencv:
        return std::make_unique<OpencvClaheChain>(params, executor_);
      case TileKind::deep:
        return std::make_unique<DeepClaheChain>(params, executor_);
      default:
        return std::make_unique<ClaheChain>(params, executor_, fused_rows());
    }
  }

 private:
  RowExecutor executor_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const ClaheParams& params, const CpuOptions& options) {
  return make_clahe_filter(params, std::make_unique<CpuClaheBackend>(options));
}

}  // namespace equalux
