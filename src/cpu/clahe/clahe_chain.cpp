#include "src/cpu/clahe/clahe_chain.h"

#include <algorithm>

#include "src/clahe/tile_curves.h"
#include "src/common/stage_clock.h"
#include "src/cpu/equalize/fused/planar_line.h"

namespace equalux {
namespace {

/// Lines that are counted of one tile before it is the next one's turn: enough that a tile's
/// counters are not fetched again for each, and few enough that what is prefetched for the next
/// stays near.
constexpr int kLinesAtATime = 8;

}  // namespace

/// What one thread owns.
struct ClaheChain::Scratch {
  std::vector<SingleTables> tables;  // by tile column; 0 between bands
  std::vector<MixedLevels> mixed;    // by tile column, of the line at hand
  int mixed_row = -1;                // the tile row and weight that they are mixed of; -1 = none
  int mixed_weight = 0;
  // Unpacked input, or output on its way past the caches.
  PlanarLine line;
  std::vector<std::uint8_t> pixels;
};

struct ClaheChain::Job {
  ClaheChain* chain;
  const ConstImageView& in;
  const ImageView& out;
  bool streams;  // results go past the caches
};

ClaheChain::ClaheChain(const ClaheParams& params, RowExecutor& executor, const FusedRows& loops)
    : params_(params),
      executor_(executor),
      loops_(loops),
      control_(params.curve),
      colours_(loops) {}

ClaheChain::~ClaheChain() = default;

void ClaheChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  yuv_ = yuv ? yuv_weights(desc.matrix, desc.range) : YuvWeights{0, 255, 0, 0, 0, 0};
  sampling_ = sampling_of(desc.format);
  cells_ = cells_of(desc);
  cell_columns_ = cell_columns(sampling_);
  colours_.configure(desc);
  const int tiles = params_.tiles_x * params_.tiles_y;
  makers_.configure(tiles, yuv_.luma_max);
  levels_.assign(static_cast<std::size_t>(tiles), TileLevels{});
  columns_ = TileAxis(params_.tiles_x, cells_.columns);
  rows_ = TileAxis(params_.tiles_y, cells_.rows);
  bands_ = split_tile_rows(rows_, params_.tiles_x, executor_.threads());
  order_weights();
  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    scratch->tables.resize(static_cast<std::size_t>(params_.tiles_x));
    scratch->mixed.resize(static_cast<std::size_t>(params_.tiles_x));
    if (yuv) scratch->line.configure(desc);
    scratch->pixels.resize(yuv ? 0 : row_bytes(desc, 0));
    scratch_.push_back(std::move(scratch));
  }
  reset();
}

/// The weights of the spans as the loops want them.
void ClaheChain::order_weights() {
  const TileSpans spans(columns_);
  spans_ = spans.spans;
  weights_at_.clear();
  weights_.clear();
  const WeightOrder order =
      traits(desc_.format).step[0] == 3 ? WeightOrder::packed3 : WeightOrder::others;
  std::vector<std::uint16_t> of_right;
  for (const TileSpan& span : spans_) {
    of_right.clear();
    for (int pixel = span.begin * cell_columns_;
         pixel < std::min(span.end * cell_columns_, desc_.width); ++pixel) {
      of_right.push_back(spans.weight[static_cast<std::size_t>(pixel / cell_columns_)]);
    }
    weights_at_.push_back(weights_.size());
    weights_.resize(weights_.size() + weight_room(of_right.size()));
    loops_.tiles.order_weights(order, of_right.data(), of_right.size(),
                               weights_.data() + weights_at_.back());
  }
}

void ClaheChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  StageClock clock(context.timings);
  interlaced_ = context.field_order != FieldOrder::progressive;
  const Job job{this, in, out, in.data[0] != out.data[0] && tight_bytes(desc_) > kStreamingBytes};
  executor_.for_rows(static_cast<int>(bands_.size()), [&job](int begin, int end, int slot) {
    ClaheChain& chain = *job.chain;
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
    ClaheChain& chain = *job.chain;
    for (int line = begin; line < end; ++line) {
      chain.apply_line(job, line, *chain.scratch_[static_cast<std::size_t>(slot)]);
    }
    chain.loops_.flush_stores();
  });
  clock.lap("apply");
}

void ClaheChain::update(const ClaheParams& params) {
  control_.update(params.curve);
  params_ = params;
}

std::string ClaheChain::save() const {
  return makers_.save(params_, control_);
}

void ClaheChain::load(std::string_view state) {
  makers_.load(state, params_, control_);
}

LumaRows ClaheChain::luma_rows(int line) const {
  return luma_rows_of(sampling_, line, desc_.height, interlaced_);
}

TileSpan ClaheChain::tile_cells(int column) const {
  const auto at = static_cast<std::size_t>(column);
  return {columns_.edge[at], columns_.edge[at + 1], column, column};
}

/// Counts some cells of a line; those that come next are brought into the caches meanwhile.
void ClaheChain::count_cells(const ConstImageView& in, int line, TileSpan cells, int next_line,
                             TileSpan next_cells, SingleTables& tables, Scratch& scratch) const {
  const FormatTraits& t = traits(desc_.format);
  const Counters counters{tables, nullptr};
  const int first = cells.begin * cell_columns_;
  const auto n = static_cast<std::size_t>(std::min(cells.end * cell_columns_, desc_.width) - first);
  if (t.model == ColorModel::yuv) {
    const LumaRows rows = luma_rows(line);
    const auto begin = [](TileSpan span) { return static_cast<std::size_t>(span.begin); };
    const auto count = [](TileSpan span) {
      return static_cast<std::size_t>(span.end - span.begin);
    };
    loops_.count_yuv(sampling_of_line(sampling_, rows), yuv_,
                     scratch.line.read(loops_, in, line, rows, begin(cells), count(cells)), n,
                     PlanarLine::bytes(in, next_line, luma_rows(next_line), begin(next_cells),
                                       count(next_cells)),
                     counters);
    return;
  }
  const std::uint8_t* row = in.row(0, line) + std::ptrdiff_t{first} * t.step[0];
  const std::uint8_t* ahead = in.row(0, next_line) + std::ptrdiff_t{next_cells.begin} * t.step[0];
  loops_.count_pixels(rgb_layout(desc_.format), row, n, ahead, counters);
}

void ClaheChain::count_band(const ConstImageView& in, TileBand& band, Scratch& scratch) const {
  for (int first = band.first_line; first < band.end_line; first += kLinesAtATime) {
    const int end = std::min(first + kLinesAtATime, band.end_line);
    for (int x = 0; x < columns_.tiles; ++x) {
      const bool last = x + 1 == columns_.tiles;
      const TileSpan next = tile_cells(last ? 0 : x + 1);
      for (int line = first; line < end; ++line) {
        const int next_line = last ? std::min(line + kLinesAtATime, cells_.rows - 1) : line;
        count_cells(in, line, tile_cells(x), next_line, next,
                    scratch.tables[static_cast<std::size_t>(x)], scratch);
      }
    }
  }
  for (std::size_t x = 0; x < band.counts.size(); ++x) {
    band.counts[x].fill(0);
    loops_.fold({scratch.tables[x], nullptr}, band.counts[x]);
  }
}

void ClaheChain::make_curve(int tile, const tone::Frame& frame) {
  const CurveTable curve = makers_.make(tile, tile_counts(bands_, params_.tiles_x, tile), frame);
  if (frame.saturation.most != saturation::kOne) curves_[static_cast<std::size_t>(tile)] = curve;
  TileLevels& levels = levels_[static_cast<std::size_t>(tile)];
  for (std::uint32_t v = 0; v <= static_cast<std::uint32_t>(yuv_.luma_max); ++v)
    levels.level[v] = static_cast<std::uint16_t>(tiles::curve_level(v, curve[v]));
}

void ClaheChain::set_colours(const saturation::Rule& rule) {
  if (rule.most == saturation::kOne) return colours_.set(rule);
  colours_.set(rule, mean_curve(curves_, yuv_.luma_max).data());
}

/// Mixes every tile column's curves above and below a line.
void ClaheChain::mix_line(int line, Scratch& scratch) const {
  const int row = rows_.first[static_cast<std::size_t>(line)];
  const int weight = rows_.weight[static_cast<std::size_t>(line)];
  if (row == scratch.mixed_row && weight == scratch.mixed_weight) return;
  scratch.mixed_row = row;
  scratch.mixed_weight = weight;
  const auto columns = static_cast<std::size_t>(params_.tiles_x);
  const TileLevels* above = levels_.data() + static_cast<std::size_t>(row) * columns;
  const TileLevels* below = levels_.data() + static_cast<std::size_t>(rows_.second(line)) * columns;
  for (std::size_t x = 0; x < columns; ++x)
    loops_.tiles.mix(above[x], below[x], weight, scratch.mixed[x]);
}

void ClaheChain::apply_line(const Job& job, int line, Scratch& scratch) const {
  mix_line(line, scratch);
  if (traits(desc_.format).model == ColorModel::yuv) {
    apply_yuv(job, line, scratch);
  } else {
    apply_packed(job, line, scratch);
  }
}

void ClaheChain::apply_packed(const Job& job, int line, Scratch& scratch) const {
  const RgbLayout at = rgb_layout(desc_.format);
  const TileRows& loops = loops_.tiles;
  const std::uint8_t* in = job.in.row(0, line);
  const bool apart = job.streams || colours_.active();
  std::uint8_t* out = apart ? scratch.pixels.data() : job.out.row(0, line);
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const TileSpan& span = spans_[s];
    const MixedLevels& left = scratch.mixed[static_cast<std::size_t>(span.left)];
    const MixedLevels& right = scratch.mixed[static_cast<std::size_t>(span.right)];
    const std::uint32_t* weights = weights_.data() + weights_at_[s];
    const auto n = static_cast<std::size_t>(span.end - span.begin);
    const std::ptrdiff_t begin = std::ptrdiff_t{span.begin} * at.step;
    switch (at.step) {
      case 1:
        loops.apply_gray(left, right, weights, in + begin, n, out + begin);
        break;
      case 3:
        loops.apply_rgb3(left, right, weights, in + begin, n, out + begin);
        break;
      default:
        loops.apply_rgb4(left, right, weights, in + begin, n, at.first(), out + begin);
        break;
    }
  }
  if (colours_.active()) {
    colours_.apply_rgb(job.streams ? Stores::streaming : Stores::cached, out,
                       static_cast<std::size_t>(desc_.width), job.out.row(0, line));
  } else if (job.streams) {
    loops.stream_row(out, row_bytes(desc_, 0), job.out.row(0, line));
  }
}

void ClaheChain::apply_yuv(const Job& job, int line, Scratch& scratch) const {
  const LumaRows rows = luma_rows(line);
  const auto cells = static_cast<std::size_t>(cells_.columns);
  const YuvRowIn in = scratch.line.read(loops_, job.in, line, rows, 0, cells);
  const bool streams = job.streams && traits(desc_.format).planes == 3;
  const bool apart = streams || colours_.active();
  const YuvRowOut out = apart ? scratch.line.own() : scratch.line.results(job.out, line, rows);
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const TileSpan& span = spans_[s];
    const auto c = static_cast<std::size_t>(span.begin);
    const std::size_t x = c * static_cast<std::size_t>(cell_columns_);
    const std::size_t end = std::min(static_cast<std::size_t>(span.end * cell_columns_),
                                     static_cast<std::size_t>(desc_.width));
    loops_.tiles.apply_yuv(sampling_, yuv_, scratch.mixed[static_cast<std::size_t>(span.left)],
                           scratch.mixed[static_cast<std::size_t>(span.right)],
                           weights_.data() + weights_at_[s],
                           {{in.luma[0] + x, in.luma[1] + x}, in.cb + c, in.cr + c}, end - x,
                           {{out.luma[0] + x, out.luma[1] + x}, out.cb + c, out.cr + c});
  }
  const auto width = static_cast<std::size_t>(desc_.width);
  if (colours_.active()) {
    colours_.apply_yuv(streams ? Stores::streaming : Stores::cached, out, width,
                       scratch.line.results(job.out, line, rows));
  }
  if (!streams || colours_.active()) return scratch.line.write(loops_, job.out, line);
  const TileRows& loops = loops_.tiles;
  loops.stream_row(out.luma[0], width, job.out.row(0, rows.first));
  if (rows.second != rows.first) loops.stream_row(out.luma[1], width, job.out.row(0, rows.second));
  loops.stream_row(out.cb, cells, job.out.row(1, line));
  loops.stream_row(out.cr, cells, job.out.row(2, line));
}

}  // namespace equalux
