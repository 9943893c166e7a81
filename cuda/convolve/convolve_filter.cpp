#include <optional>

#include <equalux/convolve.h>
#include <equalux/error.h>

#include "cuda/convolve/convolve.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/plain_filter.h"
#include "src/convolve/exact_kernel.h"

namespace equalux {
namespace {

/// Convolution on one GPU.
class CudaConvolveFilter final : public PlainFilter<ConvolveParams> {
 public:
  CudaConvolveFilter(const ConvolveParams& params, const CudaOptions& options)
      : PlainFilter("convolve", params, Backend::cuda),
        kernel_(exact_kernel(params)),
        outside_{params.border, static_cast<std::uint8_t>(params.border_value)},
        device_(options) {}

  ~CudaConvolveFilter() override { device_.use_to_free(); }

  [[nodiscard]] bool works_in_place() const override { return false; }

 private:
  void prepare(const ImageDesc& /*input*/) override {
    device_.use();
    launch_device_ = cuda::convolve_3x3_device();
    if (params_.mode == ConvolveMode::global) {
      const std::vector<std::int32_t> weights = cuda::all_weights(kernel_);
      weights_ = cuda::allocate_device<std::int32_t>(weights.size());
      cuda::upload(weights_.get(), weights.data(), weights.size() * sizeof(weights[0]),
                   "copying the kernel to the device");
    }
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.data[0] == out.data[0]) {
      throw Error(ExitCode::usage, "convolve: input and output are the same memory, must be two");
    }
    cuda::check_strides("convolve", in);
    cuda::check_strides("convolve", out);
    device_.use();
    const cuda::TraceRange range("convolve");
    enqueue(in, out, static_cast<cudaStream_t>(context.stream));
    context.mark("convolve");
  }

  void enqueue(const ConstImageView& in, const ImageView& out, cudaStream_t stream) {
    const FormatTraits& t = traits(in_desc_.format);
    cuda::BytePlane plane{cuda::PlanePair::of_plane(in, out, 0)};
    plane.rows = in_desc_.height;
    plane.width = in_desc_.width;
    plane.step = t.step[0];
    plane.kept = t.alpha_offset;
    cuda::PlaneCopies copies;  // of chroma planes
    for (int p = 1; p < t.planes; ++p) {
      cuda::BytePlane copy{cuda::PlanePair::of_plane(in, out, p)};
      copy.rows = plane_rows(in_desc_, p);
      copy.width = static_cast<int>(row_bytes(in_desc_, p));
      copies.add(copy);
    }
    if (params_.mode == ConvolveMode::production && cuda::is_small(kernel_)) {
      cuda::convolve_3x3(plane, outside_, kernel_, copies, launch_device_, stream);
      return;
    }
    if (params_.mode != ConvolveMode::production) {
      cuda::published_convolve(params_.mode, params_.block, plane, outside_, kernel_,
                               weights_.get(), stream);
    } else if (cuda::fits_columns(plane, kernel_)) {
      cuda::convolve_columns(plane, outside_, kernel_, launch_device_, stream);
    } else if (kernel_.separable) {
      cuda::convolve_separable(plane, outside_, kernel_, launch_device_, stream);
    } else {
      cuda::convolve_direct(plane, outside_, kernel_, launch_device_, stream);
    }
    cuda::copy_planes(copies, stream);
  }

  ExactKernel kernel_;
  cuda::Outside outside_;
  cuda::FilterDevice device_;
  cuda::LaunchDevice launch_device_;
  cuda::DevicePointer<std::int32_t> weights_;  // for mode global
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const ConvolveParams& params, const CudaOptions& options) {
  return std::make_unique<CudaConvolveFilter>(params, options);
}

}  // namespace equalux
