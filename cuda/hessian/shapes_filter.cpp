#include <optional>

#include <equalux/hessian.h>

#include "cuda/hessian/class_planes.h"
#include "cuda/hessian/hessian.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/frame_check.h"
#include "src/hessian/hessian_weights.h"

namespace equalux {
namespace {

/// The classes of the report's Figure 1, lines and blobs, on one GPU.
class CudaShapesFilter final : public Filter {
 public:
  CudaShapesFilter(const ShapesParams& params, const CudaOptions& options)
      : params_(params), device_(options) {}

  ~CudaShapesFilter() override { device_.use_to_free(); }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cuda, &input);
    equalux::validate(input);
    device_.use();
    kernel_.emplace(params_, input.width, input.height);
    paint_device_ = cuda::paint_device();
    plane_ = cuda::allocate_device<std::uint8_t>(static_cast<std::size_t>(input.width) *
                                                 static_cast<std::size_t>(input.height));
    colours_ = shape_colours(input.matrix, input.range);
    in_desc_ = input;
    out_desc_ = input;
    out_desc_.format = output_format(params_).value_or(input.format);
    return out_desc_;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    check_frames("shapes", in, in_desc_, out, out_desc_);
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

 private:
  ShapesParams params_;
  cuda::FilterDevice device_;
  std::optional<cuda::ShapesKernel> kernel_;
  cuda::DevicePointer<std::uint8_t> plane_;
  cuda::LaunchDevice paint_device_;
  ClassColours colours_{};
  ImageDesc in_desc_;
  ImageDesc out_desc_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const ShapesParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  return std::make_unique<CudaShapesFilter>(params, options);
}

}  // namespace equalux
