#include <optional>

#include <equalux/hessian.h>

#include "cuda/hessian/hessian.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/plain_filter.h"
#include "src/hessian/hessian_weights.h"

namespace equalux {
namespace {

/// Eigenvalues of the Hessian on one GPU.
class CudaHessianFilter final : public PlainFilter<HessianParams> {
 public:
  CudaHessianFilter(const HessianParams& params, const CudaOptions& options)
      : PlainFilter("eigenvalues", params, Backend::cuda), device_(options) {}

  ~CudaHessianFilter() override { device_.use_to_free(); }

  /// A tile's floats would lie over samples that its neighbours still read.
  [[nodiscard]] bool works_in_place() const override { return false; }

 private:
  void prepare(const ImageDesc& input) override {
    device_.use();
    kernel_.emplace(hessian_weights(params_.derivative, params_.sigma, params_.truncate),
                    input.width, input.height);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    cuda::check_strides("eigenvalues", in);
    cuda::check_strides("eigenvalues", out);
    device_.use();
    const cuda::TraceRange range("eigenvalues");
    kernel_->enqueue(cuda::LevelSource::of(in, params_.channel),
                     {out.data[0], out.data[1], out.stride[0], out.stride[1]},
                     static_cast<cudaStream_t>(context.stream));
    context.mark("eigenvalues");
  }

  cuda::FilterDevice device_;
  std::optional<cuda::HessianKernel> kernel_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const HessianParams& params, const CudaOptions& options) {
  return std::make_unique<CudaHessianFilter>(params, options);
}

}  // namespace equalux
