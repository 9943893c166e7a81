#include <algorithm>
#include <optional>

#include <equalux/hessian.h>

#include "cuda/hessian/class_planes.h"
#include "cuda/hessian/hessian.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/plain_filter.h"
#include "src/hessian/hessian_weights.h"
#include "src/hessian/vessel_math.h"

namespace equalux {
namespace {

/// Vessels on one GPU.
class CudaVesselFilter final : public PlainFilter<VesselParams> {
 public:
  CudaVesselFilter(const VesselParams& params, const CudaOptions& options)
      : PlainFilter("vessel", params, Backend::cuda),
        device_(options),
        largest_sigma_(*std::max_element(params.sigmas.begin(), params.sigmas.end())) {}

  ~CudaVesselFilter() override { device_.use_to_free(); }

 private:
  void prepare(const ImageDesc& input) override {
    device_.use();
    components_.emplace(input.width, input.height);
    kernel_.emplace(params_, input.width, input.height);
    paint_device_ = cuda::paint_device();
    const auto pixels =
        static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height);
    plane_ = cuda::allocate_device<std::uint8_t>(pixels);
    vignette_.reset();
    if (params_.mask == FieldOfView::automatic && has_byte_samples(input.format))
      vignette_.emplace(input, vignette_margin(largest_sigma_));
    colours_ = vessel_colours(input.matrix, input.range);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    cuda::check_strides("vessel", in);
    cuda::check_strides("vessel", out);
    device_.use();
    const cuda::TraceRange range("vessel");
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const cuda::DeviceClasses classes{plane_.get(), in_desc_.width, in_desc_.height};
    kernel_->enqueue(cuda::LevelSource::of(in, params_.channel), classes, stream);
    context.mark("vesselness");
    if (vignette_) vignette_->clear(in, classes, components_->scratch(), stream);
    context.mark("field_of_view");
    if (params_.output == VesselOutput::heat) {
      cuda::paint_heat(classes, out, paint_device_, stream);
      context.mark("paint");
      return;
    }
    components_->keep_vessels(classes, params_.min_size, filled_hole(largest_sigma_), stream);
    context.mark("hysteresis");
    if (params_.output == VesselOutput::mask) {
      cuda::write_classes(classes, 255, out, paint_device_, stream);
    } else {
      cuda::paint_classes(in, out, classes, colours_,
                          context.field_order != FieldOrder::progressive, paint_device_, stream);
    }
    context.mark("paint");
  }

  cuda::FilterDevice device_;
  double largest_sigma_;
  std::optional<cuda::VesselKernel> kernel_;
  std::optional<cuda::DeviceVignette> vignette_;
  std::optional<cuda::DeviceComponents> components_;
  cuda::DevicePointer<std::uint8_t> plane_;
  cuda::LaunchDevice paint_device_;
  ClassColours colours_{};
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const VesselParams& params, const CudaOptions& options) {
  return std::make_unique<CudaVesselFilter>(params, options);
}

}  // namespace equalux
