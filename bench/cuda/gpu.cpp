#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/filter.h>
#include <nlohmann/json.hpp>

#include "bench/cuda/device_bench.h"
#include "bench/cuda/npp_chain.h"
#include "bench/support/bench_frames.h"
#include "bench/support/json_file.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/core/run.h"
#include "pipelines/core/sink.h"
#include "pipelines/cuda/cuda_processor.h"

/// Measures the CUDA backend as users run it, and in the same run NPP and the limits of memory and
/// bus:
///
///    gpu [OUT.json]
///
/// Resident: frames in device memory, six inputs and six outputs in turn. End to end: the engine
/// with its threads, pools and queues, from page-locked frames to page-locked frames.
namespace equalux::bench {
namespace {

using Json = nlohmann::ordered_json;

Json resident(const ImageDesc& desc, const EqualizeParams& params, const std::string& content,
              const std::string& curve = "plain") {
  ResidentFrames frames(desc, desc);
  if (content == "one colour") frames.fill(93);
  const auto filter = make_cuda_filter(params);
  filter->configure(desc);
  const cuda::Stream stream = cuda::make_stream();
  FrameContext context;
  context.stream = stream.get();
  const double us = frames.time(stream.get(), [&](const ConstImageView& in, const ImageView& out) {
    context.pts_ns += 33'000'000;
    filter->submit(in, out, context);
  });
  const double floor = 3.0 * static_cast<double>(tight_bytes(desc)) / 4.30e6;
  std::printf("resident    %-7s %-6s %5dx%-5d %-10s %-7s %9.2f us  %5.2f of the floor %.2f\n",
              std::string(enum_name(params.chain)).c_str(),
              std::string(to_string(desc.format)).c_str(), desc.width, desc.height, content.c_str(),
              curve.c_str(), us, us / floor, floor);
  return {{"kind", "resident"},
          {"chain", enum_name(params.chain)},
          {"format", to_string(desc.format)},
          {"width", desc.width},
          {"height", desc.height},
          {"content", content},
          {"curve", curve},
          {"us", us},
          {"floor_us", floor}};
}

/// Adds NPP's chain on the same frames; see npp_chain.h for what it leaves out.
void add_npp(Json& results, const ImageDesc& desc) {
  const cuda::Stream stream = cuda::make_stream();
  const std::unique_ptr<NppChain> chain = make_npp_chain(desc, stream.get());
  if (chain == nullptr) return;
  ResidentFrames frames(desc, desc);
  const double us = frames.time(stream.get(), [&](const ConstImageView& in, const ImageView& out) {
    chain->enqueue(in, out);
  });
  std::printf("resident    NPP     %-6s %5dx%-5d %-10s %9.2f us  without scan and look-up\n",
              std::string(to_string(desc.format)).c_str(), desc.width, desc.height, "natural", us);
  results.push_back({{"kind", "resident"},
                     {"chain", "NPP, without scan and look-up"},
                     {"format", to_string(desc.format)},
                     {"width", desc.width},
                     {"height", desc.height},
                     {"content", "natural"},
                     {"us", us}});
}

/// A source that paints each frame of the pool once and then passes them on unchanged, as a capture
/// that writes into the pool does; the time of capture itself is not measured.
class PaintedSource final : public Source {
 public:
  PaintedSource(const ImageDesc& desc, std::uint64_t frames)
      : desc_(desc), frames_(frames), pictures_(natural_frames(desc, kFrames)) {}
  StreamInfo open(const FormatPredicate&) override {
    StreamInfo info;
    info.desc = desc_;
    info.name = "painted";
    return info;
  }
  bool read(Frame& frame) override {
    if (count_ == frames_) return false;
    const std::uint8_t* memory = frame.image.data[0];
    if (std::find(painted_.begin(), painted_.end(), memory) == painted_.end()) {
      copy_image(pictures_[painted_.size() % pictures_.size()].view(), frame.pixels.view());
      painted_.push_back(memory);
    }
    frame.pts_ns = static_cast<std::int64_t>(count_++) * 1'000'000;
    return true;
  }

 private:
  ImageDesc desc_;
  std::uint64_t frames_;
  std::uint64_t count_ = 0;
  std::vector<Image> pictures_;
  std::vector<const std::uint8_t*> painted_;
};

Json end_to_end(const ImageDesc& desc, const CudaDevice& device, double both_ways_gb_s) {
  constexpr std::uint64_t kWarmUp = 60;
  constexpr std::uint64_t kMeasured = 600;
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(make_cuda_filter(EqualizeParams{}, {device.number}));
  const auto processor = make_cuda_processor(std::move(filters), device);
  PaintedSource source(desc, kWarmUp + kMeasured);
  const auto sink = make_null_sink();
  std::vector<Clock::time_point> done;
  done.reserve(kWarmUp + kMeasured);
  RunOptions options;
  options.on_result = [&](const Frame&) { done.push_back(Clock::now()); };
  const StopToken stop;
  run(source, *processor, *sink, options, stop);
  const double us = milliseconds(done.back() - done[kWarmUp - 1]) * 1000.0 / kMeasured;
  const double floor = static_cast<double>(tight_bytes(desc)) / (both_ways_gb_s * 1e3);
  std::printf("end to end  %-7s %-6s %5dx%-5d %-10s %9.2f us  %.1f %% of the bus's %.2f us\n",
              "fused", std::string(to_string(desc.format)).c_str(), desc.width, desc.height,
              "natural", us, 100.0 * floor / us, floor);
  return {{"kind", "end to end"},
          {"format", to_string(desc.format)},
          {"width", desc.width},
          {"height", desc.height},
          {"us", us},
          {"bus_floor_us", floor}};
}

/// Measures one frame from host to host with nothing running beside it and all buffers allocated.
Json single(const ImageDesc& desc, const CudaDevice& device) {
  const double us =
      host_to_host_us(make_cuda_filter(EqualizeParams{}, {device.number}), desc, device);
  std::printf("one frame   %-7s %-6s %5dx%-5d %-10s %9.2f us\n", "fused",
              std::string(to_string(desc.format)).c_str(), desc.width, desc.height, "natural", us);
  return {{"kind", "one frame"},
          {"format", to_string(desc.format)},
          {"width", desc.width},
          {"height", desc.height},
          {"us", us}};
}

int measure(const char* path) {
  const CudaDevice device = choose_cuda_device(-1);
  cuda::check(cudaSetDevice(device.number), "choosing the device");
  const Ceilings most = measure_ceilings();
  Json json{{"device", device.name},
            {"runtime", CUDART_VERSION},
            {"ceilings",
             {{"device_copy_tb_s", most.device_copy_tb_s},
              {"upload_gb_s", most.upload_gb_s},
              {"both_ways_gb_s_each", most.both_ways_gb_s_each}}}};
  std::printf("%s, %s\n", device.name.c_str(), json_text(json["ceilings"]).c_str());
  const std::array<std::array<int, 2>, 4> sizes{
      {{961, 640}, {1920, 1080}, {3840, 2160}, {7680, 4320}}};
  Json results = Json::array();
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::i420,
                                   PixelFormat::bgrx, PixelFormat::gray8, PixelFormat::yuy2}) {
    const bool common = format == PixelFormat::bgr || format == PixelFormat::nv12;
    for (const auto& [width, height] : sizes) {
      if (width > 3840 && !common) continue;
      results.push_back(resident({format, width, height}, {}, "natural"));
    }
  }
  results.push_back(resident({PixelFormat::bgr, 3840, 2160}, {}, "one colour"));
  results.push_back(resident({PixelFormat::nv12, 3840, 2160}, {}, "one colour"));
  // Adds limits and history, to be compared with the plain rows of the same run above.
  EqualizeParams shaped;
  shaped.strength = 0.8;
  shaped.clip_limit = 3;
  shaped.floor = 0.5;
  shaped.ceiling = 99.5;
  shaped.max_gain = 6;
  EqualizeParams calm = shaped;
  calm.temporal_ms = 1000;
  for (const auto& [width, height] : sizes) {
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12}) {
      results.push_back(resident({format, width, height}, shaped, "natural", "limits"));
      results.push_back(resident({format, width, height}, calm, "natural", "calm"));
    }
  }
  EqualizeParams staged;
  staged.chain = Chain::staged;
  for (const auto& [width, height] : sizes) {
    if (width > 3840) continue;
    results.push_back(resident({PixelFormat::bgr, width, height}, staged, "natural"));
  }
  for (const auto& [width, height] : sizes)
    add_npp(results, {PixelFormat::rgb, width, height});
  const double bus = most.both_ways_gb_s_each;
  results.push_back(end_to_end({PixelFormat::bgr, 1920, 1080}, device, bus));
  results.push_back(end_to_end({PixelFormat::bgr, 3840, 2160}, device, bus));
  results.push_back(end_to_end({PixelFormat::nv12, 3840, 2160}, device, bus));
  results.push_back(single({PixelFormat::bgr, 961, 640}, device));
  results.push_back(single({PixelFormat::bgr, 1920, 1080}, device));
  json["results"] = results;
  return write_json(path == nullptr ? "" : path, json, "bench_gpu");
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  try {
    return equalux::bench::measure(argc > 1 ? argv[1] : nullptr);
  } catch (const equalux::Error& error) {
    std::fprintf(stderr, "gpu: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
