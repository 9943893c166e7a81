#include "bench/support/chain_bench.h"

#include "bench/support/bench_frames.h"

namespace equalux::bench {

void chain_sizes(benchmark::internal::Benchmark* bench,
                 std::initializer_list<PixelFormat> formats) {
  bench->ArgNames({"format", "height", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const PixelFormat format : formats) {
    for (const std::int64_t height : {640, 1080, 2160}) {
      for (const std::int64_t threads : {1, 2}) {
        bench->Args({static_cast<std::int64_t>(format), height, threads});
      }
    }
  }
}

void filter_bench(benchmark::State& state, std::unique_ptr<Filter> filter, int passes) {
  const auto height = static_cast<int>(state.range(1));
  const ImageDesc desc{static_cast<PixelFormat>(state.range(0)), height * 16 / 9, height};
  std::vector<Image> in = natural_frames(desc, ring_length(desc));
  std::vector<Image> out = natural_frames(desc, ring_length(desc));
  filter->configure(desc);
  FrameContext context;
  std::size_t at = 0;
  for (auto _ : state) {
    filter->submit(in[at].view(), out[at].view(), context);
    at = (at + 1) % in.size();
  }
  state.SetLabel(std::string(to_string(desc.format)) + " " + cpu_simd_target());
  state.SetBytesProcessed(state.iterations() * passes *
                          static_cast<std::int64_t>(tight_bytes(desc)));
  state.SetItemsProcessed(state.iterations() * std::int64_t{desc.width} * desc.height);
}

void chain_bench(benchmark::State& state, const EqualizeParams& params) {
  // A frame is read twice and written once at least.
  filter_bench(state, make_cpu_filter(params, {static_cast<int>(state.range(2))}), 3);
}

namespace {

constexpr std::int64_t kAutoTenths = -10;

}  // namespace

void saturation_bench(benchmark::State& state) {
  EqualizeParams params;
  params.clip_limit = 3;
  const std::int64_t tenths = state.range(3);
  params.saturation = tenths == kAutoTenths ? kAutoSaturation : static_cast<double>(tenths) / 10;
  chain_bench(state, params);
}

void saturation_sizes(benchmark::internal::Benchmark* bench,
                      std::initializer_list<PixelFormat> formats) {
  bench->ArgNames({"format", "height", "threads", "tenths"})
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  for (const PixelFormat format : formats) {
    for (const std::int64_t tenths :
         std::initializer_list<std::int64_t>{10, 5, 15, 20, kAutoTenths})
      bench->Args({static_cast<std::int64_t>(format), 1080, 1, tenths});
  }
}

}  // namespace equalux::bench
