#pragma once

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pipelines/core/run.h"
#include "tests/support/pipeline_fakes.h"

/// A run of fakes.
namespace equalux::test {

inline std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// A run of fakes, all of them public for a test to set up and look at.
struct EngineTest : ::testing::Test {
  Watchdog watchdog;
  FakeSink sink;
  RunOptions options;
  StopToken stop;

  RunResult go(FakeSource& source) {
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(std::make_unique<InvertFilter>());
    const auto processor = make_cpu_processor(std::move(filters), 1);
    return run(source, *processor, sink, options, stop);
  }
};

}  // namespace equalux::test
