#pragma once

#include <benchmark/benchmark.h>

#include <equalux/filter.h>

/// Benchmarks of whole chains, as the program runs them.
namespace equalux::bench {

/// Arguments "format" (a PixelFormat), "height" and "threads".
void chain_bench(benchmark::State& state, const EqualizeParams& params);
void chain_sizes(benchmark::internal::Benchmark* bench,
                 std::initializer_list<PixelFormat> formats);

}  // namespace equalux::bench
