#include <algorithm>

#include "cuda/lab/gpu_lab_filter.h"
#include "cuda/runtime/check.h"
#include "src/lab/gpu_lab.h"

namespace equalux::gpu_lab {
namespace {

/// A launch takes microseconds, which are nothing beside kernels that take longer than this.
constexpr double kLaunchBoundMs = 1.0;

}  // namespace

CallTimes time_convolution(int device, const ConstImageView& image, const ConvolveParams& params,
                           const Budget& budget) {
  cuda::use_device(device);
  const auto filter = make_cuda_filter(params, {device});
  const ImageDesc output = filter->configure(image.desc);
  CallTimes times = time_filter_calls(*filter, image, output, budget);
  if (*std::min_element(times.kernels_ms.begin(), times.kernels_ms.end()) < kLaunchBoundMs) {
    times.kernels_ms = time_filter_kernels(*filter, image, output, budget);
  }
  return times;
}

}  // namespace equalux::gpu_lab
