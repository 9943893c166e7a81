#include "bench/support/chain_bench.h"

namespace equalux::bench {
namespace {

void deep_chain(benchmark::State& state) {
  chain_bench(state, {});
}
BENCHMARK(deep_chain)->Apply([](benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray16_le, PixelFormat::rgb48_le, PixelFormat::rgba64_le,
                      PixelFormat::p010_10le, PixelFormat::i420_10le, PixelFormat::i422_10le,
                      PixelFormat::y444_12le, PixelFormat::y444_16le});
});

void deep_chain_saturation(benchmark::State& state) {
  saturation_bench(state);
}
BENCHMARK(deep_chain_saturation)->Apply([](benchmark::internal::Benchmark* bench) {
  saturation_sizes(bench, {PixelFormat::p010_10le, PixelFormat::i422_10le, PixelFormat::y444_12le,
                           PixelFormat::y444_16le, PixelFormat::rgb48_le, PixelFormat::rgba64_le});
});

}  // namespace
}  // namespace equalux::bench
