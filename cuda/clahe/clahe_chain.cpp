#include "cuda/clahe/clahe_chain.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "cuda/device/warp.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"
#include "src/clahe/tile_curves.h"
#include "src/clahe/tile_grid.h"

namespace equalux::cuda {
namespace {

/// Makes the ColumnMix of each column for formats with word_tables().
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

/// Makes the ColumnMix of each pixel column. Entries beyond the last column are only read, never
/// used.
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
  frame_.early_lines = clahe_early_lines(frame_, launch_device_);
  tiles_.allocate(frame_.tiles_x * frame_.tiles_y);
  curve_sums_ = allocate_device<unsigned long long>(256);
  fill_device(curve_sums_.get(), 0, 256 * sizeof(unsigned long long), "clearing the curves");
  colours_.configure(desc);
  if (params_.curve.saturation != 1) colours_.prepare();
  frame_.columns = columns_.get();
  frame_.line_mixes = lines_.get();
  frame_.states = tiles_.states();
  frame_.levels = tiles_.levels();
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
  return tiles_.save(params_, control_, frame_.weights.luma_max);
}

void ClaheChain::load(std::string_view state) {
  tiles_.load(state, params_, control_, frame_.weights.luma_max);
}

/// Describes what is the same for all frames.
void ClaheChain::describe(const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  const bool yuv = t.model == ColorModel::yuv;
  frame_ = ClaheFrame{};
  frame_.format = desc.format;
  frame_.cell_columns = 1 << t.chroma_shift_x;
  frame_.weights = yuv ? yuv_weights(desc.matrix, desc.range) : YuvWeights{0, 255, 0, 0, 0, 0};
  describe_tiles(frame_, params_, desc, launch_device_.multiprocessors);
}

}  // namespace equalux::cuda
