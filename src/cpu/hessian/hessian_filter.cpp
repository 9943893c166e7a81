#include <optional>

#include <equalux/hessian.h>

#include "src/common/plain_filter.h"
#include "src/common/stage_clock.h"
#include "src/cpu/common/stores.h"
#include "src/cpu/hessian/hessian_tiles.h"

namespace equalux {
namespace {

constexpr std::size_t kCacheLine = 64;

bool begins_line(const std::uint8_t* at) {
  return reinterpret_cast<std::uintptr_t>(at) % kCacheLine == 0;
}

/// Eigenvalue filter on the CPU.
class CpuHessianFilter final : public PlainFilter<HessianParams> {
 public:
  CpuHessianFilter(const HessianParams& params, const CpuOptions& options)
      : PlainFilter("eigenvalues", params, Backend::cpu),
        executor_(options.threads),
        loops_(hessian_rows()),
        weights_(hessian_weights(params.derivative, params.sigma, params.truncate)) {}

  /// A tile's floats would lie over samples that its neighbours still read.
  [[nodiscard]] bool works_in_place() const override { return false; }

 private:
  void prepare(const ImageDesc& /*input*/) override {
    walker_.emplace(executor_, loops_, params_.channel, weights_.radius, 2);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    StageClock clock(context.timings);
    const bool stream = tight_bytes(out_desc_) > kStreamingBytes;
    walker_->run(in, [&](TileScratch& scratch) {
      const LevelTile& tile = scratch.tile();
      const auto n = static_cast<std::size_t>(tile.width);
      const std::ptrdiff_t offset = std::ptrdiff_t{tile.x} * 4;
      for (int j = 0; j < tile.height; ++j) {
        std::uint8_t* first = out.row(0, tile.y + j) + offset;
        std::uint8_t* second = out.row(1, tile.y + j) + offset;
        // Whole cache lines go straight to the frame.
        if (stream && begins_line(first) && begins_line(second) && n * 4 % kCacheLine == 0) {
          scratch.eigenvalues(
              loops_, weights_, j,
              {reinterpret_cast<float*>(first), reinterpret_cast<float*>(second), true});
          continue;
        }
        scratch.eigenvalues(loops_, weights_, j, {scratch.result(0), scratch.result(1), false});
        loops_.store(scratch.result(0), n, stream, first);
        loops_.store(scratch.result(1), n, stream, second);
      }
    });
    clock.lap("eigenvalues");
  }

  RowExecutor executor_;
  const HessianRows& loops_;
  HessianWeights weights_;
  std::optional<TileWalker> walker_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const HessianParams& params, const CpuOptions& options) {
  return std::make_unique<CpuHessianFilter>(params, options);
}

}  // namespace equalux
