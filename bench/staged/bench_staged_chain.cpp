#include "bench/support/chain_bench.h"

namespace equalux::bench {
namespace {

void staged_chain(benchmark::State& state) {
  EqualizeParams params;
  params.chain = Chain::staged;
  chain_bench(state, params);
}
BENCHMARK(staged_chain)->Apply([](benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::gray8, PixelFormat::bgr});
});

}  // namespace
}  // namespace equalux::bench
