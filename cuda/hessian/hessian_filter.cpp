#include <optional>

#include <equalux/hessian.h>

#include "cuda/hessian/hessian.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/frame_check.h"
#include "src/hessian/hessian_weights.h"

namespace equalux {
namespace {

/// Eigenvalues of the Hessian on one GPU.
class CudaHessianFilter final : public Filter {
 public:
  CudaHessianFilter(const HessianParams& params, const CudaOptions& options)
      : params_(params), device_(options) {}

  ~CudaHessianFilter() override { device_.use_to_free(); }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cuda, &input);
    equalux::validate(input);
    device_.use();
    kernel_.emplace(hessian_weights(params_.derivative, params_.sigma, params_.truncate),
                    input.width, input.height);
    in_desc_ = input;
    out_desc_ = input;
    out_desc_.format = PixelFormat::grayf32x2;
    return out_desc_;
  }

  /// A tile's floats would lie over samples that its neighbours still read.
  [[nodiscard]] bool works_in_place() const override { return false; }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    check_frames("eigenvalues", in, in_desc_, out, out_desc_);
    cuda::check_strides("eigenvalues", in);
    cuda::check_strides("eigenvalues", out);
    device_.use();
    const cuda::TraceRange range("eigenvalues");
    kernel_->enqueue(cuda::LevelSource::of(in, params_.channel),
                     {out.data[0], out.data[1], out.stride[0], out.stride[1]},
                     static_cast<cudaStream_t>(context.stream));
    context.mark("eigenvalues");
  }

 private:
  HessianParams params_;
  cuda::FilterDevice device_;
  std::optional<cuda::HessianKernel> kernel_;
  ImageDesc in_desc_;
  ImageDesc out_desc_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const HessianParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  return std::make_unique<CudaHessianFilter>(params, options);
}

}  // namespace equalux
