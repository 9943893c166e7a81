#include "cuda/clahe/clahe_chain.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "cuda/equalize/fused/fused_config.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"
#include "src/clahe/tile_curves.h"
#include "src/clahe/tile_grid.h"
#include "src/clahe/tile_state.h"

namespace equalux::cuda {
namespace {

/// Blocks that count, for each multiprocessor: as many as it runs at a time.
constexpr int kCountingBlocks = 6;

/// The mixes of formats with word_tables().
std::vector<ColumnMix> word_mixes(const TileAxis& columns, int width) {
  std::vector<ColumnMix> mixes(static_cast<std::size_t>(width) + kChunkBytes, 0);
  for (int x = 0; x < width; ++x) {
    const auto cell = static_cast<std::size_t>(x);
    mixes[static_cast<std::size_t>(mix_place(x))] = static_cast<std::uint32_t>(columns.weight[cell])
                                                        << 24 |
                                                    columns.first[cell] * kTileTableBytes;
  }
  return mixes;
}

/// The mix of each pixel column. What chunks have beyond the last is anything that can be read.
std::vector<ColumnMix> column_mixes(const TileAxis& columns, int cell_columns, int width) {
  const TileSpans spans(columns);
  std::vector<ColumnMix> mixes(static_cast<std::size_t>(width) + kChunkBytes, 0);
  for (const TileSpan& span : spans.spans) {
    for (int x = span.begin * cell_columns; x < std::min(span.end * cell_columns, width); ++x) {
      const float weight =
          static_cast<float>(spans.weight[static_cast<std::size_t>(x / cell_columns)]) /
          static_cast<float>(tiles::kFullWeight);
      mixes[static_cast<std::size_t>(x)] = std::bit_cast<std::uint32_t>(weight) |
                                           static_cast<std::uint32_t>(span.left) * kTileTableBytes;
    }
  }
  return mixes;
}

std::vector<LineMix> line_mixes(const TileAxis& rows, int lines) {
  std::vector<LineMix> mixes;
  for (int line = 0; line < lines; ++line) {
    const auto at = static_cast<std::size_t>(line);
    mixes.push_back(
        {rows.first[at], static_cast<std::uint8_t>(rows.second(line)), rows.weight[at]});
  }
  return mixes;
}

}  // namespace

void ClaheChain::configure(const ImageDesc& desc) {
  launch_device_ = clahe_device();
  desc_ = desc;
  describe(desc);
  const CellCount cells = cells_of(desc);
  const TileAxis columns(params_.tiles_x, cells.columns);
  columns_ =
      uploaded(word_tables(desc.format) ? word_mixes(columns, desc.width)
                                        : column_mixes(columns, frame_.cell_columns, desc.width),
               "uploading the columns' mixes");
  lines_ = uploaded(line_mixes(TileAxis(params_.tiles_y, cells.rows), cells.rows),
                    "uploading the lines' mixes");
  const auto tiles = static_cast<std::size_t>(tile_count());
  states_ = uploaded(std::vector<TileState>(tiles), "clearing the tiles");
  levels_ = allocate_device<std::uint16_t>(256 * tiles);
  curve_sums_ = allocate_device<unsigned long long>(256);
  fill_device(curve_sums_.get(), 0, 256 * sizeof(unsigned long long), "clearing the curves");
  colours_.configure(desc);
  if (params_.curve.saturation != 1) colours_.prepare();
  frame_.columns = columns_.get();
  frame_.line_mixes = lines_.get();
  frame_.states = states_.get();
  frame_.levels = levels_.get();
  control_.reset();
}

void ClaheChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  const TraceRange range("clahe");
  const auto stream = static_cast<cudaStream_t>(context.stream);
  ClaheFrame frame = frame_;
  frame.interlaced = context.field_order != FieldOrder::progressive;
  frame.aligned = true;
  for (int p = 0; p < traits(desc_.format).planes; ++p) {
    PlanePair& plane = frame.planes[static_cast<std::size_t>(p)];
    plane = PlanePair::of_plane(in, out, p);
    frame.aligned = frame.aligned && plane.is_multiple(16);
  }
  frame.tone = control_.next(context);
  const saturation::Rule& rule = frame.tone.saturation;
  const bool recolours = colours_.changes(rule);
  const bool follows = recolours && rule.most != saturation::kOne;
  if (follows) frame.curve_sums = curve_sums_.get();
  clahe_count(frame, launch_device_, stream);
  context.mark("histogram");
  clahe_curve(frame, launch_device_, stream);
  context.mark("curve");
  clahe_apply(frame, launch_device_, stream);
  context.mark("apply");
  if (follows) clahe_factors(frame, colours_.factors(), stream);
  if (recolours) colours_.enqueue(out, rule, context);
}

void ClaheChain::update(const ClaheParams& params) {
  if (params.curve.saturation != 1) colours_.prepare();
  control_.update(params.curve);
  params_ = params;
}

std::string ClaheChain::save() const {
  std::vector<tone::History> histories;
  for (const TileState& state : states())
    histories.push_back(state.history);
  return save_tiles(params_, control_, histories, frame_.weights.luma_max);
}

void ClaheChain::load(std::string_view state) {
  std::vector<tone::History> histories(static_cast<std::size_t>(tile_count()));
  load_tiles(state, params_, control_, histories, frame_.weights.luma_max);
  std::vector<TileState> loaded = states();
  for (std::size_t tile = 0; tile < loaded.size(); ++tile)
    loaded[tile].history = histories[tile];
  upload(states_.get(), loaded.data(), loaded.size() * sizeof(TileState),
         "writing the tiles' histories");
}

/// The tiles when the frames under way are done.
std::vector<TileState> ClaheChain::states() const {
  std::vector<TileState> all(static_cast<std::size_t>(tile_count()));
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  check(
      cudaMemcpy(all.data(), states_.get(), all.size() * sizeof(TileState), cudaMemcpyDeviceToHost),
      "reading the tiles' histories");
  return all;
}

/// What all frames have in common.
void ClaheChain::describe(const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  const bool yuv = t.model == ColorModel::yuv;
  const CellCount cells = cells_of(desc);
  frame_ = ClaheFrame{};
  frame_.format = desc.format;
  frame_.width = desc.width;
  frame_.height = desc.height;
  frame_.lines = cells.rows;
  frame_.cell_columns = 1 << t.chroma_shift_x;
  frame_.weights = yuv ? yuv_weights(desc.matrix, desc.range) : YuvWeights{0, 255, 0, 0, 0, 0};
  frame_.tiles_x = params_.tiles_x;
  frame_.tiles_y = params_.tiles_y;
  const auto copy_edges = [](const TileAxis& axis, auto& edges) {
    std::copy(axis.edge.begin(), axis.edge.end(), edges.begin());
  };
  copy_edges(TileAxis(params_.tiles_x, cells.columns), frame_.edge_x);
  copy_edges(TileAxis(params_.tiles_y, cells.rows), frame_.edge_y);
  const int wanted = launch_device_.multiprocessors * kCountingBlocks / tile_count();
  frame_.bands = std::clamp(wanted, 1, cells.rows / params_.tiles_y);
}

}  // namespace equalux::cuda
