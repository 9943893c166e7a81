#include <benchmark/benchmark.h>

#include "cpu/staged_stages.h"
#include "support/stage_bench.h"

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
