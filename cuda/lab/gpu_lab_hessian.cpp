#include "cuda/lab/gpu_lab_filter.h"
#include "cuda/lab/hessian_study.h"
#include "cuda/runtime/check.h"
#include "src/common/float_difference.h"
#include "src/lab/gpu_lab.h"

namespace equalux::gpu_lab {
namespace {

std::unique_ptr<Filter> make_strategy(int device, const HessianParams& params,
                                      HessianStrategy strategy) {
  if (strategy == HessianStrategy::production) return make_cuda_filter(params, {device});
  return cuda::make_hessian_study(params, strategy, device);
}

Image on_the_cpu(const ConstImageView& image, const HessianParams& params) {
  const auto filter = make_cpu_filter(params);
  Image result(filter->configure(image.desc));
  FrameContext context;
  filter->submit(image, result.view(), context);
  return result;
}

}  // namespace

HessianTimes time_hessian(int device, const ConstImageView& image, const HessianParams& params,
                          HessianStrategy strategy, const Budget& budget) {
  cuda::use_device(device);
  const auto filter = make_strategy(device, params, strategy);
  const ImageDesc output = filter->configure(image.desc);
  HessianTimes times;
  CallTimes calls = time_filter_calls(*filter, image, output, budget);
  times.whole_ms = std::move(calls.whole_ms);
  times.steps = time_filter_stages(*filter, image, output, budget);
  if (strategy == HessianStrategy::production && times.steps.size() == 3) {
    times.steps[1].stage = "fused";  // whatever the filter calls its only kernel
  }
  times.worst_difference = worst_difference(calls.result.view(), on_the_cpu(image, params).view());
  return times;
}

CallTimes time_vessel(int device, const ConstImageView& image, const VesselParams& params,
                      const Budget& budget) {
  cuda::use_device(device);
  const auto filter = make_cuda_filter(params, {device});
  const ImageDesc output = filter->configure(image.desc);
  return time_filter_calls(*filter, image, output, budget);
}

}  // namespace equalux::gpu_lab
