#include <algorithm>
#include <optional>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/hessian.h>

#include "cuda/hessian/class_planes.h"
#include "cuda/hessian/hessian.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/trace.h"
#include "src/hessian/hessian_weights.h"
#include "src/hessian/vessel_math.h"

namespace equalux {
namespace {

/// Vessels on one GPU.
class CudaVesselFilter final : public Filter {
 public:
  CudaVesselFilter(const VesselParams& params, int device)
      : params_(params),
        device_(device),
        largest_sigma_(*std::max_element(params.sigmas.begin(), params.sigmas.end())) {}

  ~CudaVesselFilter() override {
    if (device_ != kCurrentContext) cuda::ignore(cudaSetDevice(device_));
  }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cuda, &input);
    equalux::validate(input);
    use_device();
    components_.emplace(input.width, input.height);
    kernel_.emplace(params_, input.width, input.height);
    const auto pixels =
        static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height);
    plane_ = cuda::allocate_device<std::uint8_t>(pixels);
    surround_.reset();
    if (params_.mask == FieldOfView::automatic && has_byte_samples(input.format))
      surround_.emplace(input, surround_margin(largest_sigma_));
    colours_ = vessel_colours(input.matrix, input.range);
    in_desc_ = input;
    out_desc_ = input;
    out_desc_.format = output_format(params_).value_or(input.format);
    return out_desc_;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != in_desc_ || out.desc != out_desc_) {
      throw Error(ExitCode::usage, "vessel: the frame is not what the filter was configured for");
    }
    use_device();
    const cuda::TraceRange range("vessel");
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const auto mark = [&](const char* stage) {
      if (context.marks != nullptr) context.marks->mark(stage, context.stream);
    };
    const cuda::DeviceClasses classes{plane_.get(), in_desc_.width, in_desc_.height};
    kernel_->enqueue(cuda::LevelSource::of(in, params_.channel), classes, stream);
    mark("vesselness");
    if (surround_) surround_->clear(in, classes, components_->labels(), stream);
    mark("field_of_view");
    if (params_.output == VesselOutput::heat) {
      cuda::paint_heat(classes, out, stream);
      mark("paint");
      return;
    }
    components_->keep_vessels(classes, params_.min_size, filled_hole(largest_sigma_), stream);
    mark("hysteresis");
    if (params_.output == VesselOutput::mask) {
      cuda::write_classes(classes, 255, out, stream);
    } else {
      cuda::paint_classes(in, out, classes, colours_,
                          context.field_order != FieldOrder::progressive, stream);
    }
    mark("paint");
  }

 private:
  void use_device() const {
    if (device_ == kCurrentContext) return;
    cuda::use_device(device_);
  }

  VesselParams params_;
  int device_;
  double largest_sigma_;
  std::optional<cuda::VesselKernel> kernel_;
  std::optional<cuda::DeviceSurround> surround_;
  std::optional<cuda::DeviceComponents> components_;
  cuda::DevicePointer<std::uint8_t> plane_;
  ClassColours colours_{};
  ImageDesc in_desc_;
  ImageDesc out_desc_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const VesselParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  const int device = options.device == kCurrentContext ? options.device
                                                       : choose_cuda_device(options.device).number;
  return std::make_unique<CudaVesselFilter>(params, device);
}

}  // namespace equalux
