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

/// Vectors of a frame's blocks, row after row.
struct MotionField {
  int columns = 0;
  int rows = 0;
  std::vector<Vector> vectors;
  std::vector<std::int16_t> drifts;  ///< how much lighter each block has become

  [[nodiscard]] const Vector& at(int column, int row) const {
    return vectors[static_cast<std::size_t>(row * columns + column)];
  }
  /// Whether nothing of a row of blocks moves.
  [[nodiscard]] bool still(int row) const {
    const auto first = vectors.begin() + row * columns;
    return std::all_of(first, first + columns, [](const Vector& each) { return each == Vector{}; });
  }
  /// Whether nothing of a row of blocks has become lighter or darker.
  [[nodiscard]] bool steady(int row) const {
    const auto all = drifts_of(row);
    return std::all_of(all.begin(), all.end(), [](std::int16_t each) { return each == 0; });
  }
  /// Drifts of a row of blocks.
  [[nodiscard]] std::span<const std::int16_t> drifts_of(int row) const {
    return {drifts.data() + row * columns, static_cast<std::size_t>(columns)};
  }
};

/// Rows beyond a component's estimate of which what moves is made: as far as vectors may point out
/// of it, and those that interpolation looks at.
inline constexpr RowsBeyond kMovedRowsBeyond{kMostOutside + SampleWindow::kAbove,
                                             kMostOutside + SampleWindow::kBelow};
/// Rows beyond luma, of which the last row of blocks may have some.
constexpr RowsBeyond luma_rows_beyond(int height) {
  return {0, blocks_of(height) * kBlock - height};
}
/// Rows beyond luma's estimate, at which windows look from there.
constexpr RowsBeyond luma_estimate_rows_beyond(int height) {
  return {kMovedRowsBeyond.above, kMovedRowsBeyond.below + luma_rows_beyond(height).below};
}

/// Finds from where in the estimate the blocks of a frame have come. Allocates nothing after its
/// construction.
class MotionSearch {
 public:
  MotionSearch(int width, int height, RowExecutor& executor, const DenoiseRows& rows);

  /// A field of these frames in which nothing moves.
  [[nodiscard]] MotionField no_motion() const;

  /// Rows of a plane that make a row of its eighth.
  static constexpr int kUnit = 8;
  /// Make the smaller frames of what search() will be given, which must be padded: of a unit of
  /// luma, of a row of blocks of the estimate, and of all of it. Threads may do different parts.
  void shrink_luma(const Plane<std::int16_t>& luma, int unit);
  void shrink_estimate(const Plane<std::int16_t>& estimate, int block_row);
  void shrink_estimate(const Plane<std::int16_t>& estimate);

  /// Vectors of `luma` into `estimate`, where `field` holds those of the last frame, and drifts.
  /// Both are padded, and shrunk. `weight` is the estimate's, and `sigma` the luma's noise.
  void search(const Plane<std::int16_t>& luma, const Plane<std::int16_t>& estimate,
              const Plane<std::uint8_t>& weight, const LevelCurve& sigma, MotionField& field);

 private:
  /// A frame in a half, a fourth and an eighth of its size.
  struct Pyramid {
    Plane<std::int16_t> half;
    Plane<std::int16_t> fourth;
    Plane<std::int16_t> eighth;
  };
  /// Whole samples, in one of those sizes.
  struct Step {
    int x;
    int y;

    friend constexpr bool operator==(const Step&, const Step&) = default;
  };

  void shrink(const Plane<std::int16_t>& from, int unit, Pyramid& pyramid);
  void halve(const Plane<std::int16_t>& from, int begin, int end, Plane<std::int16_t>& to);
  /// The frames that are compared, and the noise of what is known of a block, which its middle
  /// tells.
  struct Frames {
    const Plane<std::int16_t>& luma;
    const Plane<std::int16_t>& estimate;
  };
  struct Noise {
    int certainty;
    int sigma;
  };
  /// A vector, what a block differs by there, and what its light has changed by.
  struct Match {
    Vector vector;
    int difference;
    std::int16_t drift;

    /// What compare() found of one.
    void set(Vector its_vector, const WindowDifference& found) {
      vector = its_vector;
      difference = found.magnitudes;
      drift = static_cast<std::int16_t>(found.drift);
    }
  };
  /// What is known of a block's motion before it is searched for.
  enum class Found : std::uint8_t { open, still, followed };

  void find_known(const Frames& frames, const Plane<std::uint8_t>& weight, const LevelCurve& sigma,
                  int row, MotionField& field);
  [[nodiscard]] Found follow(const Frames& frames, int column, int row, Noise noise, int limit);
  void ask_ahead(const Frames& frames, int column, int row) const;
  void find_coarse(int begin, int end);
  [[nodiscard]] Vector search_block(const Frames& frames, int column, int row) const;
  [[nodiscard]] Match choose(const Frames& frames, int column, int row, Vector found) const;
  [[nodiscard]] Vector refined(SampleWindow now, const Plane<std::int16_t>& estimate, int column,
                               int row, int x, int y) const;
  [[nodiscard]] WindowDifference compare(SampleWindow now, const Plane<std::int16_t>& estimate,
                                         int column, int row, Vector vector, int limit) const;
  static void keep(const Match& match, std::size_t block, MotionField& field) {
    field.vectors[block] = match.vector;
    field.drifts[block] = match.drift;
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
  int columns_;  // of blocks
  int block_rows_;
  Pyramid luma_;
  Pyramid estimate_;
  std::vector<std::int32_t> unmoved_;  // what halves differ by without motion, by block
  std::vector<std::int16_t> limits_;   // drift_limit() of a block
  std::vector<Found> state_;           // by block
  std::vector<Match> followed_;        // the best of follow(), by block; or no vector
  std::vector<Step> coarse_;           // by kCoarse x kCoarse blocks, in eighths
  std::vector<Vector> before_;         // the last frame's field
};

}  // namespace equalux::denoise
