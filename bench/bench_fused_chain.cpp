#include "support/chain_bench.h"

namespace equalux::bench {
namespace {

void fused_chain(benchmark::State& state) { chain_bench(state, {}); }
BENCHMARK(fused_chain)->Apply([](benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::bgrx, PixelFormat::nv12,
                      PixelFormat::i420, PixelFormat::yuy2, PixelFormat::y42b, PixelFormat::y444});
});

}  // namespace
}  // namespace equalux::bench
