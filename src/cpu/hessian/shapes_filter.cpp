#include <algorithm>
#include <optional>

#include <equalux/hessian.h>

#include "src/common/plain_filter.h"
#include "src/common/stage_clock.h"
#include "src/cpu/hessian/class_paint.h"
#include "src/cpu/hessian/hessian_tiles.h"
#include "src/cpu/hessian/vessel_rows.h"

namespace equalux {
namespace {

/// Filter `shapes` on the CPU, the report's Figure 1.
class CpuShapesFilter final : public PlainFilter<ShapesParams> {
 public:
  CpuShapesFilter(const ShapesParams& params, const CpuOptions& options)
      : PlainFilter("shapes", params, Backend::cpu),
        executor_(options.threads),
        hessian_(hessian_rows()),
        shapes_(vessel_rows()),
        weights_(hessian_weights(params.derivative, params.sigma, params.truncate)) {}

 private:
  void prepare(const ImageDesc& input) override {
    walker_.emplace(executor_, hessian_, params_.channel, weights_.radius, 2);
    plane_.resize(static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height));
    colours_ = shape_colours(input.matrix, input.range);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    StageClock clock(context.timings);
    classify(in);
    clock.lap("shapes");
    if (params_.output == ShapesOutput::overlay) {
      paint_classes(in, out, {plane_.data(), in.desc.width}, colours_,
                    context.field_order != FieldOrder::progressive, executor_);
    } else {
      for (int y = 0; y < in.desc.height; ++y)
        std::copy_n(row(y), in.desc.width, out.row(0, y));
    }
    clock.lap("paint");
  }

  [[nodiscard]] std::uint8_t* row(int y) {
    return plane_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(in_desc_.width);
  }

  void classify(const ConstImageView& in) {
    const auto threshold = static_cast<float>(params_.threshold);
    const auto line_ratio = static_cast<float>(params_.line_ratio);
    const auto blob_ratio = static_cast<float>(params_.blob_ratio);
    walker_->run(in, [&](TileScratch& scratch) {
      const LevelTile& tile = scratch.tile();
      for (int j = 0; j < tile.height; ++j) {
        scratch.eigenvalues(hessian_, weights_, j, {scratch.result(0), scratch.result(1), false});
        shapes_.shapes(scratch.result(0), scratch.result(1), threshold, line_ratio, blob_ratio,
                       static_cast<std::size_t>(tile.width), row(tile.y + j) + tile.x);
      }
    });
  }

  RowExecutor executor_;
  const HessianRows& hessian_;
  const VesselRows& shapes_;
  HessianWeights weights_;
  std::optional<TileWalker> walker_;
  std::vector<std::uint8_t> plane_;
  ClassColours colours_{};
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const ShapesParams& params, const CpuOptions& options) {
  return std::make_unique<CpuShapesFilter>(params, options);
}

}  // namespace equalux
