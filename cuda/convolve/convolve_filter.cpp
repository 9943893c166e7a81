#include <optional>

#include <equalux/convolve.h>
#include <equalux/device.h>
#include <equalux/error.h>

#include "cuda/convolve/convolve.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/trace.h"
#include "src/convolve/exact_kernel.h"

namespace equalux {
namespace {

/// Convolution on one GPU.
class CudaConvolveFilter final : public Filter {
 public:
  CudaConvolveFilter(const ConvolveParams& params, int device)
      : params_(params),
        kernel_(exact_kernel(params)),
        outside_{params.border, static_cast<std::uint8_t>(params.border_value)},
        device_(device) {}

  ~CudaConvolveFilter() override {
    if (device_ != kCurrentContext) cuda::ignore(cudaSetDevice(device_));
  }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  [[nodiscard]] bool works_in_place() const override { return false; }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cuda, &input);
    use_device();
    launch_device_ = cuda::convolve_3x3_device();
    if (params_.mode == ConvolveMode::global) {
      const std::vector<std::int32_t> weights = cuda::all_weights(kernel_);
      weights_ = cuda::allocate_device<std::int32_t>(weights.size());
      cuda::upload(weights_.get(), weights.data(), weights.size() * sizeof(weights[0]),
                   "copying the kernel to the device");
    }
    desc_ = input;
    return input;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != desc_) {
      throw Error(ExitCode::usage, "convolve: the frame is not what the filter was configured for");
    }
    if (in.data[0] == out.data[0]) {
      throw Error(ExitCode::usage, "convolve: input and output are the same memory, must be two");
    }
    use_device();
    const cuda::TraceRange range("convolve");
    enqueue(in, out, static_cast<cudaStream_t>(context.stream));
    if (context.marks != nullptr) context.marks->mark("convolve", context.stream);
  }

 private:
  void use_device() const {
    if (device_ == kCurrentContext) return;
    cuda::use_device(device_);
  }

  void enqueue(const ConstImageView& in, const ImageView& out, cudaStream_t stream) {
    const FormatTraits& t = traits(desc_.format);
    cuda::BytePlane plane{in.data[0], out.data[0], in.stride[0], out.stride[0]};
    plane.rows = desc_.height;
    plane.width = desc_.width;
    plane.step = t.step[0];
    plane.kept = t.alpha_offset;
    cuda::PlaneCopies copies;  // chroma
    for (std::size_t p = 1; p < static_cast<std::size_t>(t.planes); ++p) {
      cuda::BytePlane copy{in.data[p], out.data[p], in.stride[p], out.stride[p]};
      copy.rows = plane_rows(desc_, static_cast<int>(p));
      copy.width = static_cast<int>(row_bytes(desc_, static_cast<int>(p)));
      copies.add(copy);
    }
    if (params_.mode == ConvolveMode::production && cuda::is_small(kernel_)) {
      cuda::convolve_3x3(plane, outside_, kernel_, copies, launch_device_, stream);
      return;
    }
    if (params_.mode != ConvolveMode::production) {
      cuda::convolve_study(params_.mode, params_.block, plane, outside_, kernel_, weights_.get(),
                           stream);
    } else if (kernel_.separable) {
      cuda::convolve_separable(plane, outside_, kernel_, stream);
    } else {
      cuda::convolve_direct(plane, outside_, kernel_, stream);
    }
    cuda::copy_planes(copies, stream);
  }

  ConvolveParams params_;
  ExactKernel kernel_;
  cuda::Outside outside_;
  int device_;
  cuda::LaunchDevice launch_device_;
  ImageDesc desc_;
  cuda::DevicePointer<std::int32_t> weights_;  // for mode global
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const ConvolveParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  const int device = options.device == kCurrentContext ? options.device
                                                       : choose_cuda_device(options.device).number;
  return std::make_unique<CudaConvolveFilter>(params, device);
}

}  // namespace equalux
