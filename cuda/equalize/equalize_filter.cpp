#include <equalux/filter.h>

#include "cuda/equalize/deep/deep_chain.h"
#include "cuda/equalize/fused/fused_chain.h"
#include "cuda/equalize/space/space_chain.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/staged/staged_chain.h"
#include "src/equalize/equalize_chain.h"

namespace equalux {
namespace {

/// Makes the chains of one GPU.
class CudaEqualizeBackend final : public EqualizeBackend {
 public:
  explicit CudaEqualizeBackend(const CudaOptions& options)
      : device_(options), launches_(options.launches) {}

  [[nodiscard]] Backend name() const override { return Backend::cuda; }

  [[nodiscard]] std::unique_ptr<EqualizeChain> make_chain(ChainKind kind,
                                                          const EqualizeParams& params) override {
    switch (kind) {
      case ChainKind::deep:
        return std::make_unique<cuda::DeepChain>(params);
      case ChainKind::space:
        return std::make_unique<cuda::SpaceChain>(params);
      case ChainKind::staged:
        return std::make_unique<cuda::StagedChain>(params);
      case ChainKind::fused:
        break;
    }
    return std::make_unique<cuda::FusedChain>(params, launches_);
  }

  void enter() const override { device_.use(); }
  void enter_to_free() const noexcept override { device_.use_to_free(); }

 private:
  cuda::FilterDevice device_;
  Launches launches_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const EqualizeParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  return make_equalize_filter(params, std::make_unique<CudaEqualizeBackend>(options));
}

}  // namespace equalux
