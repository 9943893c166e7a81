#pragma once

#include <memory>

#include <benchmark/benchmark.h>
#include <equalux/filter.h>

/// Benchmarks of whole chains, as the program runs them.
namespace equalux::bench {

/// Arguments "format" (a PixelFormat), "height" and "threads".
void chain_bench(benchmark::State& state, const EqualizeParams& params);
/// The same for any filter that reads and writes a frame `passes` times together, at least.
void filter_bench(benchmark::State& state, std::unique_ptr<Filter> filter, int passes);
void chain_sizes(benchmark::internal::Benchmark* bench, std::initializer_list<PixelFormat> formats);
/// With a clip limit of 3 and saturation, in tenths after the threads; 10 leaves it as it is, -10
/// is auto.
void saturation_bench(benchmark::State& state);
void saturation_sizes(benchmark::internal::Benchmark* bench,
                      std::initializer_list<PixelFormat> formats);

}  // namespace equalux::bench
