#include "bench/cuda/device_bench.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bench/support/bench_frames.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/cuda/cuda_processor.h"

namespace equalux::bench {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double time_us(cudaStream_t stream, int batch, const std::function<void(int)>& work) {
  const cuda::Event begin = cuda::make_event(true);
  const cuda::Event end = cuda::make_event(true);
  std::vector<double> times;
  int i = 0;
  for (int round = 0; round < 25; ++round) {
    cuda::check(cudaEventRecord(begin.get(), stream), "timing");
    for (int k = 0; k < batch; ++k)
      work(i++);
    cuda::check(cudaEventRecord(end.get(), stream), "timing");
    cuda::check(cudaEventSynchronize(end.get()), "timing");
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "timing");
    if (round >= 5) times.push_back(1000.0 * static_cast<double>(ms) / batch);
  }
  return median(times);
}

Ceilings measure_ceilings() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  const auto a = cuda::allocate_device<std::uint8_t>(kBytes);
  const auto b = cuda::allocate_device<std::uint8_t>(kBytes);
  const auto host_a = cuda::allocate_pinned<std::uint8_t>(kBytes / 4);
  const auto host_b = cuda::allocate_pinned<std::uint8_t>(kBytes / 4);
  std::memset(host_a.get(), 1, kBytes / 4);
  std::memset(host_b.get(), 2, kBytes / 4);
  const cuda::Stream stream = cuda::make_stream();
  const cuda::Stream other = cuda::make_stream();
  const cuda::Event event = cuda::make_event();
  const auto copy = [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       const cuda::Stream& on) {
    cuda::check(cudaMemcpyAsync(to, from, bytes, kind, on.get()), "copying");
  };
  Ceilings most;
  const double device = time_us(stream.get(), 4, [&](int) {
    copy(b.get(), a.get(), kBytes, cudaMemcpyDeviceToDevice, stream);
  });
  most.device_copy_tb_s = 2.0 * static_cast<double>(kBytes) / device / 1e6;
  const double up = time_us(stream.get(), 2, [&](int) {
    copy(a.get(), host_a.get(), kBytes / 4, cudaMemcpyHostToDevice, stream);
  });
  most.upload_gb_s = static_cast<double>(kBytes / 4) / up / 1e3;
  const double both = time_us(stream.get(), 2, [&](int) {
    copy(host_b.get(), b.get(), kBytes / 4, cudaMemcpyDeviceToHost, other);
    cuda::check(cudaEventRecord(event.get(), other.get()), "timing");
    copy(a.get(), host_a.get(), kBytes / 4, cudaMemcpyHostToDevice, stream);
    cuda::check(cudaStreamWaitEvent(stream.get(), event.get(), 0), "timing");
  });
  most.both_ways_gb_s_each = static_cast<double>(kBytes / 4) / both / 1e3;
  return most;
}

DeviceFrame::DeviceFrame(const ImageDesc& desc) {
  const ImageLayout layout = image_layout(desc);
  memory = cuda::allocate_device<std::uint8_t>(layout.bytes);
  view = layout.view(desc, memory.get());
}

ResidentFrames::ResidentFrames(const ImageDesc& input, const ImageDesc& output) {
  for (Image& host : natural_frames(input, kFrames)) {
    in.emplace_back(input);
    out.emplace_back(output);
    cuda::upload(in.back().memory.get(), host.view().data[0], image_layout(input).bytes,
                 "uploading");
  }
}

void ResidentFrames::fill(int level) {
  for (const DeviceFrame& frame : in) {
    cuda::fill_device(frame.memory.get(), level, image_layout(frame.view.desc).bytes, "filling");
  }
}

double ResidentFrames::time(
    cudaStream_t stream, const std::function<void(const ConstImageView&, const ImageView&)>& work) {
  return time_us(stream, 60, [&](int i) {
    const auto k = static_cast<std::size_t>(i % kFrames);
    work(in[k].view, out[k].view);
  });
}

double host_to_host_us(std::unique_ptr<Filter> filter, const ImageDesc& desc,
                       const CudaDevice& device) {
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(std::move(filter));
  const auto processor = make_cuda_processor(std::move(filters), device, 1);
  const ImageDesc output = processor->configure(desc);
  FramePool inputs(desc, 1, 1, *processor->frame_memory());
  FramePool outputs(output, 1, 1, *processor->frame_memory());
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) {
    FramePtr in = inputs.acquire();
    if (i == 0) copy_image(natural_frames(desc, 1).front().view(), in->pixels.view());
    FramePtr out = outputs.acquire();
    const Clock::time_point start = Clock::now();
    processor->submit(std::move(in), std::move(out), false, false);
    out = processor->collect(true);
    if (i >= 50) times.push_back(milliseconds(Clock::now() - start) * 1000.0);
  }
  return median(times);
}

}  // namespace equalux::bench
