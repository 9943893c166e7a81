#pragma once

#include <cstdint>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/opencv_tiles.h"
#include "src/clahe/tile_chain.h"
#include "src/cpu/clahe/opencv_rows.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/fused/fused_rows.h"

/// Filter `clahe` with the bytes of cv::createCLAHE, on the CPU.
namespace equalux {

/// Chain for gray8 and gray16_le. One thread at a time.
class OpencvClaheChain final : public TileChain {
 public:
  /// Makes a chain; the loops must outlive it.
  OpencvClaheChain(const ClaheParams& params, RowExecutor& executor,
                   const FusedRows& counting = fused_rows(),
                   const OpencvRows& mixing = opencv_rows());

  /// Allocates for frames of `desc`, gray8 or gray16_le.
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const ClaheParams& params) override;

 private:
  /// Run of pixels between the same two columns of tiles.
  struct Span {
    int begin;
    int end;
    std::size_t left;
    std::size_t right;
  };
  struct Scratch {
    SingleTables tables{};              // 8 bits; 0 between tiles
    std::vector<std::uint32_t> counts;  // by level; 0 between tiles
    std::vector<std::uint32_t> quads;   // 8 bits: tables of OpencvRows, 256 entries for each span
    std::size_t above = 0;              // row of tiles above, that quads are made of
    std::size_t below = 0;
    bool mixed = false;  // quads are of this frame
  };

  void count_tile(const ConstImageView& in, int tile, Scratch& scratch) const;
  void make_table(int tile, Scratch& scratch);
  void apply_row(const ConstImageView& in, const ImageView& out, int y, Scratch& scratch) const;
  void take_quads(std::size_t above, std::size_t below, Scratch& scratch) const;

  ClaheParams params_;
  RowExecutor& executor_;
  const FusedRows& counting_;
  const OpencvRows& mixing_;
  ImageDesc desc_;
  bool words_ = false;
  opencv::Grid grid_;
  opencv::TileRule rule_{};
  std::vector<Span> spans_;
  // Tables by tile, row by row, for one of the depths, with one level more behind the last.
  std::vector<std::uint8_t> bytes_levels_;
  std::vector<std::uint16_t> words_levels_;
  std::vector<Scratch> scratch_;  // one for each thread
};

}  // namespace equalux
