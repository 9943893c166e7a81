#pragma once

#include <memory>

#include <benchmark/benchmark.h>
#include <equalux/filter.h>

/// Benchmarks of whole chains, as the program runs them.
namespace equalux::bench {

/// Measures a chain; arguments "format" (a PixelFormat), "height" and "threads".
void chain_bench(benchmark::State& state, const EqualizeParams& params);
/// Measures any filter; `passes` is the least number of times that it reads or writes a frame.
void filter_bench(benchmark::State& state, std::unique_ptr<Filter> filter, int passes);
void chain_sizes(benchmark::internal::Benchmark* bench, std::initializer_list<PixelFormat> formats);
/// Measures a clip limit of 3 with saturation, given in tenths after the threads; 10 leaves it as
/// it is, -10 means auto.
void saturation_bench(benchmark::State& state);
void saturation_sizes(benchmark::internal::Benchmark* bench,
                      std::initializer_list<PixelFormat> formats);

}  // namespace equalux::bench
