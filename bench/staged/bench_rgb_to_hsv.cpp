#include <benchmark/benchmark.h>

#include "bench/staged/stage_bench.h"
#include "src/cpu/staged/staged_stages.h"

namespace equalux::bench {
namespace {

void rgb_to_hsv_bench(benchmark::State& state) {
  StageFrames data(state);
  for (auto _ : state) {
    rgb_to_hsv(data.next(), data.hsv, data.executor);
    benchmark::ClobberMemory();
  }
  data.report(state, 3 + 12);
}
BENCHMARK(rgb_to_hsv_bench)->Apply(stage_sizes);

}  // namespace
}  // namespace equalux::bench
