#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include <equalux/denoise.h>

#include "bench/support/bench_frames.h"
#include "bench/support/chain_bench.h"
#include "src/format/layout.h"

namespace equalux::bench {
namespace {

/// Frames of a clip that is played forth and back, as from a camera that swings, without a cut.
constexpr int kFrames = 10;
/// Half samples by which a moving camera moves per frame: an odd number, so that chroma never moves
/// by whole samples.
constexpr int kHalves = 3;
/// Columns by which the scene is wider than a frame.
constexpr int kSwing = 2 * kHalves * kFrames;
/// Noise of the sensor, in 8-bit levels: that of a room in the evening.
constexpr float kNoise = 2.0f;

int code_at(const FormatTraits& format, const std::uint8_t* at) {
  std::uint16_t word = *at;
  if (format.depth > 8) std::memcpy(&word, at, sizeof word);
  return word >> format.shift;
}

void put_code(const FormatTraits& format, float code, std::uint8_t* at) {
  const auto most = static_cast<float>((1 << format.depth) - 1);
  const auto word = static_cast<std::uint16_t>(std::lround(std::clamp(code, 0.0f, most)));
  if (format.depth == 8) {
    *at = static_cast<std::uint8_t>(word);
  } else {
    const auto shifted = static_cast<std::uint16_t>(word << format.shift);
    std::memcpy(at, &shifted, sizeof shifted);
  }
}

/// Makes a clip of natural_frames()'s scene with noise, from a camera that stands still or swings.
std::vector<Image> noisy_frames(const ImageDesc& desc, bool moving) {
  const FormatTraits& format = traits(desc.format);
  ImageDesc wide = desc;
  wide.width += kSwing;
  const std::vector<Image> scene = natural_frames(wide, 1);
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, kNoise * static_cast<float>(1 << (format.depth - 8)));
  std::vector<float> noise(1 << 16);
  for (float& each : noise)
    each = normal(random);

  const int components = format.model == ColorModel::gray ? 1 : 3;
  std::vector<Image> frames;
  for (int i = 0; i < kFrames; ++i) {
    frames.emplace_back(desc);
    for (int component = 0; component < components; ++component) {
      const auto from = samples_of(scene.front().view(), component);
      const auto to = samples_of(frames.back().view(), component);
      const bool chroma = format.model == ColorModel::yuv && component != 0;
      const int parts =
          chroma && format.chroma_shift_x != 0 ? 4 : 2;  // of a sample, to one kHalves
      const int shift = moving ? kHalves * i : 0;
      const float rest = static_cast<float>(shift % parts) / static_cast<float>(parts);
      for (int y = 0; y < to.rows; ++y) {
        const float* grain = noise.data() + random() % (noise.size() / 2);
        for (int x = 0; x < to.columns; ++x) {
          const int at = x + shift / parts;
          const auto left = static_cast<float>(code_at(format, from.at(at, y)));
          const auto right = static_cast<float>(code_at(format, from.at(at + 1, y)));
          put_code(format, left + rest * (right - left) + grain[x], to.at(x, y));
        }
      }
    }
  }
  return frames;
}

/// Measures filters over a clip as `equalux run` runs them, with fractions of levels between
/// filters that accept them, and the times of their stages.
void run_filters(benchmark::State& state, std::vector<std::unique_ptr<Filter>> filters) {
  const auto height = static_cast<int>(state.range(1));
  const ImageDesc desc{static_cast<PixelFormat>(state.range(0)), height * 16 / 9, height};
  const std::vector<Image> in = noisy_frames(desc, state.range(3) != 0);
  std::vector<Image> behind;
  for (const ImageDesc& each : configure_chain(filters, desc))
    behind.emplace_back(each);
  std::vector<StageTime> times;
  FrameContext context;
  int at = 0;
  int step = 1;
  const auto next_frame = [&] {
    ConstImageView from = in[static_cast<std::size_t>(at)].view();
    for (std::size_t i = 0; i < filters.size(); ++i) {
      filters[i]->submit(from, behind[i].view(), context);
      from = behind[i].view();
    }
    if (at + step < 0 || at + step >= kFrames) step = -step;
    at += step;
  };
  // Warms up, so that noise and estimates are those of a running clip.
  for (int i = 0; i < 2 * kFrames; ++i)
    next_frame();
  context.timings = &times;
  for (auto _ : state) {
    times.clear();
    next_frame();
    for (const StageTime& each : times)
      state.counters[std::string(each.stage) + "_ms"] += each.ms;
  }
  for (auto& [name, counter] : state.counters)
    counter.flags = benchmark::Counter::kAvgIterations;
  state.SetLabel(std::string(to_string(desc.format)) + " " + cpu_simd_target());
  state.SetItemsProcessed(state.iterations() * std::int64_t{desc.width} * desc.height);
}

template <typename... Params>
void chain(benchmark::State& state, const Params&... params) {
  std::vector<std::unique_ptr<Filter>> filters;
  (filters.push_back(make_cpu_filter(params, {static_cast<int>(state.range(2))})), ...);
  run_filters(state, std::move(filters));
}

void denoise_chain(benchmark::State& state) {
  chain(state, DenoiseParams{});
}
void denoise_equalize_chain(benchmark::State& state) {
  chain(state, DenoiseParams{}, EqualizeParams{});
}

void sizes(benchmark::internal::Benchmark* bench, std::initializer_list<PixelFormat> formats) {
  bench->ArgNames({"format", "height", "threads", "moving"})
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  for (const PixelFormat format : formats) {
    for (const std::int64_t threads : {1, 2}) {
      for (const std::int64_t moving : {0, 1})
        bench->Args({static_cast<std::int64_t>(format), 1080, threads, moving});
    }
  }
}
BENCHMARK(denoise_chain)->Apply([](benchmark::internal::Benchmark* bench) {
  sizes(bench, {PixelFormat::i420, PixelFormat::nv12, PixelFormat::bgr, PixelFormat::i420_10le});
});
BENCHMARK(denoise_equalize_chain)->Apply([](benchmark::internal::Benchmark* bench) {
  sizes(bench, {PixelFormat::i420});
});

}  // namespace
}  // namespace equalux::bench
