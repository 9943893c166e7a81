#include <vector>

#include <benchmark/benchmark.h>
#include <equalux/hessian.h>

#include "bench/support/bench_frames.h"

/// Measures the Hessian family on the CPU with one thread, in milliseconds per frame.
namespace equalux {
namespace {

template <typename Params>
void run(benchmark::State& state, const Params& params, PixelFormat format) {
  const ImageDesc desc{format, static_cast<int>(state.range(0)), static_cast<int>(state.range(1))};
  const std::vector<Image> frames = bench::natural_frames(desc, 1);
  const auto filter = make_cpu_filter(params, {1});
  Image out(filter->configure(desc));
  FrameContext context;
  for (auto _ : state)
    filter->submit(frames.front().view(), out.view(), context);
  state.counters["Mpx/s"] =
      benchmark::Counter(1e-6 * static_cast<double>(state.iterations()) * desc.width * desc.height,
                         benchmark::Counter::kIsRate);
}

/// Measures eigenvalues; arguments: width, height, sigma.
void eigenvalues(benchmark::State& state) {
  HessianParams params;
  params.sigma = static_cast<double>(state.range(2));
  run(state, params, PixelFormat::gray8);
}
void vessel(benchmark::State& state) {
  VesselParams params;
  params.output = VesselOutput::overlay;
  run(state, params, PixelFormat::nv12);
}
void shapes(benchmark::State& state) {
  run(state, ShapesParams{}, PixelFormat::nv12);
}

// Sizes of the report, and of video.
BENCHMARK(eigenvalues)
    ->Args({700, 605, 2})
    ->Args({2240, 1488, 2})
    ->Args({3540, 2336, 2})
    ->Args({3540, 2336, 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(vessel)
    ->Args({700, 605})
    ->Args({1280, 720})
    ->Args({1920, 1080})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(shapes)->Args({1280, 720})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace equalux
