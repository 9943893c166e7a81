#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/tile_chain.h"
#include "src/clahe/tile_grid.h"
#include "src/common/stage_clock.h"
#include "src/cpu/clahe/tile_makers.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/common/stores.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/equalize/saturation.h"
#include "src/equalize/tone/tone_control.h"
#include "src/format/layout.h"

/// Common part of the CPU's chains of tiles at every depth: histograms of tiles, counted in bands,
/// a curve for each tile, and a second pass that mixes the curves line by line. A line is a row of
/// cells (tile_grid.h).
namespace equalux {

/// Chain of tiles. `Depth` defines what its samples need:
/// - `Levels`, a tile's curve, whose `level[i]` is `curve_level(i, W)`;
/// - `Mixed`, a mix of two of them;
/// - `Colours`, the second step of saturation;
/// - `Rows`, row buffers of one thread.
///
/// One thread at a time.
template <typename Depth>
class CpuTileChain : public TileChain {
 public:
  void process(const ConstImageView& in, const ImageView& out, const FrameContext& context) final;
  void update(const ClaheParams& params) final;
  void reset() final { control_.reset(); }
  [[nodiscard]] std::string save() const final { return makers_.save(params_, control_); }
  void load(std::string_view state) final { makers_.load(state, params_, control_); }

 protected:
  using Levels = typename Depth::Levels;
  using Mixed = typename Depth::Mixed;

  /// Memory of one thread.
  struct Scratch {
    std::vector<SingleTables> tables;  // by column of tiles; 0 between bands
    std::vector<Mixed> mixed;          // by column of tiles, for the present line
    int mixed_row = -1;                // row of tiles and weight that `mixed` is of; -1 = none
    int mixed_weight = 0;
    typename Depth::Rows rows;
  };
  struct Job {
    const ConstImageView& in;
    const ImageView& out;
    bool streams;  // results are streamed
  };

  /// Makes a chain; the loops must outlive it. `counting` has the loops that count bands.
  template <typename ColourLoops>
  CpuTileChain(const ClaheParams& params, RowExecutor& executor, const FusedRows& counting,
               const ColourLoops& colouring)
      : params_(params),
        executor_(executor),
        counting_(counting),
        colours_(colouring),
        control_(params.curve) {}

  /// Allocates for frames of `desc`, with curves of levels up to `max_value`; `Rows` are left to
  /// the depth. Forgets earlier frames.
  void configure_tiles(const ImageDesc& desc, int max_value);

  /// Appends the weights of a span's pixels in the order of the loops.
  virtual void order_span(const std::vector<std::uint16_t>& of_right,
                          std::vector<std::uint32_t>& weights) const = 0;
  /// Counts a band of lines, tile by tile, in the scratch's tables.
  virtual void count_lines(const ConstImageView& in, const TileBand& band,
                           Scratch& scratch) const = 0;
  /// Mixes two tiles; the lower one has a weight of so many 256ths.
  virtual void mix(const Levels& above, const Levels& below, int of_below, Mixed& mixed) const = 0;
  /// Write a line of the result.
  virtual void apply_pixels(const Job& job, int line, Scratch& scratch) const = 0;
  virtual void apply_yuv(const Job& job, int line, Scratch& scratch) const = 0;

  [[nodiscard]] LumaRows luma_rows(int line) const {
    return luma_rows_of(sampling_, line, desc_.height, interlaced_);
  }
  /// Returns the first pixel, or luma column, of a column of cells.
  [[nodiscard]] std::size_t first_pixel(int cell) const {
    return static_cast<std::size_t>(std::min(cell * cell_columns(sampling_), desc_.width));
  }
  [[nodiscard]] bool is_yuv() const { return traits(desc_.format).model == ColorModel::yuv; }

  ClaheParams params_;
  RowExecutor& executor_;
  const FusedRows& counting_;
  ImageDesc desc_;
  Sampling sampling_ = Sampling::gray;
  bool interlaced_ = false;
  CellCount cells_{};
  TileAxis columns_;
  TileAxis rows_;
  std::vector<TileSpan> spans_;
  std::vector<std::size_t> weights_at_;            // by span
  std::vector<std::uint32_t> weights_;             // of all spans, in the order of the loops
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread
  typename Depth::Colours colours_;

 private:
  void order_weights();
  /// Allocates for the second step of saturation, before frames need it.
  void prepare_colours();
  void count_band(const ConstImageView& in, TileBand& band, Scratch& scratch) const;
  void make_curve(int tile, const tone::Frame& frame);
  /// Sets the rule of the second step for a frame.
  void set_colours(const saturation::Rule& rule);
  void mix_line(int line, Scratch& scratch) const;
  void apply_line(const Job& job, int line, Scratch& scratch) const;

  int max_value_ = 255;  // largest level of the curves
  std::vector<TileBand> bands_;
  TileMakers makers_;
  std::vector<Levels> levels_;      // by tile, row by row
  std::vector<CurveTable> curves_;  // as levels_, where k depends on the curves
  tone::Control control_;
};

template <typename Depth>
void CpuTileChain<Depth>::configure_tiles(const ImageDesc& desc, int max_value) {
  desc_ = desc;
  max_value_ = max_value;
  sampling_ = sampling_of(desc.format);
  cells_ = cells_of(desc);
  columns_ = TileAxis(params_.tiles_x, cells_.columns);
  rows_ = TileAxis(params_.tiles_y, cells_.rows);
  const int tiles = params_.tiles_x * params_.tiles_y;
  makers_.configure(tiles, max_value);
  levels_.assign(static_cast<std::size_t>(tiles), Levels{});
  colours_.configure(desc);
  prepare_colours();
  bands_ = split_tile_rows(rows_, params_.tiles_x, executor_.threads());
  order_weights();
  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    scratch_.push_back(std::make_unique<Scratch>());
    scratch_.back()->tables.resize(static_cast<std::size_t>(params_.tiles_x));
    scratch_.back()->mixed.resize(static_cast<std::size_t>(params_.tiles_x));
  }
  reset();
}

template <typename Depth>
void CpuTileChain<Depth>::order_weights() {
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
    order_span(of_right, weights_);
  }
}

template <typename Depth>
void CpuTileChain<Depth>::prepare_colours() {
  if (params_.curve.saturation == 1) return;
  colours_.prepare();
  curves_.resize(levels_.size());
}

template <typename Depth>
void CpuTileChain<Depth>::process(const ConstImageView& in, const ImageView& out,
                                  const FrameContext& context) {
  StageClock clock(context.timings);
  interlaced_ = context.field_order != FieldOrder::progressive;
  const Job job{in, out, in.data[0] != out.data[0] && tight_bytes(desc_) > kStreamingBytes};
  executor_.for_rows(static_cast<int>(bands_.size()), [this, &in](int begin, int end, int slot) {
    for (int i = begin; i < end; ++i) {
      count_band(in, bands_[static_cast<std::size_t>(i)],
                 *scratch_[static_cast<std::size_t>(slot)]);
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
  executor_.for_rows(cells_.rows, [this, &job](int begin, int end, int slot) {
    for (int line = begin; line < end; ++line)
      apply_line(job, line, *scratch_[static_cast<std::size_t>(slot)]);
    counting_.flush_stores();
  });
  clock.lap("apply");
}

template <typename Depth>
void CpuTileChain<Depth>::update(const ClaheParams& params) {
  control_.update(params.curve);
  params_ = params;
  prepare_colours();
}

template <typename Depth>
void CpuTileChain<Depth>::count_band(const ConstImageView& in, TileBand& band,
                                     Scratch& scratch) const {
  count_lines(in, band, scratch);
  for (std::size_t x = 0; x < band.counts.size(); ++x) {
    band.counts[x].fill(0);
    counting_.fold({scratch.tables[x], nullptr}, band.counts[x]);
  }
}

template <typename Depth>
void CpuTileChain<Depth>::make_curve(int tile, const tone::Frame& frame) {
  const CurveTable curve = makers_.make(tile, tile_counts(bands_, params_.tiles_x, tile), frame);
  if (frame.saturation.most != saturation::kOne) curves_[static_cast<std::size_t>(tile)] = curve;
  Levels& levels = levels_[static_cast<std::size_t>(tile)];
  for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(max_value_); ++i)
    levels.level[i] = static_cast<std::uint16_t>(Depth::curve_level(i, curve[i]));
}

template <typename Depth>
void CpuTileChain<Depth>::set_colours(const saturation::Rule& rule) {
  if (rule.most == saturation::kOne) return colours_.set(rule);
  colours_.set(rule, mean_curve(curves_, max_value_).data());
}

/// Mixes the curves above and below a line for every column of tiles.
template <typename Depth>
void CpuTileChain<Depth>::mix_line(int line, Scratch& scratch) const {
  const int row = rows_.first[static_cast<std::size_t>(line)];
  const int weight = rows_.weight[static_cast<std::size_t>(line)];
  if (row == scratch.mixed_row && weight == scratch.mixed_weight) return;
  scratch.mixed_row = row;
  scratch.mixed_weight = weight;
  const auto columns = static_cast<std::size_t>(params_.tiles_x);
  const Levels* above = levels_.data() + static_cast<std::size_t>(row) * columns;
  const Levels* below = levels_.data() + static_cast<std::size_t>(rows_.second(line)) * columns;
  for (std::size_t x = 0; x < columns; ++x)
    mix(above[x], below[x], weight, scratch.mixed[x]);
}

template <typename Depth>
void CpuTileChain<Depth>::apply_line(const Job& job, int line, Scratch& scratch) const {
  mix_line(line, scratch);
  if (is_yuv()) {
    apply_yuv(job, line, scratch);
  } else {
    apply_pixels(job, line, scratch);
  }
}

}  // namespace equalux
