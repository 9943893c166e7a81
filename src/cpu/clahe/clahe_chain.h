#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/tile_chain.h"
#include "src/clahe/tile_grid.h"
#include "src/cpu/clahe/tile_makers.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/saturation_pass.h"
#include "src/equalize/tone_control.h"

/// Adaptive equalization on the CPU: histograms of tiles, a curve for each, and a second pass that
/// mixes them. A line is a row of cells (tile_grid.h).
namespace equalux {

/// One thread at a time.
class ClaheChain final : public TileChain {
 public:
  /// `loops` outlive the chain.
  ClaheChain(const ClaheParams& params, RowExecutor& executor, const FusedRows& loops);
  ~ClaheChain() override;

  /// Allocates for frames of `desc`, any 8-bit format with at least as many cells as tiles.
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

  void update(const ClaheParams& params) override;
  void reset() override { control_.reset(); }
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;

 private:
  struct Scratch;
  struct Job;
  void order_weights();
  void count_band(const ConstImageView& in, TileBand& band, Scratch& scratch) const;
  void count_cells(const ConstImageView& in, int line, TileSpan cells, int next_line,
                   TileSpan next_cells, SingleTables& tables, Scratch& scratch) const;
  void make_curve(int tile, const tone::Frame& frame);
  /// What the pass after the tiles does with a frame's colours.
  void set_colours(const saturation::Rule& rule);
  void apply_line(const Job& job, int line, Scratch& scratch) const;
  void mix_line(int line, Scratch& scratch) const;
  void apply_packed(const Job& job, int line, Scratch& scratch) const;
  void apply_yuv(const Job& job, int line, Scratch& scratch) const;
  [[nodiscard]] LumaRows luma_rows(int line) const;
  [[nodiscard]] TileSpan tile_cells(int column) const;

  ClaheParams params_;
  RowExecutor& executor_;
  const FusedRows& loops_;
  ImageDesc desc_;
  YuvWeights yuv_{};
  Sampling sampling_ = Sampling::gray;
  bool interlaced_ = false;
  CellCount cells_{};
  int cell_columns_ = 1;  ///< luma samples of a cell's row
  TileAxis columns_;
  TileAxis rows_;
  std::vector<TileSpan> spans_;
  std::vector<std::size_t> weights_at_;  // by span
  std::vector<std::uint32_t> weights_;   // of all spans, as the loops want them
  std::vector<TileBand> bands_;
  TileMakers makers_;
  std::vector<TileLevels> levels_;                 // by tile, row after row
  std::vector<CurveTable> curves_;                 // the same, where k follows them
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by slot
  tone::Control control_;
  SaturationPass colours_;
};

}  // namespace equalux
