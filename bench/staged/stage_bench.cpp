#include "bench/staged/stage_bench.h"

namespace equalux::bench {
namespace {

constexpr std::int64_t kHeights[] = {360, 1080, 2160};
constexpr std::int64_t kThreads[] = {1, 2};

ImageDesc desc_of(const benchmark::State& state) {
  const auto height = static_cast<int>(state.range(0));
  return {PixelFormat::bgr, height * 16 / 9, height};
}

}  // namespace

void stage_sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"height", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t height : kHeights) {
    for (const std::int64_t threads : kThreads)
      bench->Args({height, threads});
  }
}

void stage_sizes_with(benchmark::internal::Benchmark* bench, const std::string& name,
                      std::initializer_list<std::int64_t> values) {
  bench->ArgNames({"height", "threads", name})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t height : kHeights) {
    for (const std::int64_t threads : kThreads) {
      for (const std::int64_t value : values)
        bench->Args({height, threads, value});
    }
  }
}

StageFrames::StageFrames(const benchmark::State& state)
    : desc(desc_of(state)),
      executor(static_cast<int>(state.range(1))),
      frames_(natural_frames(desc, 6)) {
  hsv.resize(static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height));
}

ConstImageView StageFrames::next() {
  at_ = (at_ + 1) % frames_.size();
  return frames_[at_].view();
}

void StageFrames::report(benchmark::State& state, int bytes) const {
  const auto pixels = std::int64_t{desc.width} * desc.height;
  state.SetItemsProcessed(state.iterations() * pixels);
  state.SetBytesProcessed(state.iterations() * pixels * bytes);
}

}  // namespace equalux::bench
