#include "cuda/clahe/deep_clahe_chain.h"

#include <vector>

#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"
#include "src/clahe/tile_grid.h"

namespace equalux::cuda {
namespace {

std::vector<DeepColumnMix> deep_column_mixes(const TileAxis& columns, int cell_columns, int width) {
  std::vector<DeepColumnMix> mixes;
  for (int x = 0; x < width; ++x) {
    const auto cell = static_cast<std::size_t>(x / cell_columns);
    mixes.push_back({columns.first[cell], columns.weight[cell]});
  }
  return mixes;
}

}  // namespace

void DeepClaheChain::configure(const ImageDesc& desc) {
  launch_device_ = deep_clahe_device();
  const CellCount cells = cells_of(desc);
  frame_ = DeepClaheFrame{};
  frame_.form = deep_tiles::form_of(desc);
  frame_.frame = deep_frame_of(desc, frame_.form.samples);
  ClaheFrame& tiles = frame_.tiles;
  tiles.deep = true;
  tiles.weights.luma_max = static_cast<std::int32_t>(coarse_max(frame_.form.samples));
  describe_tiles(tiles, params_, desc, launch_device_.multiprocessors);
  columns_ = uploaded(deep_column_mixes(TileAxis(params_.tiles_x, cells.columns),
                                        cell_columns(frame_.frame.sampling), desc.width),
                      "uploading the columns' mixes");
  lines_ = uploaded(line_mixes(TileAxis(params_.tiles_y, cells.rows), cells.rows),
                    "uploading the lines' mixes");
  tiles_.allocate(params_.tiles_x * params_.tiles_y);
  constexpr std::size_t kSums = 2 * deep_tiles::kLevels;
  curve_sums_ = allocate_device<unsigned long long>(kSums);
  fill_device(curve_sums_.get(), 0, kSums * sizeof(unsigned long long), "clearing the curves");
  colours_.configure(desc);
  made_for_.reset();
  if (params_.curve.saturation != 1) colours_.prepare();
  frame_.columns = columns_.get();
  tiles.line_mixes = lines_.get();
  tiles.states = tiles_.states();
  tiles.levels = tiles_.levels();
  control_.reset();
}

void DeepClaheChain::process(const ConstImageView& in, const ImageView& out,
                             const FrameContext& context) {
  const TraceRange range("clahe");
  const auto stream = static_cast<cudaStream_t>(context.stream);
  DeepClaheFrame frame = frame_;
  frame.frame.interlaced = context.field_order != FieldOrder::progressive;
  set_planes(frame.frame, in, out);
  frame.tiles.tone = control_.next(context);
  const saturation::Rule& rule = frame.tiles.tone.saturation;
  const bool recolours = colours_.changes(rule);
  if (recolours && rule.most != saturation::kOne) frame.tiles.curve_sums = sums(false);
  deep_clahe_count(frame, launch_device_, stream);
  context.mark("histogram");
  clahe_curve(frame.tiles, launch_device_, stream);
  context.mark("curve");
  deep_clahe_apply(frame, launch_device_, stream);
  context.mark("apply");
  if (recolours) recolour(frame, out, context);
}

void DeepClaheChain::recolour(const DeepClaheFrame& frame, const ImageView& out,
                              const FrameContext& context) {
  const bool follows = frame.tiles.curve_sums != nullptr;
  const std::uint32_t factor = frame.tiles.tone.saturation.factor;
  if (follows || made_for_ != factor) {
    deep_clahe_factors(frame, colours_.factors(), sums(true), launch_device_,
                       static_cast<cudaStream_t>(context.stream));
    if (follows) second_sums_ = !second_sums_;
    made_for_.reset();
    if (!follows) made_for_ = factor;
  }
  colours_.enqueue(out, context);
}

unsigned long long* DeepClaheChain::sums(bool next) const {
  return curve_sums_.get() + (second_sums_ != next ? deep_tiles::kLevels : 0);
}

void DeepClaheChain::update(const ClaheParams& params) {
  if (params.curve.saturation != 1) colours_.prepare();
  control_.update(params.curve);
  params_ = params;
}

std::string DeepClaheChain::save() const {
  return tiles_.save(params_, control_, frame_.tiles.weights.luma_max);
}

void DeepClaheChain::load(std::string_view state) {
  tiles_.load(state, params_, control_, frame_.tiles.weights.luma_max);
}

}  // namespace equalux::cuda
