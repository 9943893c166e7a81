#include "src/cpu/clahe/deep_clahe_chain.h"

#include <algorithm>

#include "src/common/stage_clock.h"

namespace equalux {
namespace {

/// Lines whose coarse levels are made before they are counted tile by tile: enough that a tile's
/// counters are not fetched again for each, and few enough that they stay near.
constexpr int kCoarseLines = 8;

}  // namespace

/// What one thread owns.
struct DeepClaheChain::Scratch {
  std::vector<SingleTables> tables;   // by tile column; 0 between bands
  std::vector<std::uint8_t> coarse;   // of kCoarseLines, a row of luma or pixels after the other
  std::vector<DeepTileLevels> mixed;  // by tile column, of the line at hand
  int mixed_row = -1;                 // the tile row and weight that they are mixed of; -1 = none
  int mixed_weight = 0;
  std::vector<std::uint8_t> results;  // on their way past the caches: four rows of plane 0's bytes
};

struct DeepClaheChain::Job {
  DeepClaheChain* chain;
  const ConstImageView& in;
  const ImageView& out;
  bool streams;  // results go past the caches
};

DeepClaheChain::DeepClaheChain(const ClaheParams& params, RowExecutor& executor,
                               const DeepTileRows& loops, const FusedRows& counting,
                               const DeepRows& colouring)
    : params_(params),
      executor_(executor),
      loops_(loops),
      counting_(counting),
      control_(params.curve),
      colours_(colouring) {}

DeepClaheChain::~DeepClaheChain() = default;

void DeepClaheChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  form_ = deep_tiles::form_of(desc);
  sampling_ = sampling_of(desc.format);
  cells_ = cells_of(desc);
  columns_ = TileAxis(params_.tiles_x, cells_.columns);
  rows_ = TileAxis(params_.tiles_y, cells_.rows);
  const int tiles = params_.tiles_x * params_.tiles_y;
  makers_.configure(tiles, static_cast<int>(coarse_max(form_.samples)));
  levels_.assign(static_cast<std::size_t>(tiles), DeepTileLevels{});
  colours_.configure(desc);
  prepare_colours();
  bands_ = split_tile_rows(rows_, params_.tiles_x, executor_.threads());
  order_weights();
  scratch_.clear();
  const auto tile_columns = static_cast<std::size_t>(params_.tiles_x);
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    scratch->tables.resize(tile_columns);
    scratch->mixed.resize(tile_columns);
    scratch->coarse.resize(static_cast<std::size_t>(kCoarseLines * cell_rows(sampling_)) *
                           static_cast<std::size_t>(desc.width));
    scratch->results.resize(4 * row_bytes(desc, 0) + 8);
    scratch_.push_back(std::move(scratch));
  }
  reset();
}

/// What takes memory is there before frames move that need it.
void DeepClaheChain::prepare_colours() {
  if (params_.curve.saturation == 1) return;
  colours_.prepare();
  curves_.resize(levels_.size());
}

std::size_t DeepClaheChain::first_pixel(int cell) const {
  return static_cast<std::size_t>(std::min(cell * cell_columns(sampling_), desc_.width));
}

/// The weights of the spans as the loops want them.
void DeepClaheChain::order_weights() {
  const TileSpans spans(columns_);
  spans_ = spans.spans;
  weights_at_.clear();
  weights_.clear();
  const auto columns = static_cast<std::size_t>(cell_columns(sampling_));
  std::vector<std::uint16_t> of_right;
  for (const TileSpan& span : spans_) {
    of_right.clear();
    for (std::size_t x = first_pixel(span.begin); x < first_pixel(span.end); ++x)
      of_right.push_back(spans.weight[x / columns]);
    weights_at_.push_back(weights_.size());
    weights_.resize(weights_.size() + deep_weight_room(of_right.size()));
    loops_.order_weights(of_right.data(), of_right.size(), weights_.data() + weights_at_.back());
  }
}

void DeepClaheChain::process(const ConstImageView& in, const ImageView& out,
                             const FrameContext& context) {
  StageClock clock(context.timings);
  interlaced_ = context.field_order != FieldOrder::progressive;
  const Job job{this, in, out, in.data[0] != out.data[0] && tight_bytes(desc_) > kStreamingBytes};
  executor_.for_rows(static_cast<int>(bands_.size()), [&job](int begin, int end, int slot) {
    DeepClaheChain& chain = *job.chain;
    for (int i = begin; i < end; ++i) {
      chain.count_band(job.in, chain.bands_[static_cast<std::size_t>(i)],
                       *chain.scratch_[static_cast<std::size_t>(slot)]);
    }
  });
  clock.lap("histogram");
  const tone::Frame frame = control_.next(context);
  if (frame.saturation.most != saturation::kOne) curves_.resize(levels_.size());
  executor_.for_rows(static_cast<int>(levels_.size()), [this, &frame](int begin, int end, int) {
    for (int tile = begin; tile < end; ++tile)
      make_curve(tile, frame);
  });
  set_colours(frame.saturation);
  clock.lap("curve");
  for (const auto& scratch : scratch_)
    scratch->mixed_row = -1;
  executor_.for_rows(cells_.rows, [&job](int begin, int end, int slot) {
    DeepClaheChain& chain = *job.chain;
    for (int line = begin; line < end; ++line)
      chain.apply_line(job, line, *chain.scratch_[static_cast<std::size_t>(slot)]);
    chain.counting_.flush_stores();
  });
  clock.lap("apply");
}

void DeepClaheChain::update(const ClaheParams& params) {
  control_.update(params.curve);
  params_ = params;
  prepare_colours();
}

std::string DeepClaheChain::save() const {
  return makers_.save(params_, control_);
}

void DeepClaheChain::load(std::string_view state) {
  makers_.load(state, params_, control_);
}

LumaRows DeepClaheChain::luma_rows(int line) const {
  return luma_rows_of(sampling_, line, desc_.height, interlaced_);
}

/// Coarse levels of a line, a row of luma behind the other.
void DeepClaheChain::read_coarse(const ConstImageView& in, int line, std::uint8_t* levels) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  const FormatTraits& t = traits(desc_.format);
  if (t.model != ColorModel::yuv) {
    loops_.coarse_pixels(form_.samples, rgb_layout(desc_.format), in.row(0, line), width, levels);
    return;
  }
  const LumaRows rows = luma_rows(line);
  std::uint8_t* const both[2] = {levels, levels + width};
  loops_.coarse_yuv({form_.samples, deep_chroma_of(t), rows.first == rows.second ? 1 : 2},
                    yuv_row_of(in, line, rows), width, both);
}

void DeepClaheChain::count_band(const ConstImageView& in, TileBand& band, Scratch& scratch) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  const bool yuv = traits(desc_.format).model == ColorModel::yuv;
  for (int first = band.first_line; first < band.end_line; first += kCoarseLines) {
    const int end = std::min(first + kCoarseLines, band.end_line);
    std::size_t rows = 0;
    for (int line = first; line < end; ++line) {
      read_coarse(in, line, scratch.coarse.data() + rows * width);
      const LumaRows luma = luma_rows(line);
      rows += yuv && luma.first != luma.second ? 2 : 1;
    }
    for (std::size_t tile = 0; tile < scratch.tables.size(); ++tile) {
      const std::size_t begin = first_pixel(columns_.edge[tile]);
      const std::size_t n = first_pixel(columns_.edge[tile + 1]) - begin;
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* levels = scratch.coarse.data() + row * width + begin;
        counting_.count_gray(levels, n, levels, {scratch.tables[tile], nullptr});
      }
    }
  }
  for (std::size_t tile = 0; tile < band.counts.size(); ++tile) {
    band.counts[tile].fill(0);
    counting_.fold({scratch.tables[tile], nullptr}, band.counts[tile]);
  }
}

void DeepClaheChain::make_curve(int tile, const tone::Frame& frame) {
  const CurveTable curve = makers_.make(tile, tile_counts(bands_, params_.tiles_x, tile), frame);
  if (frame.saturation.most != saturation::kOne) curves_[static_cast<std::size_t>(tile)] = curve;
  DeepTileLevels& levels = levels_[static_cast<std::size_t>(tile)];
  for (std::uint32_t i = 0; i <= coarse_max(form_.samples); ++i)
    levels.level[i] = static_cast<std::uint16_t>(deep_tiles::curve_level(i, curve[i]));
}

void DeepClaheChain::set_colours(const saturation::Rule& rule) {
  if (rule.most == saturation::kOne) return colours_.set(rule);
  colours_.set(rule, mean_curve(curves_, static_cast<int>(coarse_max(form_.samples))).data());
}

/// Mixes every tile column's curves above and below a line.
void DeepClaheChain::mix_line(int line, Scratch& scratch) const {
  const int row = rows_.first[static_cast<std::size_t>(line)];
  const int weight = rows_.weight[static_cast<std::size_t>(line)];
  if (row == scratch.mixed_row && weight == scratch.mixed_weight) return;
  scratch.mixed_row = row;
  scratch.mixed_weight = weight;
  const auto columns = static_cast<std::size_t>(params_.tiles_x);
  const DeepTileLevels* above = levels_.data() + static_cast<std::size_t>(row) * columns;
  const DeepTileLevels* below =
      levels_.data() + static_cast<std::size_t>(rows_.second(line)) * columns;
  for (std::size_t x = 0; x < columns; ++x)
    loops_.mix(above[x], below[x], static_cast<std::uint32_t>(weight), scratch.mixed[x]);
}

void DeepClaheChain::apply_line(const Job& job, int line, Scratch& scratch) const {
  mix_line(line, scratch);
  if (traits(desc_.format).model == ColorModel::yuv) {
    apply_yuv(job, line, scratch);
  } else {
    apply_pixels(job, line, scratch);
  }
}

void DeepClaheChain::apply_pixels(const Job& job, int line, Scratch& scratch) const {
  const RgbLayout at = rgb_layout(desc_.format);
  const std::uint8_t* in = job.in.row(0, line);
  const bool apart = job.streams || colours_.active();
  std::uint8_t* out = apart ? scratch.results.data() : job.out.row(0, line);
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const TileSpan& span = spans_[s];
    const std::size_t begin = first_pixel(span.begin);
    const std::size_t first = begin * static_cast<std::size_t>(at.step);
    loops_.apply_pixels(
        form_, at,
        {scratch.mixed[static_cast<std::size_t>(span.left)],
         scratch.mixed[static_cast<std::size_t>(span.right)], weights_.data() + weights_at_[s]},
        in + first, first_pixel(span.end) - begin, out + first);
  }
  if (colours_.active()) {
    colours_.apply_rgb(job.streams ? Stores::streaming : Stores::cached, out,
                       static_cast<std::size_t>(desc_.width), job.out.row(0, line));
  } else if (job.streams) {
    counting_.tiles.stream_row(out, row_bytes(desc_, 0), job.out.row(0, line));
  }
}

void DeepClaheChain::apply_yuv(const Job& job, int line, Scratch& scratch) const {
  const FormatTraits& t = traits(desc_.format);
  const LumaRows rows = luma_rows(line);
  const YuvRowIn in = yuv_row_of(job.in, line, rows);
  const YuvRowOut target = yuv_row_of(job.out, line, rows);
  YuvRowOut out = target;
  const std::size_t luma_bytes = row_bytes(desc_, 0);
  if (job.streams || colours_.active()) {
    std::uint8_t* const own = scratch.results.data();
    std::uint8_t* const chroma = own + 2 * luma_bytes;
    out = {{own, own + luma_bytes}, chroma, t.planes == 2 ? chroma + 2 : chroma + luma_bytes};
  }
  const int step = component_of(desc_.format, 1).step;
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const TileSpan& span = spans_[s];
    const std::size_t begin = first_pixel(span.begin);
    const std::size_t luma = 2 * begin;
    const std::size_t c = static_cast<std::size_t>(span.begin) * static_cast<std::size_t>(step);
    loops_.apply_yuv(
        form_, deep_chroma_of(t), rows.first == rows.second ? 1 : 2,
        {scratch.mixed[static_cast<std::size_t>(span.left)],
         scratch.mixed[static_cast<std::size_t>(span.right)], weights_.data() + weights_at_[s]},
        {{in.luma[0] + luma, in.luma[1] + luma}, in.cb + c, in.cr + c},
        first_pixel(span.end) - begin,
        {{out.luma[0] + luma, out.luma[1] + luma}, out.cb + c, out.cr + c});
  }
  if (colours_.active()) {
    return colours_.apply_yuv(job.streams ? Stores::streaming : Stores::cached,
                              rows.first == rows.second ? 1 : 2, out,
                              static_cast<std::size_t>(desc_.width), target);
  }
  if (!job.streams) return;
  const TileRows& loops = counting_.tiles;
  loops.stream_row(out.luma[0], luma_bytes, job.out.row(0, rows.first));
  if (rows.second != rows.first)
    loops.stream_row(out.luma[1], luma_bytes, job.out.row(0, rows.second));
  loops.stream_row(out.cb, row_bytes(desc_, 1), job.out.row(1, line));
  if (t.planes == 3) loops.stream_row(out.cr, row_bytes(desc_, 2), job.out.row(2, line));
}

}  // namespace equalux
