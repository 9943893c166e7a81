#include <equalux/convolve.h>

#include "bench/support/chain_bench.h"

namespace equalux::bench {
namespace {

/// Makes parameters of a kernel. The kernels differ in how their sums are computed: in 16 bits, in
/// 32 bits, separably.
ConvolveParams with(const char* kernel, int size = 0) {
  ConvolveParams params;
  params.kernel = kernel;
  params.size = size;
  return params;
}

ConvolveParams custom(int size, const char* weight) {
  ConvolveParams params = with("custom");
  params.weights.assign(static_cast<std::size_t>(size) * static_cast<std::size_t>(size), weight);
  params.divisor = std::to_string(size * size);
  return params;
}

void convolve(benchmark::State& state, const ConvolveParams& params) {
  filter_bench(state, make_cpu_filter(params, {static_cast<int>(state.range(2))}), 2);
}

void sizes(benchmark::internal::Benchmark* bench) {
  chain_sizes(bench, {PixelFormat::bgr, PixelFormat::nv12});
}

BENCHMARK_CAPTURE(convolve, sharpen, with("sharpen"))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, box_blur, with("box-blur"))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, gaussian_blur, with("gaussian-blur"))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, custom_5_whole, custom(5, "1"))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, custom_5_decimals, custom(5, "0.3127"))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, custom_15_decimals, custom(15, "0.3127"))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, gaussian_9, with("gaussian", 9))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, gaussian_17, with("gaussian", 17))->Apply(sizes);
BENCHMARK_CAPTURE(convolve, box_17, with("box", 17))->Apply(sizes);

}  // namespace
}  // namespace equalux::bench
