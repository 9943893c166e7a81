#include <benchmark/benchmark.h>

#include "bench/staged/stage_bench.h"
#include "src/cpu/staged/staged_stages.h"

namespace equalux::bench {
namespace {

void hsv_to_rgb_bench(benchmark::State& state) {
  StageFrames data(state);
  rgb_to_hsv(data.next(), data.hsv, data.executor);
  Image out(data.desc);
  for (auto _ : state) {
    hsv_to_rgb(data.hsv, data.next(), out.view(), data.executor);
    benchmark::ClobberMemory();
  }
  data.report(state, 12 + 3);
}
BENCHMARK(hsv_to_rgb_bench)->Apply(stage_sizes);

}  // namespace
}  // namespace equalux::bench
