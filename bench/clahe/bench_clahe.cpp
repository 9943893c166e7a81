#include <equalux/clahe.h>

#include "bench/support/chain_bench.h"

namespace equalux::bench {
namespace {

ClaheParams with(int tiles, double temporal_ms) {
  ClaheParams params;
  params.tiles_x = params.tiles_y = tiles;
  params.curve.temporal_ms = temporal_ms;
  return params;
}

ClaheParams coloured(double saturation) {
  ClaheParams params = with(8, 0);
  params.curve.saturation = saturation;
  return params;
}

/// Measures against the least traffic: a frame is read twice and written once.
void clahe(benchmark::State& state, const ClaheParams& params) {
  filter_bench(state, make_cpu_filter(params, {static_cast<int>(state.range(2))}), 3);
}

void sizes(benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::bgrx, PixelFormat::nv12,
                      PixelFormat::i420, PixelFormat::yuy2, PixelFormat::y444});
}
void deep_sizes(benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray16_le, PixelFormat::bgr48_le, PixelFormat::bgra64_le,
                      PixelFormat::p010_10le, PixelFormat::p012_le, PixelFormat::p016_le,
                      PixelFormat::i420_10le, PixelFormat::i422_10le, PixelFormat::y444_12le});
}
void coloured_sizes(benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::nv12, PixelFormat::bgr, PixelFormat::p010_10le,
                      PixelFormat::i422_10le, PixelFormat::y444_12le, PixelFormat::y444_16le,
                      PixelFormat::bgr48_le, PixelFormat::bgra64_le});
}
void two_sizes(benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::bgr, PixelFormat::nv12});
}

BENCHMARK_CAPTURE(clahe, tiles_8, with(8, 0))->Apply(sizes);
BENCHMARK_CAPTURE(clahe, deep, with(8, 0))->Apply(deep_sizes);
BENCHMARK_CAPTURE(clahe, saturation_as_it_is, coloured(1))->Apply(coloured_sizes);
BENCHMARK_CAPTURE(clahe, saturation_less, coloured(0.5))->Apply(coloured_sizes);
BENCHMARK_CAPTURE(clahe, saturation_more, coloured(1.5))->Apply(coloured_sizes);
BENCHMARK_CAPTURE(clahe, saturation_auto, coloured(kAutoSaturation))->Apply(coloured_sizes);
BENCHMARK_CAPTURE(clahe, tiles_8_over_time, with(8, 1000))->Apply(two_sizes);
BENCHMARK_CAPTURE(clahe, tiles_16, with(16, 0))->Apply(two_sizes);
BENCHMARK_CAPTURE(clahe, tiles_2, with(2, 0))->Apply(two_sizes);

}  // namespace
}  // namespace equalux::bench
