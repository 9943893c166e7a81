#include <numeric>

#include <benchmark/benchmark.h>

#include "bench/staged/stage_bench.h"
#include "src/cpu/staged/staged_stages.h"

namespace equalux::bench {
namespace {

void equalize_bench(benchmark::State& state) {
  StageFrames data(state);
  const auto how = static_cast<EqualizeVariant>(state.range(2));
  rgb_to_hsv(data.next(), data.hsv, data.executor);
  std::vector<std::uint32_t> cdf(256);
  std::iota(cdf.begin(), cdf.end(), 1u);
  std::vector<float> curve(cdf.size());
  for (auto _ : state) {
    equalize(how, cdf, {0, 256}, data.hsv.v, curve, data.executor);
    benchmark::ClobberMemory();
  }
  data.report(state, 4 + 4);
  state.SetLabel(std::string(enum_name(how)));
}
BENCHMARK(equalize_bench)->Apply([](benchmark::internal::Benchmark* bench) {
  stage_sizes_with(bench, "variant",
                   {static_cast<std::int64_t>(EqualizeVariant::divide),
                    static_cast<std::int64_t>(EqualizeVariant::curve)});
});

}  // namespace
}  // namespace equalux::bench
