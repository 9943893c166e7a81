#include <algorithm>
#include <limits>
#include <utility>

#include <equalux/filter.h>

#include "cuda/lab/gpu_lab_clock.h"
#include "cuda/lab/published_hessian.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/kernel_timer.h"
#include "src/common/float_difference.h"
#include "src/lab/gpu_lab.h"

/// Times of any CUDA filter, taken as the reports take theirs.
namespace equalux::gpu_lab {
namespace {

using cuda::check;

constexpr std::size_t kMostMarks = 32;

/// A frame in page-locked memory with the layout of an Image.
struct PinnedFrame {
  cuda::PinnedPointer<std::uint8_t> memory;
  ImageView view;

  explicit PinnedFrame(const ImageDesc& desc) {
    const ImageLayout layout = image_layout(desc);
    memory = cuda::allocate_pinned<std::uint8_t>(layout.bytes);
    view = layout.view(desc, memory.get());
  }
};

/// One call of a filter, with the events around its kernels.
class FilterCall {
 public:
  FilterCall(Filter& filter, const ConstImageView& image, const ImageDesc& output)
      : filter_(filter),
        in_(image.desc),
        result_(output),
        stream_(cuda::make_stream()),
        begin_(cuda::make_event(true)),
        end_(cuda::make_event(true)) {
    copy_image(image, in_.view());
  }

  [[nodiscard]] Image take_result() { return std::move(result_); }

  struct Times {
    double whole_ms;
    double kernels_ms;
  };
  Times run() {
    const cudaStream_t stream = stream_.get();
    const LabClock::time_point start = LabClock::now();
    {
      const cuda::LabFrame in(in_.desc());
      const cuda::LabFrame out(result_.desc());
      check(cudaMemcpyAsync(in.memory.get(), in_.view().data[0], in.bytes, cudaMemcpyHostToDevice,
                            stream),
            "uploading a frame");
      check(cudaEventRecord(begin_.get(), stream), "timing");
      FrameContext context;
      context.stream = stream;
      filter_.submit(in.view, out.view, context);
      check(cudaEventRecord(end_.get(), stream), "timing");
      check(cudaMemcpyAsync(result_.view().data[0], out.memory.get(), out.bytes,
                            cudaMemcpyDeviceToHost, stream),
            "downloading a result");
      check(cudaStreamSynchronize(stream), "running the filter");
    }
    const double whole_ms = 1000.0 * seconds_since(start);
    float kernels_ms = 0;
    check(cudaEventElapsedTime(&kernels_ms, begin_.get(), end_.get()), "reading a timer");
    return {whole_ms, static_cast<double>(kernels_ms)};
  }

 private:
  Filter& filter_;
  Image in_;
  Image result_;
  cuda::Stream stream_;
  cuda::Event begin_;
  cuda::Event end_;
};

/// Times calls that allocate device memory, copy up, submit, copy down and free; host memory is
/// pageable, as in the reports. `filter` was configured for the image's desc and returned `output`.
/// `kernels_ms` are taken within those calls and include launches.
CallTimes time_filter_calls(Filter& filter, const ConstImageView& image, const ImageDesc& output,
                            const Budget& budget) {
  FilterCall call(filter, image, output);
  CallTimes times;
  for (const FilterCall::Times& one :
       repeat_within<FilterCall::Times>(budget, [&] { return call.run(); })) {
    times.whole_ms.push_back(one.whole_ms);
    times.kernels_ms.push_back(one.kernels_ms);
  }
  times.result = call.take_result();
  return times;
}

/// Times a filter's kernels without their launches, in ms, with all frames in device memory. The
/// filter must only enqueue, some dozens of launches at most.
std::vector<double> time_filter_kernels(Filter& filter, const ConstImageView& image,
                                        const ImageDesc& output, const Budget& budget) {
  Image tight(image.desc);
  copy_image(image, tight.view());
  const cuda::LabFrame in(image.desc);
  const cuda::LabFrame out(output);
  cuda::upload(in.memory.get(), tight.view().data[0], in.bytes, "uploading a frame");
  cuda::KernelClock clock;
  std::vector<double> times = clock.measure(budget, [&] {
    FrameContext context;
    context.stream = clock.stream();
    filter.submit(in.view, out.view, context);
  });
  for (double& time : times)
    time /= 1000.0;
  return times;
}

/// Times "upload", each stage that the filter marks, and "download", without launches. Host memory
/// is page-locked, and all buffers exist beforehand.
std::vector<StageSamples> time_filter_stages(Filter& filter, const ConstImageView& image,
                                             const ImageDesc& output, const Budget& budget) {
  const PinnedFrame host(image.desc);
  copy_image(image, host.view);
  const PinnedFrame back(output);
  const cuda::LabFrame in(image.desc);
  const cuda::LabFrame out(output);
  const cuda::Stream stream = cuda::make_stream();
  cuda::KernelTimer timer(kMostMarks);
  const auto enqueue = [&] {
    timer.begin(stream.get());
    check(cudaMemcpyAsync(in.memory.get(), host.memory.get(), in.bytes, cudaMemcpyHostToDevice,
                          stream.get()),
          "uploading a frame");
    timer.mark("upload", stream.get());
    FrameContext context;
    context.marks = &timer;
    context.stream = stream.get();
    filter.submit(in.view, out.view, context);
    check(cudaMemcpyAsync(back.memory.get(), out.memory.get(), out.bytes, cudaMemcpyDeviceToHost,
                          stream.get()),
          "downloading a result");
    timer.mark("download", stream.get());
  };
  enqueue();  // loads the kernels
  check(cudaStreamSynchronize(stream.get()), "warming up");
  std::vector<StageSamples> samples;
  const LabClock::time_point start = LabClock::now();
  for (int i = 0; i == 0 || (i < budget.repeats && seconds_since(start) < budget.seconds); ++i) {
    {
      cuda::Gate gate(stream.get());
      enqueue();
      gate.open();
    }
    check(cudaStreamSynchronize(stream.get()), "running the filter");
    std::vector<StageTime> stages;
    timer.read(stages);
    samples.resize(stages.size());
    for (std::size_t k = 0; k < stages.size(); ++k) {
      samples[k].stage = stages[k].stage;
      samples[k].us.push_back(1000.0 * stages[k].ms);
    }
  }
  return samples;
}

std::unique_ptr<Filter> make_strategy(int device, const HessianParams& params,
                                      HessianStrategy strategy) {
  if (strategy == HessianStrategy::production) return make_cuda_filter(params, {device});
  return cuda::make_published_hessian(params, strategy, device);
}

Image on_the_cpu(const ConstImageView& image, const HessianParams& params) {
  const auto filter = make_cpu_filter(params);
  Image result(filter->configure(image.desc));
  FrameContext context;
  filter->submit(image, result.view(), context);
  return result;
}

}  // namespace

std::vector<StageSamples> time_stages(int device, const ConstImageView& image,
                                      const EqualizeParams& params, int repeats) {
  cuda::use_device(device);
  const auto filter = make_cuda_filter(params, {device});
  const ImageDesc output = filter->configure(image.desc);
  return time_filter_stages(*filter, image, output,
                            {repeats, std::numeric_limits<double>::infinity()});
}

CallTimes time_convolution(int device, const ConstImageView& image, const ConvolveParams& params,
                           const Budget& budget) {
  cuda::use_device(device);
  const auto filter = make_cuda_filter(params, {device});
  const ImageDesc output = filter->configure(image.desc);
  CallTimes times = time_filter_calls(*filter, image, output, budget);
  if (*std::min_element(times.kernels_ms.begin(), times.kernels_ms.end()) < cuda::kLaunchBoundMs) {
    times.kernels_ms = time_filter_kernels(*filter, image, output, budget);
  }
  return times;
}

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
    times.steps[1].stage = "fused";  // whatever name the filter gives its only kernel
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
