#include "src/cpu/clahe/deep_clahe_chain.h"

#include <algorithm>

namespace equalux {
namespace {

/// Lines whose coarse levels are computed before they are counted tile by tile: enough that a
/// tile's counters are not fetched for each line, and few enough to stay in the caches.
constexpr int kCoarseLines = 8;

}  // namespace

DeepClaheChain::DeepClaheChain(const ClaheParams& params, RowExecutor& executor,
                               const DeepTileRows& loops, const FusedRows& counting,
                               const DeepRows& colouring)
    : CpuTileChain(params, executor, counting, colouring), loops_(loops) {}

void DeepClaheChain::configure(const ImageDesc& desc) {
  form_ = deep_tiles::form_of(desc);
  configure_tiles(desc, static_cast<int>(coarse_max(form_.samples)));
  for (const auto& scratch : scratch_) {
    scratch->rows.coarse.resize(static_cast<std::size_t>(kCoarseLines * cell_rows(sampling_)) *
                                static_cast<std::size_t>(desc.width));
    scratch->rows.results.resize(4 * row_bytes(desc, 0) + 8);
  }
}

void DeepClaheChain::order_span(const std::vector<std::uint16_t>& of_right,
                                std::vector<std::uint32_t>& weights) const {
  const std::size_t at = weights.size();
  weights.resize(at + deep_weight_room(of_right.size()));
  loops_.order_weights(of_right.data(), of_right.size(), weights.data() + at);
}

void DeepClaheChain::mix(const DeepTileLevels& above, const DeepTileLevels& below, int of_below,
                         DeepTileLevels& mixed) const {
  loops_.mix(above, below, static_cast<std::uint32_t>(of_below), mixed);
}

/// Computes the coarse levels of a line, one row of luma after the other.
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

void DeepClaheChain::count_lines(const ConstImageView& in, const TileBand& band,
                                 Scratch& scratch) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int first = band.first_line; first < band.end_line; first += kCoarseLines) {
    const int end = std::min(first + kCoarseLines, band.end_line);
    std::size_t rows = 0;
    for (int line = first; line < end; ++line) {
      read_coarse(in, line, scratch.rows.coarse.data() + rows * width);
      const LumaRows luma = luma_rows(line);
      rows += is_yuv() && luma.first != luma.second ? 2 : 1;
    }
    for (std::size_t tile = 0; tile < scratch.tables.size(); ++tile) {
      const std::size_t begin = first_pixel(columns_.edge[tile]);
      const std::size_t n = first_pixel(columns_.edge[tile + 1]) - begin;
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* levels = scratch.rows.coarse.data() + row * width + begin;
        counting_.count_gray(levels, n, levels, {scratch.tables[tile], nullptr});
      }
    }
  }
}

void DeepClaheChain::apply_pixels(const Job& job, int line, Scratch& scratch) const {
  const RgbLayout at = rgb_layout(desc_.format);
  const std::uint8_t* in = job.in.row(0, line);
  const bool apart = job.streams || colours_.active();
  std::uint8_t* out = apart ? scratch.rows.results.data() : job.out.row(0, line);
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
    std::uint8_t* const own = scratch.rows.results.data();
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
