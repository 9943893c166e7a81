#include <equalux/clahe.h>

#include "cuda/clahe/clahe_chain.h"
#include "cuda/clahe/deep_clahe_chain.h"
#include "cuda/clahe/opencv_clahe_chain.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/filter_device.h"
#include "src/clahe/tile_chain.h"

namespace equalux {
namespace {

/// Makes the chains of one GPU.
class CudaClaheBackend final : public ClaheBackend {
 public:
  explicit CudaClaheBackend(const CudaOptions& options) : device_(options) {}

  [[nodiscard]] Backend name() const override { return Backend::cuda; }

  [[nodiscard]] std::unique_ptr<TileChain> make_chain(TileKind kind,
                                                      const ClaheParams& params) override {
    switch (kind) {
      case TileKind::opencv:
        return std::make_unique<cuda::OpencvClaheChain>(params);
      case TileKind::deep:
        return std::make_unique<cuda::DeepClaheChain>(params);
      default:
        return std::make_unique<cuda::ClaheChain>(params);
    }
  }

  void enter() const override { device_.use(); }
  void finish_frames() const override {
    cuda::check(cudaDeviceSynchronize(), "waiting for the frames under way");
  }
  void enter_to_free() const noexcept override { device_.use_to_free(); }

 private:
  cuda::FilterDevice device_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const ClaheParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  return make_clahe_filter(params, std::make_unique<CudaClaheBackend>(options));
}

}  // namespace equalux
