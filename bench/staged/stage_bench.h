#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/support/bench_frames.h"
#include "src/cpu/staged/staged_stages.h"

/// Common parts of the benchmarks of single stages.
namespace equalux::bench {

/// Sets frame heights and thread counts as arguments "height" and "threads"; frames are 16:9.
void stage_sizes(benchmark::internal::Benchmark* bench);
/// Sets these arguments and a third one named `name`.
void stage_sizes_with(benchmark::internal::Benchmark* bench, const std::string& name,
                      std::initializer_list<std::int64_t> values);

/// BGR frames that take turns, and an HSV image, from the arguments "height" and "threads".
struct StageFrames {
  explicit StageFrames(const benchmark::State& state);
  [[nodiscard]] ConstImageView next();
  /// Reports bytes and pixels per second; `bytes` is the stage's least traffic per pixel.
  void report(benchmark::State& state, int bytes) const;

  ImageDesc desc;
  RowExecutor executor;
  HsvImage hsv;

 private:
  std::vector<Image> frames_;
  std::size_t at_ = 0;
};

}  // namespace equalux::bench
