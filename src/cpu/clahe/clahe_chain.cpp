#include "src/cpu/clahe/clahe_chain.h"

#include <algorithm>

namespace equalux {
namespace {

/// Lines of one tile that are counted before the next tile's: enough that a tile's counters are not
/// fetched for each line, and few enough that prefetched pixels stay in the caches.
constexpr int kLinesAtATime = 8;

}  // namespace

ClaheChain::ClaheChain(const ClaheParams& params, RowExecutor& executor, const FusedRows& loops)
    : CpuTileChain(params, executor, loops, loops), loops_(loops) {}

void ClaheChain::configure(const ImageDesc& desc) {
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  yuv_ = yuv ? yuv_weights(desc.matrix, desc.range) : YuvWeights{0, 255, 0, 0, 0, 0};
  configure_tiles(desc, yuv_.luma_max);
  for (const auto& scratch : scratch_) {
    if (yuv) scratch->rows.line.configure(desc);
    scratch->rows.pixels.resize(yuv ? 0 : row_bytes(desc, 0));
  }
}

void ClaheChain::order_span(const std::vector<std::uint16_t>& of_right,
                            std::vector<std::uint32_t>& weights) const {
  const WeightOrder order =
      traits(desc_.format).step[0] == 3 ? WeightOrder::packed3 : WeightOrder::others;
  const std::size_t at = weights.size();
  weights.resize(at + weight_room(of_right.size()));
  loops_.tiles.order_weights(order, of_right.data(), of_right.size(), weights.data() + at);
}

void ClaheChain::mix(const TileLevels& above, const TileLevels& below, int of_below,
                     MixedLevels& mixed) const {
  loops_.tiles.mix(above, below, of_below, mixed);
}

TileSpan ClaheChain::tile_cells(int column) const {
  const auto at = static_cast<std::size_t>(column);
  return {columns_.edge[at], columns_.edge[at + 1], column, column};
}

/// Counts some cells of a line and prefetches the next ones.
void ClaheChain::count_cells(const ConstImageView& in, int line, TileSpan cells, int next_line,
                             TileSpan next_cells, SingleTables& tables, Scratch& scratch) const {
  const Counters counters{tables, nullptr};
  const std::size_t first = first_pixel(cells.begin);
  const std::size_t n = first_pixel(cells.end) - first;
  if (is_yuv()) {
    const LumaRows rows = luma_rows(line);
    const auto begin = [](TileSpan span) { return static_cast<std::size_t>(span.begin); };
    const auto count = [](TileSpan span) {
      return static_cast<std::size_t>(span.end - span.begin);
    };
    loops_.count_yuv(sampling_of_line(sampling_, rows), yuv_,
                     scratch.rows.line.read(loops_, in, line, rows, begin(cells), count(cells)), n,
                     PlanarLine::bytes(in, next_line, luma_rows(next_line), begin(next_cells),
                                       count(next_cells)),
                     counters);
    return;
  }
  const std::ptrdiff_t step = traits(desc_.format).step[0];
  const std::uint8_t* row = in.row(0, line) + static_cast<std::ptrdiff_t>(first) * step;
  const std::uint8_t* ahead = in.row(0, next_line) + next_cells.begin * step;
  loops_.count_pixels(rgb_layout(desc_.format), row, n, ahead, counters);
}

void ClaheChain::count_lines(const ConstImageView& in, const TileBand& band,
                             Scratch& scratch) const {
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
}

void ClaheChain::apply_pixels(const Job& job, int line, Scratch& scratch) const {
  const RgbLayout at = rgb_layout(desc_.format);
  const TileRows& loops = loops_.tiles;
  const std::uint8_t* in = job.in.row(0, line);
  const bool apart = job.streams || colours_.active();
  std::uint8_t* out = apart ? scratch.rows.pixels.data() : job.out.row(0, line);
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
  const YuvRowIn in = scratch.rows.line.read(loops_, job.in, line, rows, 0, cells);
  const bool streams = job.streams && traits(desc_.format).planes == 3;
  const bool apart = streams || colours_.active();
  const YuvRowOut out =
      apart ? scratch.rows.line.own() : scratch.rows.line.results(job.out, line, rows);
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const TileSpan& span = spans_[s];
    const auto c = static_cast<std::size_t>(span.begin);
    const std::size_t x = first_pixel(span.begin);
    const std::size_t end = first_pixel(span.end);
    loops_.tiles.apply_yuv(sampling_, yuv_, scratch.mixed[static_cast<std::size_t>(span.left)],
                           scratch.mixed[static_cast<std::size_t>(span.right)],
                           weights_.data() + weights_at_[s],
                           {{in.luma[0] + x, in.luma[1] + x}, in.cb + c, in.cr + c}, end - x,
                           {{out.luma[0] + x, out.luma[1] + x}, out.cb + c, out.cr + c});
  }
  const auto width = static_cast<std::size_t>(desc_.width);
  if (colours_.active()) {
    colours_.apply_yuv(streams ? Stores::streaming : Stores::cached, out, width,
                       scratch.rows.line.results(job.out, line, rows));
  }
  if (!streams || colours_.active()) return scratch.rows.line.write(loops_, job.out, line);
  const TileRows& loops = loops_.tiles;
  loops.stream_row(out.luma[0], width, job.out.row(0, rows.first));
  if (rows.second != rows.first) loops.stream_row(out.luma[1], width, job.out.row(0, rows.second));
  loops.stream_row(out.cb, cells, job.out.row(1, line));
  loops.stream_row(out.cr, cells, job.out.row(2, line));
}

}  // namespace equalux
