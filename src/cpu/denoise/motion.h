#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/cpu/common/parallel.h"
#include "src/cpu/denoise/plane.h"
#include "src/denoise/motion_math.h"

namespace equalux::denoise {

/// Motion vectors of a frame's blocks, row by row.
struct MotionField {
  int columns = 0;
  int rows = 0;
  std::vector<Vector> vectors;
  std::vector<std::int16_t> gains;  ///< of each block, gain_of()

  [[nodiscard]] const Vector& at(int column, int row) const {
    return vectors[static_cast<std::size_t>(row * columns + column)];
  }
  /// Returns true where no block of a row has a vector.
  [[nodiscard]] bool still(int row) const {
    const auto first = vectors.begin() + row * columns;
    return std::all_of(first, first + columns, [](const Vector& each) { return each == Vector{}; });
  }
  /// Returns true where no block of a row has a gain.
  [[nodiscard]] bool steady(int row) const {
    const auto all = gains_of(row);
    return std::all_of(all.begin(), all.end(), [](std::int16_t each) { return each == 0; });
  }
  /// Gains of a row of blocks.
  [[nodiscard]] std::span<const std::int16_t> gains_of(int row) const {
    return {gains.data() + row * columns, static_cast<std::size_t>(columns)};
  }
};

/// Rows beyond a component's estimate that motion compensation reads: vectors out of the frame, and
/// the taps of interpolation.
inline constexpr RowsBeyond kMovedRowsBeyond{kMostOutside + SampleWindow::kAbove,
                                             kMostOutside + SampleWindow::kBelow};
/// Rows beyond luma's estimate that windows of the last row of blocks read.
constexpr RowsBeyond luma_estimate_rows_beyond(int height) {
  return {kMovedRowsBeyond.above, kMovedRowsBeyond.below + blocks_of(height) * kBlock - height};
}

/// Motion estimation of a frame's blocks against the estimate. Allocates only in the constructor.
class MotionSearch {
 public:
  MotionSearch(int width, int height, RowExecutor& executor, const DenoiseRows& rows);

  /// Returns a field of this size without motion.
  [[nodiscard]] MotionField no_motion() const;

  /// Rows of a plane that make one row of its eighth.
  static constexpr int kUnit = 8;
  /// Make the pyramid that search() needs, from padded planes: of a unit of luma, of which the
  /// plane has only the kUnit rows; of a row of blocks of the estimate; and of all of it. Threads
  /// may make different parts.
  void shrink_luma(const Plane<std::int16_t>& rows, int unit);
  void shrink_estimate(const Plane<std::int16_t>& estimate, int block_row);
  void shrink_estimate(const Plane<std::int16_t>& estimate);

  /// Writes a row of luma.
  using LoadLuma = FunctionRef<void(int row, std::int16_t* out)>;
  /// Finds vectors and gains of luma relative to `estimate`; `field` holds those of the last frame.
  /// `load_luma` may be called by any thread, `estimate` is padded, and both have their pyramids.
  /// `weight` is the estimate's, `sigma` the noise of luma.
  void search(LoadLuma load_luma, const Plane<std::int16_t>& estimate,
              const Plane<std::uint8_t>& weight, const LevelCurve& sigma, MotionField& field);

 private:
  /// Pyramid of a frame: half, fourth and eighth of its size.
  struct Pyramid {
    Plane<std::int16_t> half;
    Plane<std::int16_t> fourth;
    Plane<std::int16_t> eighth;
  };
  /// Displacement in whole samples of a level of the pyramid.
  struct Step {
    int x;
    int y;

    friend constexpr bool operator==(const Step&, const Step&) = default;
  };

  void shrink(const Plane<std::int16_t>& from, int first, int unit, Pyramid& pyramid);
  void halve(const Plane<std::int16_t>& from, int first, int begin, int end,
             Plane<std::int16_t>& to);
  /// What one search() compares.
  struct Frames {
    LoadLuma load_luma;
    const Plane<std::int16_t>& estimate;
  };
  static constexpr int kNone = -1;
  /// Luma of one row of blocks.
  struct RowOfBlocks {
    Plane<std::int16_t> samples;
    int row;  ///< or kNone
  };
  /// Noise of a block, taken at its middle.
  struct Noise {
    int certainty;
    int sigma;
  };
  /// Vector of a block, with the difference and the drift that it leaves.
  struct Match {
    Vector vector;
    int difference;
    std::int16_t drift;

    /// Takes a vector with the result of compare().
    void set(Vector its_vector, const WindowDifference& found) {
      vector = its_vector;
      difference = found.magnitudes;
      drift = static_cast<std::int16_t>(found.drift);
    }
  };
  /// State of a block before its search.
  enum class Found : std::uint8_t { open, still, followed };

  void find_known(const Frames& frames, const Plane<std::uint8_t>& weight, const LevelCurve& sigma,
                  int row, RowOfBlocks& blocks, MotionField& field);
  [[nodiscard]] SampleWindow block_window(const Frames& frames, RowOfBlocks& blocks, int column,
                                          int row) const;
  [[nodiscard]] Found follow(const Frames& frames, RowOfBlocks& blocks, int column, int row,
                             Noise noise, int limit);
  void ask_ahead(const Frames& frames, int column, int row) const;
  void find_coarse(int begin, int end);
  [[nodiscard]] Vector search_block(const Frames& frames, SampleWindow block, int column,
                                    int row) const;
  [[nodiscard]] Match choose(const Frames& frames, SampleWindow now, int column, int row,
                             Vector found) const;
  [[nodiscard]] Vector refined(SampleWindow now, const Plane<std::int16_t>& estimate, int column,
                               int row, int x, int y) const;
  [[nodiscard]] WindowDifference compare(SampleWindow now, const Plane<std::int16_t>& estimate,
                                         int column, int row, Vector vector, int limit) const;
  [[nodiscard]] std::int16_t gain(int column, int row, int drift) const;
  void keep(const Match& match, int column, int row, MotionField& field) const {
    field.vectors[number(column, row)] = match.vector;
    field.gains[number(column, row)] = gain(column, row, match.drift);
  }
  [[nodiscard]] const Vector& before(int column, int row) const;
  [[nodiscard]] std::size_t number(int column, int row) const {
    return static_cast<std::size_t>(row * columns_ + column);
  }
  [[nodiscard]] Vector within(Vector vector, int column, int row) const;

  RowExecutor& executor_;
  const DenoiseRows& rows_;
  const std::array<Taps, kPhases>& taps_;  // all_taps()
  int width_;
  int height_;
  int columns_;  // in blocks
  int block_rows_;
  Pyramid luma_;
  Pyramid estimate_;
  std::vector<std::int32_t> unmoved_;  // difference of halves without motion, by block
  std::vector<std::int16_t> limits_;   // drift_limit(), by block
  std::vector<Found> state_;           // by block
  std::vector<RowOfBlocks> blocks_;    // one for each thread
  std::vector<Match> followed_;        // best of follow(), by block; vector 0 = none
  std::vector<Step> coarse_;           // by kCoarse x kCoarse blocks, in eighths
  std::vector<Vector> before_;         // field of the last frame
};

}  // namespace equalux::denoise
