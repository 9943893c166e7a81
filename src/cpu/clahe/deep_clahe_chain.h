#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/tile_chain.h"
#include "src/clahe/tile_grid.h"
#include "src/cpu/clahe/deep_tile_rows.h"
#include "src/cpu/clahe/tile_makers.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/deep/deep_saturation_pass.h"
#include "src/cpu/equalize/fused/fused_rows.h"

/// Adaptive equalization of frames of more than 8 bits on the CPU: coarse histograms of tiles, a
/// curve for each, and a second pass that mixes them. A line is a row of cells (tile_grid.h).
namespace equalux {

/// One thread at a time.
class DeepClaheChain final : public TileChain {
 public:
  /// The loops outlive the chain.
  DeepClaheChain(const ClaheParams& params, RowExecutor& executor,
                 const DeepTileRows& loops = deep_tile_rows(),
                 const FusedRows& counting = fused_rows(), const DeepRows& colouring = deep_rows());
  ~DeepClaheChain() override;

  /// Allocates for frames of `desc`, any format of more than 8 bits with at least as many cells as
  /// tiles.
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
  void prepare_colours();
  void count_band(const ConstImageView& in, TileBand& band, Scratch& scratch) const;
  void read_coarse(const ConstImageView& in, int line, std::uint8_t* levels) const;
  void make_curve(int tile, const tone::Frame& frame);
  /// What the pass after the tiles does with a frame's colours.
  void set_colours(const saturation::Rule& rule);
  void mix_line(int line, Scratch& scratch) const;
  void apply_line(const Job& job, int line, Scratch& scratch) const;
  void apply_pixels(const Job& job, int line, Scratch& scratch) const;
  void apply_yuv(const Job& job, int line, Scratch& scratch) const;
  [[nodiscard]] LumaRows luma_rows(int line) const;
  /// Pixels of columns of cells, in luma where there is chroma.
  [[nodiscard]] std::size_t first_pixel(int cell) const;

  ClaheParams params_;
  RowExecutor& executor_;
  const DeepTileRows& loops_;
  const FusedRows& counting_;
  ImageDesc desc_;
  deep_tiles::Form form_{};
  Sampling sampling_ = Sampling::gray;
  bool interlaced_ = false;
  CellCount cells_{};
  TileAxis columns_;
  TileAxis rows_;
  std::vector<TileSpan> spans_;
  std::vector<std::size_t> weights_at_;  // by span
  std::vector<std::uint32_t> weights_;   // of all spans, as the loops want them
  std::vector<TileBand> bands_;
  TileMakers makers_;
  std::vector<DeepTileLevels> levels_;             // by tile, row after row
  std::vector<CurveTable> curves_;                 // likewise, where colours follow them
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by slot
  tone::Control control_;
  DeepSaturationPass colours_;
};

}  // namespace equalux
