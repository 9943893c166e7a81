#include <benchmark/benchmark.h>

#include "bench/staged/stage_bench.h"
#include "src/cpu/staged/staged_stages.h"

namespace equalux::bench {
namespace {

void histogram_bench(benchmark::State& state) {
  StageFrames data(state);
  const auto bins = static_cast<std::size_t>(state.range(2));
  rgb_to_hsv(data.next(), data.hsv, data.executor);
  std::vector<std::uint32_t> counts(bins);
  std::vector<std::uint32_t> partial(bins * static_cast<std::size_t>(data.executor.threads()));
  for (auto _ : state) {
    histogram(data.hsv.v, counts, partial, data.executor);
    benchmark::ClobberMemory();
  }
  data.report(state, 4);
}
BENCHMARK(histogram_bench)->Apply([](benchmark::internal::Benchmark* bench) {
  stage_sizes_with(bench, "bins", {16, 256, 65536});
});

}  // namespace
}  // namespace equalux::bench
