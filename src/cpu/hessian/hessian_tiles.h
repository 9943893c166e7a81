#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/hessian/hessian_rows.h"

/// Walks a frame in tiles that the second-level cache holds, so that no plane of levels or
/// derivatives of the whole frame exists.
namespace equalux {

/// Part of a frame whose levels a thread holds as floats, with `reach` samples around it. Outside
/// the frame lie copies of its edge.
struct LevelTile {
  int x = 0;       ///< first column
  int y = 0;       ///< first row
  int width = 0;   ///< columns, 1 to kTileWidth
  int height = 0;  ///< rows, 1 to kTileHeight

  /// The level of column x in row y + j, j from -reach to height - 1 + reach.
  [[nodiscard]] const float* row(int j) const { return rows[static_cast<std::size_t>(j + reach)]; }

  int reach = 0;
  std::vector<const float*> rows;
};

inline constexpr int kTileWidth = 256;
inline constexpr int kTileHeight = 64;

/// Floats from a 64-byte boundary on, 0 at first.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t n);
  [[nodiscard]] float* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(float* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<float, Free> memory_;
};

/// Memory of one thread: its tile, and rows that its scales pass through.
class TileScratch {
 public:
  /// `scales`: the kernels that eigenvalues() and smoothed() are called with, at most.
  TileScratch(int reach, std::size_t rows_of_results, std::size_t scales);

  /// Row i of the results that a filter keeps of one row of a tile.
  [[nodiscard]] float* result(std::size_t i) { return results_.data() + i * kResultPitch; }

  /// The eigenvalues of row j of the tile at one scale.
  void eigenvalues(const HessianRows& loops, const HessianWeights& weights, int j,
                   const EigenvalueRows& to);
  /// Levels of row j smoothed both ways at some other scale.
  void smoothed(const HessianRows& loops, const HessianWeights& weights, int j, float* out);
  /// Levels smoothed both ways, of the row and scale that eigenvalues() was last asked for.
  void brightness(const HessianRows& loops, float* out) const;

  [[nodiscard]] const LevelTile& tile() const { return tile_; }
  /// Fills the tile from a frame.
  void load(const HessianRows& loops, const ConstImageView& in, HessianChannel channel, int x,
            int y, int y_end);

 private:
  /// Rows of derivatives of two rows of the tile at one scale: the second is kept for the next
  /// call.
  struct RowPair {
    const HessianWeights* weights = nullptr;
    int j = -1;  // the tile's row that the first is of; -1 = none
    int rows = 0;
    AlignedFloats memory;
  };
  const float* vertical(const HessianRows& loops, const HessianWeights& weights, int j);
  RowPair& pair_of(const HessianWeights& weights);

  static constexpr std::size_t kResultPitch = kTileWidth + kRowSlack;

  int left_;           // columns before the tile's first, so many that each row begins aligned
  std::size_t pitch_;  // floats from row to row
  LevelTile tile_;
  AlignedFloats levels_;
  std::vector<RowPair> pairs_;  // one a scale
  const HessianWeights* last_weights_ = nullptr;
  const float* last_smooth_ = nullptr;  // what brightness() is of
  AlignedFloats results_;
  std::vector<const float*> taps_;
};

/// Calls body(scratch) for every tile of a frame, threads beside each other. Rows of a tile come
/// from one call, tiles in any order.
class TileWalker {
 public:
  /// `reach`: the largest radius of any scale. `result_rows`: rows of results that body uses.
  /// `scales`: kernels that it uses, whose addresses tell them apart.
  TileWalker(RowExecutor& executor, const HessianRows& loops, HessianChannel channel, int reach,
             std::size_t result_rows, std::size_t scales = 1);

  using Body = FunctionRef<void(TileScratch&)>;
  void run(const ConstImageView& in, Body body);

 private:
  RowExecutor& executor_;
  const HessianRows& loops_;
  HessianChannel channel_;
  std::vector<TileScratch> scratch_;  // by slot
};

}  // namespace equalux
