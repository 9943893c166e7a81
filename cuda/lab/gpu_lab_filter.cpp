#include "cuda/lab/gpu_lab_filter.h"

#include <utility>

#include "cuda/lab/gpu_lab_clock.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/kernel_timer.h"

namespace equalux::gpu_lab {
namespace {

using cuda::check;

constexpr std::size_t kMostMarks = 32;

/// A frame in pinned memory, laid out as an Image is.
struct PinnedFrame {
  cuda::PinnedPointer<std::uint8_t> memory;
  ImageView view;

  explicit PinnedFrame(const ImageDesc& desc) {
    const ImageLayout layout = image_layout(desc);
    memory = cuda::allocate_pinned<std::uint8_t>(layout.bytes);
    view = layout.view(desc, memory.get());
  }
};

/// One call, with the events that time its kernels.
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

}  // namespace

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

}  // namespace equalux::gpu_lab
