#pragma once

#include <cstdint>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/tile_curves.h"
#include "src/cpu/clahe/cpu_tile_chain.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/fused/planar_line.h"
#include "src/cpu/equalize/saturation_pass.h"

/// Adaptive equalization of 8-bit frames on the CPU.
namespace equalux {

struct ByteTiles {
  using Levels = TileLevels;
  using Mixed = MixedLevels;
  using Colours = SaturationPass;
  /// Row buffers: deinterleaved input, or output before it is streamed.
  struct Rows {
    PlanarLine line;
    std::vector<std::uint8_t> pixels;
  };
  static std::uint32_t curve_level(std::uint32_t v, std::uint32_t curve) {
    return tiles::curve_level(v, curve);
  }
};

/// Chain for 8-bit formats. One thread at a time.
class ClaheChain final : public CpuTileChain<ByteTiles> {
 public:
  /// Makes a chain; `loops` must outlive it.
  ClaheChain(const ClaheParams& params, RowExecutor& executor, const FusedRows& loops);

  /// Allocates for frames of `desc`, of any 8-bit format with at least as many cells as tiles.
  void configure(const ImageDesc& desc) override;

 private:
  void order_span(const std::vector<std::uint16_t>& of_right,
                  std::vector<std::uint32_t>& weights) const override;
  void count_lines(const ConstImageView& in, const TileBand& band, Scratch& scratch) const override;
  void count_cells(const ConstImageView& in, int line, TileSpan cells, int next_line,
                   TileSpan next_cells, SingleTables& tables, Scratch& scratch) const;
  /// Returns a tile's cells of a line.
  [[nodiscard]] TileSpan tile_cells(int column) const;
  void mix(const TileLevels& above, const TileLevels& below, int of_below,
           MixedLevels& mixed) const override;
  void apply_pixels(const Job& job, int line, Scratch& scratch) const override;
  void apply_yuv(const Job& job, int line, Scratch& scratch) const override;

  const FusedRows& loops_;
  YuvWeights yuv_{0, 255, 0, 0, 0, 0};
};

}  // namespace equalux
