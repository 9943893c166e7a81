#include "bench/support/chain_bench.h"

namespace equalux::bench {
namespace {

void space_chain(benchmark::State& state, Space space) {
  EqualizeParams params;
  params.space = space;
  chain_bench(state, params);
}
void sizes(benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::bgr, PixelFormat::rgba});
}
BENCHMARK_CAPTURE(space_chain, luma, Space::luma)->Apply(sizes);
BENCHMARK_CAPTURE(space_chain, lightness, Space::lightness)->Apply(sizes);

}  // namespace
}  // namespace equalux::bench
