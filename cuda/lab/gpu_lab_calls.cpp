#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "cuda/lab/gpu_lab_clock.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/staged/staged_chain.h"
#include "src/lab/gpu_lab.h"

namespace equalux::gpu_lab {
namespace {

using cuda::check;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, kind, stream), "copying");
}

double event_ms(const cuda::Event& begin, const cuda::Event& end) {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "reading a timer");
  return static_cast<double>(ms);
}

/// One call as the report times it, with the events around its kernels.
class Call {
 public:
  Call(const ConstImageView& image, const EqualizeParams& params)
      : params_(params),
        in_(image.desc),
        stream_(cuda::make_stream()),
        begin_(cuda::make_event(true)),
        end_(cuda::make_event(true)),
        result_(image.desc) {
    copy_image(image, in_.view());
  }

  [[nodiscard]] Image take_result() { return std::move(result_); }

  struct Times {
    double whole_ms;
    double kernels_ms;
  };
  Times run() {
    const LabClock::time_point start = LabClock::now();
    {
      const cuda::LabFrame in(in_.desc());
      const cuda::LabFrame out(in_.desc());
      cuda::StagedChain chain(params_);
      chain.configure(in_.desc());
      copy(in.memory.get(), in_.view().data[0], in.bytes, cudaMemcpyHostToDevice, stream_.get());
      check(cudaEventRecord(begin_.get(), stream_.get()), "timing");
      FrameContext context;
      context.stream = stream_.get();
      chain.process(in.view, out.view, context);
      check(cudaEventRecord(end_.get(), stream_.get()), "timing");
      copy(result_.view().data[0], out.memory.get(), out.bytes, cudaMemcpyDeviceToHost,
           stream_.get());
      check(cudaStreamSynchronize(stream_.get()), "running the chain");
    }
    return {1000.0 * seconds_since(start), event_ms(begin_, end_)};
  }

 private:
  EqualizeParams params_;
  Image in_;
  cuda::Stream stream_;
  cuda::Event begin_;
  cuda::Event end_;
  Image result_;
};

/// Times the chain's kernels without the launches between them, in ms.
std::vector<double> kernels_alone_ms(const ConstImageView& image, const EqualizeParams& params,
                                     const Budget& budget) {
  Image host(image.desc);
  copy_image(image, host.view());
  const cuda::LabFrame in(image.desc);
  const cuda::LabFrame out(image.desc);
  cuda::upload(in.memory.get(), host.view().data[0], in.bytes, "uploading a frame");
  cuda::StagedChain chain(params);
  chain.configure(image.desc);
  cuda::KernelClock clock;
  FrameContext context;
  context.stream = clock.stream();
  std::vector<double> times =
      clock.measure(budget, [&] { chain.process(in.view, out.view, context); });
  for (double& time : times)
    time /= 1000.0;
  return times;
}

/// Measures the bytes per second of a `work` that moves `bytes`.
template <typename Work>
double rate(cuda::KernelClock& clock, std::size_t bytes, Work work) {
  return 1e6 * static_cast<double>(bytes) / median(clock.measure({9, 1.0}, work));
}

}  // namespace

DeviceFacts device_facts(int wanted) {
  DeviceFacts facts;
  facts.device = choose_cuda_device(wanted);
  int driver = 0;
  int runtime = 0;
  std::array<char, 32> bus{};
  check(cudaDriverGetVersion(&driver), "asking for the driver");
  check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), facts.device.number),
        "asking for the bus");
  facts.driver = version_text(driver);
  facts.runtime = version_text(runtime);
  facts.pci_bus = bus.data();
  return facts;
}

Rates measure_rates(int device) {
  cuda::use_device(device);
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
  const std::size_t bytes =
      std::clamp<std::size_t>(free_bytes / 8, std::size_t{1} << 20, std::size_t{512} << 20);
  const std::size_t host_bytes = std::min<std::size_t>(bytes, std::size_t{64} << 20);
  const auto a = cuda::allocate_device<std::uint8_t>(bytes);
  const auto b = cuda::allocate_device<std::uint8_t>(bytes);
  const auto host = cuda::allocate_pinned<std::uint8_t>(host_bytes);
  std::memset(host.get(), 1, host_bytes);
  cuda::fill_device(a.get(), 1, bytes, "clearing memory");
  cuda::KernelClock clock;
  Rates rates;
  rates.device = rate(clock, 2 * bytes, [&] {
    copy(b.get(), a.get(), bytes, cudaMemcpyDeviceToDevice, clock.stream());
  });
  rates.upload = rate(clock, host_bytes, [&] {
    copy(a.get(), host.get(), host_bytes, cudaMemcpyHostToDevice, clock.stream());
  });
  rates.download = rate(clock, host_bytes, [&] {
    copy(host.get(), a.get(), host_bytes, cudaMemcpyDeviceToHost, clock.stream());
  });
  return rates;
}

CallTimes time_calls(int device, const ConstImageView& image, const EqualizeParams& params,
                     const Budget& budget) {
  cuda::use_device(device);
  Call call(image, params);
  CallTimes times;
  double fastest = 0;
  for (const Call::Times& one : repeat_within<Call::Times>(budget, [&] { return call.run(); })) {
    fastest = times.kernels_ms.empty() ? one.kernels_ms : std::min(fastest, one.kernels_ms);
    times.whole_ms.push_back(one.whole_ms);
    times.kernels_ms.push_back(one.kernels_ms);
  }
  if (fastest < cuda::kLaunchBoundMs) times.kernels_ms = kernels_alone_ms(image, params, budget);
  times.result = call.take_result();
  return times;
}

}  // namespace equalux::gpu_lab
