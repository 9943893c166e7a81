#include <optional>

#include <equalux/hessian.h>

#include "cuda/hessian/class_planes.h"
#include "cuda/hessian/hessian.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/plain_filter.h"
#include "src/hessian/hessian_weights.h"

namespace equalux {
namespace {

/// The classes of the report's Figure 1, lines and blobs, on one GPU.
class CudaShapesFilter final : public PlainFilter<ShapesParams> {
 public:
  CudaShapesFilter(const ShapesParams& params, const CudaOptions& options)
      : PlainFilter("shapes", params, Backend::cuda), device_(options) {}

  ~CudaShapesFilter() override { device_.use_to_free(); }

 private:
  void prepare(const ImageDesc& input) override {
    device_.use();
    kernel_.emplace(params_, input.width, input.height);
    paint_device_ = cuda::paint_device();
    plane_ = cuda::allocate_device<std::uint8_t>(static_cast<std::size_t>(input.width) *
                                                 static_cast<std::size_t>(input.height));
    colours_ = shape_colours(input.matrix, input.range);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    cuda::check_strides("shapes", in);
    cuda::check_strides("shapes", out);
    device_.use();
    const cuda::TraceRange range("shapes");
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const cuda::DeviceClasses classes{plane_.get(), in_desc_.width, in_desc_.height};
    kernel_->enqueue(cuda::LevelSource::of(in, params_.channel), classes, stream);
    context.mark("shapes");
    if (params_.output == ShapesOutput::overlay) {
      cuda::paint_classes(in, out, classes, colours_,
                          context.field_order != FieldOrder::progressive, paint_device_, stream);
    } else {
      cuda::write_classes(classes, 1, out, paint_device_, stream);
    }
    context.mark("paint");
  }

  cuda::FilterDevice device_;
  std::optional<cuda::ShapesKernel> kernel_;
  cuda::DevicePointer<std::uint8_t> plane_;
  cuda::LaunchDevice paint_device_;
  ClassColours colours_{};
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const ShapesParams& params, const CudaOptions& options) {
  return std::make_unique<CudaShapesFilter>(params, options);
}

}  // namespace equalux
