#include <numeric>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "src/cpu/staged/staged_stages.h"

namespace equalux::bench {
namespace {

/// Measures a scan; argument 0: bins; argument 1: the variant, or -1 for the running sum.
void cdf_scan_bench(benchmark::State& state) {
  const auto bins = static_cast<std::size_t>(state.range(0));
  std::optional<ScanVariant> variant;
  if (state.range(1) >= 0) variant = static_cast<ScanVariant>(state.range(1));
  std::vector<std::uint32_t> counts(bins);
  std::iota(counts.begin(), counts.end(), 1u);
  std::vector<std::uint32_t> cdf(bins);
  std::vector<std::uint32_t> scratch(bins);
  for (auto _ : state) {
    cdf_scan(variant, counts, cdf, scratch);
    benchmark::ClobberMemory();
  }
  state.SetLabel(variant ? std::string(enum_name(*variant)) : "running sum");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(bins));
}
BENCHMARK(cdf_scan_bench)->Apply([](benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"bins", "variant"});
  for (const std::int64_t bins : {16, 256, 4096, 65536}) {
    bench->Args({bins, -1});
    for (const ScanVariant variant : {ScanVariant::baseline, ScanVariant::two_ended,
                                      ScanVariant::kogge_stone, ScanVariant::brent_kung}) {
      bench->Args({bins, static_cast<std::int64_t>(variant)});
    }
  }
});

}  // namespace
}  // namespace equalux::bench
