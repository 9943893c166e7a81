#include "bench/support/chain_bench.h"

namespace equalux::bench {
namespace {

void fused_chain(benchmark::State& state) {
  chain_bench(state, {});
}
BENCHMARK(fused_chain)->Apply([](benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::bgrx, PixelFormat::nv12,
                      PixelFormat::i420, PixelFormat::yuy2, PixelFormat::y42b, PixelFormat::y444});
});

/// Measures every limit, over time: the cost of the curve beside the frame.
void fused_chain_over_time(benchmark::State& state) {
  EqualizeParams params;
  params.strength = 0.9;
  params.clip_limit = 3;
  params.floor = 0.5;
  params.ceiling = 99.5;
  params.max_gain = 6;
  params.temporal_ms = 1000;
  chain_bench(state, params);
}
BENCHMARK(fused_chain_over_time)->Apply([](benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::nv12});
});

void fused_chain_saturation(benchmark::State& state) {
  saturation_bench(state);
}
BENCHMARK(fused_chain_saturation)->Apply([](benchmark::internal::Benchmark* bench) {
  saturation_sizes(bench,
                   {PixelFormat::bgr, PixelFormat::bgrx, PixelFormat::i420, PixelFormat::nv12});
});

}  // namespace
}  // namespace equalux::bench
