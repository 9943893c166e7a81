#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/hessian/hessian_rows.h"

/// Processing of a frame in tiles that fit in the L2 cache, so that no plane of levels or
/// derivatives of the whole frame exists.
namespace equalux {

/// Levels of a part of the frame as floats, with `reach` samples around it. Samples outside the
/// frame replicate its edge.
struct LevelTile {
  int x = 0;       ///< first column
  int y = 0;       ///< first row
  int width = 0;   ///< columns, 1 to kTileWidth
  int height = 0;  ///< rows, 1 to kTileHeight

  /// Returns the level of column x in row y + j, j from -reach to height - 1 + reach.
  [[nodiscard]] const float* row(int j) const { return rows[static_cast<std::size_t>(j + reach)]; }

  int reach = 0;
  std::vector<const float*> rows;
};

inline constexpr int kTileWidth = 256;
inline constexpr int kTileHeight = 64;

/// Zero-initialised floats aligned to 64 bytes.
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

/// Memory of one thread: its tile, and rows of intermediate results.
class TileScratch {
 public:
  /// Allocates; `scales` is the number of kernels used with eigenvalues() and smoothed(), at most.
  TileScratch(int reach, std::size_t rows_of_results, std::size_t scales);

  /// Returns row i of the results that a filter keeps for one row of a tile.
  [[nodiscard]] float* result(std::size_t i) { return results_.data() + i * kResultPitch; }

  /// Computes the eigenvalues of row j of the tile at one scale.
  void eigenvalues(const HessianRows& loops, const HessianWeights& weights, int j,
                   const EigenvalueRows& to);
  /// Smooths row j in both directions at another scale.
  void smoothed(const HessianRows& loops, const HessianWeights& weights, int j, float* out);
  /// Returns the smoothed levels of the row and scale of the last eigenvalues().
  void brightness(const HessianRows& loops, float* out) const;

  [[nodiscard]] const LevelTile& tile() const { return tile_; }
  /// Fills the tile from a frame.
  void load(const HessianRows& loops, const ConstImageView& in, HessianChannel channel, int x,
            int y, int y_end);

 private:
  /// Derivatives of two rows of the tile at one scale; the second is kept for the next call.
  struct RowPair {
    const HessianWeights* weights = nullptr;
    int j = -1;  // row of the tile that the first is of; -1 = none
    int rows = 0;
    AlignedFloats memory;
  };
  const float* vertical(const HessianRows& loops, const HessianWeights& weights, int j);
  RowPair& pair_of(const HessianWeights& weights);

  static constexpr std::size_t kResultPitch = kTileWidth + kRowSlack;

  int left_;           // columns before the tile's first; makes rows aligned
  std::size_t pitch_;  // floats from row to row
  LevelTile tile_;
  AlignedFloats levels_;
  std::vector<RowPair> pairs_;  // one for each scale
  const HessianWeights* last_weights_ = nullptr;
  const float* last_smooth_ = nullptr;  // row for brightness()
  AlignedFloats results_;
  std::vector<const float*> taps_;
};

/// Calls body(scratch) for every tile of a frame, in parallel and in any order.
class TileWalker {
 public:
  /// Makes a walker; `reach` is the largest radius of any scale, `result_rows` the rows of results
  /// that the body uses, `scales` the number of its kernels, which are told apart by their
  /// addresses.
  TileWalker(RowExecutor& executor, const HessianRows& loops, HessianChannel channel, int reach,
             std::size_t result_rows, std::size_t scales = 1);

  using Body = FunctionRef<void(TileScratch&)>;
  void run(const ConstImageView& in, Body body);

 private:
  RowExecutor& executor_;
  const HessianRows& loops_;
  HessianChannel channel_;
  std::vector<TileScratch> scratch_;  // one for each thread
};

}  // namespace equalux
