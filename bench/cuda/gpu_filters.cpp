#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/clahe.h>
#include <equalux/convolve.h>
#include <equalux/denoise.h>
#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/hessian.h>
#include <nlohmann/json.hpp>

#include "bench/cuda/device_bench.h"
#include "bench/cuda/npp_filter.h"
#include "bench/support/bench_frames.h"
#include "bench/support/json_file.h"
#include "cuda/runtime/device_copy.h"

/// Measures adaptive equalization, equalization of more than 8 bits and by a part of the pixels,
/// denoising, convolution (with NPP beside it) and the Hessian family on a GPU as users run them,
/// with frames in device memory, six inputs and six outputs in turn:
///
///    bench_gpu_filters [OUT.json [PART...]]
///    bench_gpu_filters --one SPEC WIDTH HEIGHT FORMAT [FRAMES]
///
/// PART is clahe, deep, denoise, parts, convolution, eigenvalues, vessel or host; without it all of
/// them.
/// --one measures the filter of a spec or, with FRAMES, runs it over that many frames and nothing
/// else, for a profiler.
namespace equalux::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Makes one line of the table and of the file; `floor_bytes` is the least traffic in bytes.
Json result(const std::string& filter, const std::string& mode, const ImageDesc& desc, double us,
            double floor_bytes) {
  const double floor = floor_bytes / 4.30e6;
  std::printf("%-34s %-16s %-6s %5dx%-5d %9.2f us  %5.2f of the floor %.2f\n", filter.c_str(),
              mode.c_str(), std::string(to_string(desc.format)).c_str(), desc.width, desc.height,
              us, us / floor, floor);
  std::fflush(stdout);
  return {{"filter", filter},    {"mode", mode},          {"format", to_string(desc.format)},
          {"width", desc.width}, {"height", desc.height}, {"us", us},
          {"floor_us", floor}};
}

/// Times a filter on resident frames.
double time_filter(const std::unique_ptr<Filter>& filter, const ImageDesc& desc) {
  ResidentFrames frames(desc, filter->configure(desc));
  const cuda::Stream stream = cuda::make_stream();
  FrameContext context;
  context.stream = stream.get();
  return frames.time(stream.get(), [&](const ConstImageView& in, const ImageView& out) {
    filter->submit(in, out, context);
  });
}

template <typename Params>
double time_filter(const Params& params, const ImageDesc& desc) {
  return time_filter(make_cuda_filter(params), desc);
}

Json convolution(ConvolveParams params, const ImageDesc& desc,
                 ConvolveMode mode = ConvolveMode::production, int block = 16) {
  params.mode = mode;
  params.block = block;
  std::string name = params.kernel;
  if (params.kernel == "gaussian" || params.kernel == "box") {
    name += " " + std::to_string(params.size);
  } else if (params.kernel == "custom") {
    name += " of " + std::to_string(params.weights.size()) + " weights";
  }
  std::string how(enum_name(mode));
  if (params.mode != ConvolveMode::production) how += " " + std::to_string(block);
  return result(name, how, desc, time_filter(params, desc),
                2.0 * static_cast<double>(tight_bytes(desc)));
}

ConvolveParams named(const char* kernel, int size = 0) {
  ConvolveParams params;
  params.kernel = kernel;
  params.size = size;
  return params;
}

/// Times NPP's filter for one of our kernels. It gets the weights of a box, since their values do
/// not affect its time.
Json npp(NppFilter filter, const std::string& name, int size, const ImageDesc& desc) {
  ResidentFrames frames(desc, desc);
  const cuda::Stream stream = cuda::make_stream();
  const auto count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const auto general = cuda::allocate_device<int>(count);
  const auto taps = cuda::allocate_device<float>(static_cast<std::size_t>(size));
  cuda::upload(general.get(), std::vector<int>(count, 1).data(), count * sizeof(int), "uploading");
  cuda::upload(
      taps.get(),
      std::vector<float>(static_cast<std::size_t>(size), 1.0F / static_cast<float>(size)).data(),
      static_cast<std::size_t>(size) * sizeof(float), "uploading");
  const NppWeights weights{general.get(), size * size, taps.get()};
  const double us = frames.time(stream.get(), [&](const ConstImageView& in, const ImageView& out) {
    npp_filter(filter, size, in, out, weights, stream.get());
  });
  return result(name, "NPP", desc, us, 2.0 * static_cast<double>(tight_bytes(desc)));
}

ConvolveParams own_weights(int size) {
  ConvolveParams params = named("custom");
  params.weights.assign(static_cast<std::size_t>(size * size), "1");
  params.divisor = std::to_string(size * size);
  return params;
}

/// Adds kernels above 3 x 3, each with NPP's counterpart.
void add_larger_convolutions(Json& results, const ImageDesc& desc) {
  for (const int size : {5, 7, 9, 15, 31}) {
    const std::string number = " " + std::to_string(size);
    results.push_back(convolution(named("gaussian", size), desc));
    if (has_npp() && size <= 15)
      results.push_back(npp(NppFilter::gauss, "gaussian" + number, size, desc));
    if (has_npp())
      results.push_back(
          npp(NppFilter::gauss_advanced, "gaussian" + number + " of given taps", size, desc));
    results.push_back(convolution(named("box", size), desc));
    if (has_npp()) results.push_back(npp(NppFilter::box, "box" + number, size, desc));
  }
  for (const int size : {5, 7, 9, 15}) {
    results.push_back(convolution(own_weights(size), desc));
    if (has_npp())
      results.push_back(npp(NppFilter::general,
                            "custom of " + std::to_string(size * size) + " weights", size, desc));
  }
}

void add_convolutions(Json& results) {
  const ImageDesc full_hd{PixelFormat::bgr, 1920, 1080};
  const ImageDesc uhd{PixelFormat::bgr, 3840, 2160};
  const ImageDesc large{PixelFormat::bgr, 10000, 6000};
  for (const ImageDesc& desc : {full_hd, uhd, large}) {
    for (const char* kernel : {"gaussian-blur", "sharpen", "edge", "box-blur"})
      results.push_back(convolution(named(kernel), desc));
    if (!has_npp()) continue;
    results.push_back(npp(NppFilter::gauss, "gaussian-blur", 3, desc));
    results.push_back(npp(NppFilter::general, "3x3 of its caller's weights", 3, desc));
    results.push_back(npp(NppFilter::sharpen, "sharpen", 3, desc));
  }
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::bgrx, PixelFormat::nv12, PixelFormat::i420})
    results.push_back(convolution(named("gaussian-blur"), {format, 3840, 2160}));
  add_larger_convolutions(results, full_hd);
  add_larger_convolutions(results, uhd);
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgrx, PixelFormat::nv12})
    results.push_back(convolution(named("gaussian", 15), {format, 3840, 2160}));
  for (const ConvolveMode mode :
       {ConvolveMode::global, ConvolveMode::constant, ConvolveMode::shared}) {
    for (const int block : {8, 16, 32})
      results.push_back(convolution(named("gaussian-blur"), uhd, mode, block));
  }
}

/// Adds `clahe`. Least traffic: a frame read twice and written once.
void add_clahe(Json& results) {
  const auto add = [&](const char* name, const ClaheParams& params, const ImageDesc& desc) {
    results.push_back(result(name, "production", desc, time_filter(params, desc),
                             3.0 * static_cast<double>(tight_bytes(desc))));
  };
  ClaheParams calm;
  calm.curve.temporal_ms = 1000;
  ClaheParams fine;
  fine.tiles_x = fine.tiles_y = kMostTiles;
  for (const auto& [width, height] :
       std::array<std::array<int, 2>, 3>{{{1920, 1080}, {3840, 2160}, {7680, 4320}}}) {
    const ImageDesc bgr{PixelFormat::bgr, width, height};
    add("clahe tiles 8,8", {}, bgr);
    add("clahe tiles 8,8 over time", calm, bgr);
    add("clahe tiles 16,16", fine, bgr);
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::bgrx, PixelFormat::nv12, PixelFormat::i420,
          PixelFormat::yuy2, PixelFormat::gray16_le, PixelFormat::bgr48_le, PixelFormat::p010_10le})
      add("clahe tiles 8,8", {}, {format, width, height});
  }
}

/// Makes a scene that stands still or pans, each frame with noise of its own of about 3 levels.
void add_noise(const ResidentFrames& frames, const ImageDesc& desc, bool still) {
  Image image(desc);
  const auto count = frames.in.size();
  const std::vector<Image> scenes = natural_frames(desc, still ? 1 : static_cast<int>(count));
  const std::size_t bytes = image_layout(desc).bytes;
  std::minstd_rand random(7);
  for (std::size_t f = 0; f < count; ++f) {
    const std::uint8_t* const from = scenes[still ? 0 : f].view().data[0];
    std::uint8_t* const to = image.view().data[0];
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto bits = static_cast<std::uint32_t>(random());
      const int noise = std::popcount(bits & 0xFFFFU) - std::popcount(bits >> 16 & 0x7FFFU);
      to[i] = static_cast<std::uint8_t>(std::clamp(from[i] + noise, 0, 255));
    }
    cuda::upload(frames.in[f].memory.get(), to, bytes, "uploading");
  }
}

/// Adds `denoise` alone and before equalize, on scenes that stand still and that pan. Least
/// traffic: a frame and the state, three bytes per sample, read and written, plus equalize's frame.
void add_denoise(Json& results) {
  const auto time = [](std::vector<std::unique_ptr<Filter>> filters, const ImageDesc& desc,
                       bool still) {
    const std::vector<ImageDesc> behind = configure_chain(filters, desc);
    ResidentFrames frames(desc, behind.front());
    const ResidentFrames results(desc, behind.back());
    add_noise(frames, desc, still);
    const cuda::Stream stream = cuda::make_stream();
    FrameContext context;
    context.stream = stream.get();
    std::size_t number = 0;
    return frames.time(stream.get(), [&](const ConstImageView& in, const ImageView& out) {
      filters[0]->submit(in, out, context);
      if (filters.size() > 1)
        filters[1]->submit(out, results.out[number++ % kFrames].view, context);
    });
  };
  for (const auto& [width, height] :
       std::array<std::array<int, 2>, 2>{{{3840, 2160}, {1920, 1080}}}) {
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::i420, PixelFormat::bgr}) {
      for (const bool still : {true, false}) {
        const ImageDesc desc{format, width, height};
        const auto bytes = static_cast<double>(tight_bytes(desc));
        const std::string scene = still ? ", still" : ", panned";
        std::vector<std::unique_ptr<Filter>> filters;
        filters.push_back(make_cuda_filter(DenoiseParams{}));
        results.push_back(result("denoise" + scene, "production", desc,
                                 time(std::move(filters), desc, still), 8 * bytes));
        filters.clear();
        filters.push_back(make_cuda_filter(DenoiseParams{}));
        filters.push_back(make_cuda_filter(EqualizeParams{}));
        results.push_back(result("denoise and equalize" + scene, "production", desc,
                                 time(std::move(filters), desc, still), 8 * bytes));
      }
    }
  }
}

/// Adds equalization of more than 8 bits: plain, with limits, and with a saturation factor for each
/// level. Least traffic: a frame read once and written once.
void add_deep(Json& results) {
  EqualizeParams limits;
  limits.floor = 1;
  limits.ceiling = 99;
  EqualizeParams colours = limits;
  colours.saturation = kAutoSaturation;
  for (const auto& [width, height] :
       std::array<std::array<int, 2>, 2>{{{3840, 2160}, {1920, 1080}}}) {
    for (const PixelFormat format :
         {PixelFormat::p010_10le, PixelFormat::i420_10le, PixelFormat::i422_10le,
          PixelFormat::y444_12le, PixelFormat::p016_le, PixelFormat::y444_16le,
          PixelFormat::bgr48_le, PixelFormat::rgba64_le, PixelFormat::gray16_le}) {
      const ImageDesc desc{format, width, height};
      const double floor = 2.0 * static_cast<double>(tight_bytes(desc));
      const auto add = [&](const char* name, const EqualizeParams& params) {
        results.push_back(result(name, "production", desc, time_filter(params, desc), floor));
      };
      add("equalize", {});
      add("equalize floor=1,ceiling=99", limits);
      if (format != PixelFormat::gray16_le)
        add("equalize floor=1,ceiling=99,saturation=auto", colours);
    }
  }
}

/// Adds equalization by a part of the pixels: those of a region, and all while a surround is looked
/// for. Least traffic: a frame read once and written once.
void add_parts(Json& results) {
  EqualizeParams region;
  region.region = "10%,10%,80%,80%";
  EqualizeParams surround;
  surround.surround = Surround::ignore;
  for (const auto& [width, height] :
       std::array<std::array<int, 2>, 2>{{{3840, 2160}, {1920, 1080}}}) {
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::bgr, PixelFormat::p010_10le}) {
      const ImageDesc desc{format, width, height};
      const double floor = 2.0 * static_cast<double>(tight_bytes(desc));
      const auto add = [&](const char* name, const EqualizeParams& params) {
        results.push_back(result(name, "production", desc, time_filter(params, desc), floor));
      };
      add("equalize", {});
      add("equalize region=10%,10%,80%,80%", region);
      add("equalize surround=ignore", surround);
    }
  }
}

/// Adds eigenvalues. Least traffic: a frame read once, two planes of floats written.
void add_eigenvalues(Json& results) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8}) {
    for (const auto& [width, height] :
         std::array<std::array<int, 2>, 3>{{{700, 605}, {2240, 1488}, {3540, 2336}}}) {
      for (const double sigma : {2.0, 4.0}) {
        const ImageDesc desc{format, width, height};
        HessianParams params;
        params.sigma = sigma;
        results.push_back(result("eigenvalues sigma " + std::to_string(static_cast<int>(sigma)),
                                 "production", desc, time_filter(params, desc),
                                 static_cast<double>(tight_bytes(desc)) + 8.0 * width * height));
      }
    }
  }
}

/// Adds `vessel`: classes of a frame, painted over it.
void add_vessels(Json& results) {
  for (const auto& [width, height] :
       std::array<std::array<int, 2>, 3>{{{700, 605}, {2240, 1488}, {3540, 2336}}}) {
    const ImageDesc desc{PixelFormat::bgr, width, height};
    const auto bytes = static_cast<double>(tight_bytes(desc));
    VesselParams vessel;
    for (const VesselOutput output : {VesselOutput::mask, VesselOutput::overlay}) {
      vessel.output = output;
      const double written = output == VesselOutput::mask ? bytes / 3 : bytes;
      results.push_back(result("vessel sigmas 2,3,4 " + std::string(enum_name(output)),
                               "production", desc, time_filter(vessel, desc), bytes + written));
    }
    results.push_back(
        result("shapes", "production", desc, time_filter(ShapesParams{}, desc), 2 * bytes));
  }
}

template <typename Params>
void add_host_to_host(Json& results, const char* name, const Params& params, const ImageDesc& desc,
                      const CudaDevice& device) {
  const double us = host_to_host_us(make_cuda_filter(params, {device.number}), desc, device);
  std::printf("%-34s %-16s %-6s %5dx%-5d %9.2f us\n", name, "host to host",
              std::string(to_string(desc.format)).c_str(), desc.width, desc.height, us);
  results.push_back({{"filter", name},
                     {"mode", "host to host"},
                     {"format", to_string(desc.format)},
                     {"width", desc.width},
                     {"height", desc.height},
                     {"us", us}});
}

void add_all_host_to_host(Json& results, const CudaDevice& device) {
  for (const auto& [width, height] :
       std::array<std::array<int, 2>, 3>{{{700, 605}, {2240, 1488}, {3540, 2336}}}) {
    const ImageDesc desc{PixelFormat::bgr, width, height};
    add_host_to_host(results, "eigenvalues sigma 2", HessianParams{}, desc, device);
    add_host_to_host(results, "vessel sigmas 2,3,4 mask", VesselParams{}, desc, device);
  }
}

int measure(const char* path, const std::vector<std::string>& parts) {
  const CudaDevice device = choose_cuda_device(-1);
  const std::vector<std::pair<std::string, std::function<void(Json&)>>> known{
      {"clahe", add_clahe},
      {"deep", add_deep},
      {"denoise", add_denoise},
      {"parts", add_parts},
      {"convolution", add_convolutions},
      {"eigenvalues", add_eigenvalues},
      {"vessel", add_vessels},
      {"host", [&](Json& results) { add_all_host_to_host(results, device); }}};
  for (const std::string& part : parts) {
    if (std::none_of(known.begin(), known.end(), [&](const auto& k) { return k.first == part; })) {
      throw Error(ExitCode::usage,
                  "'" + part +
                      "' is no part; there are clahe, deep, denoise, parts, convolution, " +
                      "eigenvalues, vessel and host");
    }
  }
  cuda::check(cudaSetDevice(device.number), "choosing the device");
  const Ceilings most = measure_ceilings();
  std::printf("%s, %.2f TB/s from memory to memory\n", device.name.c_str(), most.device_copy_tb_s);
  Json results = Json::array();
  for (const auto& [name, add] : known) {
    if (parts.empty() || std::find(parts.begin(), parts.end(), name) != parts.end()) add(results);
  }
  const Json json{{"device", device.name},
                  {"runtime", CUDART_VERSION},
                  {"device_copy_tb_s", most.device_copy_tb_s},
                  {"results", results}};
  return write_json(path == nullptr ? "" : path, json, "bench_gpu_filters");
}

/// Measures only the filter of a spec.
int one(const std::vector<std::string>& words) {
  const auto number = [](const std::string& word) { return std::atoi(word.c_str()); };
  const std::optional<PixelFormat> format =
      words.size() == 4 || words.size() == 5 ? pixel_format_from(words[3]) : std::nullopt;
  if (!format || number(words[1]) < 1 || number(words[2]) < 1) {
    throw Error(ExitCode::usage, "--one takes SPEC WIDTH HEIGHT FORMAT [FRAMES]");
  }
  const ImageDesc desc{*format, number(words[1]), number(words[2])};
  const auto filter = make_cuda_filter(parse_filter_spec(words[0]), {}, {});
  if (words.size() == 4) {
    (void)result(words[0], "production", desc, time_filter(filter, desc),
                 2.0 * static_cast<double>(tight_bytes(desc)));
    return 0;
  }
  ResidentFrames frames(desc, filter->configure(desc));
  const cuda::Stream stream = cuda::make_stream();
  FrameContext context;
  context.stream = stream.get();
  for (int i = 0; i < number(words[4]); ++i) {
    const auto k = static_cast<std::size_t>(i % kFrames);
    context.index = static_cast<std::uint64_t>(i);
    filter->submit(frames.in[k].view, frames.out[k].view, context);
  }
  cuda::check(cudaStreamSynchronize(stream.get()), "waiting for the frames");
  return 0;
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "--one")
      return equalux::bench::one({argv + 2, argv + argc});
    return equalux::bench::measure(argc > 1 ? argv[1] : nullptr,
                                   {argv + std::min(argc, 2), argv + argc});
  } catch (const equalux::Error& error) {
    std::fprintf(stderr, "bench_gpu_filters: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
