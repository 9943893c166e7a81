#pragma once

#include <cstdint>
#include <vector>

#include <equalux/clahe.h>

#include "src/cpu/clahe/cpu_tile_chain.h"
#include "src/cpu/clahe/deep_tile_rows.h"
#include "src/cpu/equalize/deep/deep_saturation_pass.h"
#include "src/cpu/equalize/fused/fused_rows.h"

/// Adaptive equalization of frames of more than 8 bits on the CPU. Histograms and curves are of
/// coarse levels.
namespace equalux {

struct DeepTiles {
  using Levels = DeepTileLevels;
  using Mixed = DeepTileLevels;
  using Colours = DeepSaturationPass;
  struct Rows {
    std::vector<std::uint8_t> coarse;   ///< coarse levels of some lines, row by row
    std::vector<std::uint8_t> results;  ///< before they are streamed: four rows of plane 0
  };
  static std::uint32_t curve_level(std::uint32_t level, std::uint32_t curve) {
    return deep_tiles::curve_level(level, curve);
  }
};

/// Chain for formats of more than 8 bits. One thread at a time.
class DeepClaheChain final : public CpuTileChain<DeepTiles> {
 public:
  /// Makes a chain; the loops must outlive it.
  DeepClaheChain(const ClaheParams& params, RowExecutor& executor,
                 const DeepTileRows& loops = deep_tile_rows(),
                 const FusedRows& counting = fused_rows(), const DeepRows& colouring = deep_rows());

  /// Allocates for frames of `desc`, of any format of more than 8 bits with at least as many cells
  /// as tiles.
  void configure(const ImageDesc& desc) override;

 private:
  void order_span(const std::vector<std::uint16_t>& of_right,
                  std::vector<std::uint32_t>& weights) const override;
  void count_lines(const ConstImageView& in, const TileBand& band, Scratch& scratch) const override;
  void read_coarse(const ConstImageView& in, int line, std::uint8_t* levels) const;
  void mix(const DeepTileLevels& above, const DeepTileLevels& below, int of_below,
           DeepTileLevels& mixed) const override;
  void apply_pixels(const Job& job, int line, Scratch& scratch) const override;
  void apply_yuv(const Job& job, int line, Scratch& scratch) const override;

  const DeepTileRows& loops_;
  deep_tiles::Form form_{};
};

}  // namespace equalux
