#include <cstddef>
#include <cstdint>
#include <optional>

#include <equalux/error.h>

#include "cuda/lab/hessian_solver.h"
#include "cuda/lab/published_hessian.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/handles.h"
#include "src/common/plain_filter.h"
#include "src/hessian/hessian_weights.h"

namespace equalux::cuda {
namespace {

using gpu_lab::HessianStrategy;

/// Device memory for `each` floats per pixel.
class FloatMemory {
 public:
  FloatMemory(std::size_t pixels, int each)
      : pixels_(pixels), memory_(allocate_device<float>(pixels * static_cast<std::size_t>(each))) {
    // All bits set is NaN.
    fill_device(memory_.get(), 0xFF, pixels * static_cast<std::size_t>(each) * sizeof(float),
                "filling planes");
  }
  /// Returns where plane `index` begins, if the memory is planes of one float per pixel.
  [[nodiscard]] float* plane(std::size_t index) const { return memory_.get() + index * pixels_; }

 private:
  std::size_t pixels_;
  DevicePointer<float> memory_;
};

class PublishedHessian final : public PlainFilter<HessianParams> {
 public:
  PublishedHessian(const HessianParams& params, HessianStrategy strategy, int device)
      : PlainFilter("eigenvalues", params, Backend::cuda), strategy_(strategy), device_(device) {}

  ~PublishedHessian() override { ignore(cudaSetDevice(device_)); }

  [[nodiscard]] bool works_in_place() const override { return false; }

 private:
  void prepare(const ImageDesc& input) override {
    use_device(device_);
    check(cudaDeviceGetAttribute(&shared_bytes_, cudaDevAttrMaxSharedMemoryPerBlock, device_),
          "asking for the shared memory");
    weights_ =
        ScaleWeights::of(hessian_weights(params_.derivative, params_.sigma, params_.truncate));
    const std::size_t pixels =
        static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height);
    const bool solves = strategy_ == HessianStrategy::cusolver_syevd;
    solver_.reset();
    if (solves) solver_.emplace(pixels);
    columns_.emplace(pixels, 3);
    derivatives_.emplace(pixels, solves ? 4 : 3);
    pairs_.reset();
    if (solves) pairs_.emplace(pixels, 2);
    // Other streams do not wait for the default stream, on which the planes were filled.
    check(cudaStreamSynchronize(nullptr), "filling planes");
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    const auto places = reinterpret_cast<std::uintptr_t>(out.data[0]) |
                        reinterpret_cast<std::uintptr_t>(out.data[1]) |
                        static_cast<std::uintptr_t>(out.stride[0]) |
                        static_cast<std::uintptr_t>(out.stride[1]);
    if (places % alignof(float) != 0) {
      throw Error(ExitCode::usage, "the result's floats are not aligned");
    }
    use_device(device_);
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const ColumnPlanes columns{columns_->plane(0), columns_->plane(1), columns_->plane(2)};
    smooth_columns(LevelSource::of(in, params_.channel), weights_, columns, stream);
    context.mark("smoothing");
    const int width = in_desc_.width;
    const int height = in_desc_.height;
    const HessianKernel::Output result{out.data[0], out.data[1], out.stride[0], out.stride[1]};
    if (solver_) {
      float* matrices = derivatives_->plane(0);
      differentiate_rows(columns, width, height, weights_, matrices, stream);
      context.mark("derivatives");
      solver_->solve(matrices, pairs_->plane(0), stream);
      order_eigenvalues(pairs_->plane(0), width, height, result, stream);
    } else {
      const DerivativePlanes derivatives{derivatives_->plane(0), derivatives_->plane(1),
                                         derivatives_->plane(2)};
      differentiate_rows(columns, width, height, weights_, derivatives, stream);
      context.mark("derivatives");
      find_eigenvalues(derivatives, result, stream);
    }
    context.mark("eigenvalues");
  }

  void find_eigenvalues(const DerivativePlanes& in, const HessianKernel::Output& out,
                        cudaStream_t stream) const {
    const int width = in_desc_.width;
    const int height = in_desc_.height;
    switch (strategy_) {
      case HessianStrategy::per_value_global:
        return per_value_eigenvalues(in, width, height, out, stream);
      case HessianStrategy::per_pixel_global:
        return per_pixel_eigenvalues(in, width, height, out, stream);
      case HessianStrategy::shared:
        return shared_eigenvalues(in, width, height, shared_bytes_, out, stream);
      default:
        return one_warp_eigenvalues(in, width, height, shared_bytes_, out, stream);
    }
  }

  HessianStrategy strategy_;
  int device_;
  int shared_bytes_ = 0;
  ScaleWeights weights_{};
  std::optional<FloatMemory> columns_;
  std::optional<FloatMemory> derivatives_;
  std::optional<FloatMemory> pairs_;
  std::optional<MatrixSolver> solver_;
};

}  // namespace

std::unique_ptr<Filter> make_published_hessian(const HessianParams& params,
                                               HessianStrategy strategy, int device) {
  return std::make_unique<PublishedHessian>(params, strategy, device);
}

}  // namespace equalux::cuda
