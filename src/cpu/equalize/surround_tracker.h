#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/equalize/surround.h"
#include "src/equalize/surround_state.h"
#include "src/format/pixel_values.h"

/// Surround of a stream of frames on the CPU; surround.h has the arithmetic.
namespace equalux {

/// Tracks the surround. One thread at a time.
class SurroundTracker {
 public:
  /// Prepares for frames of this size with values 0 to `max_value`, codes of `depth` bits, and
  /// forgets the frames seen so far.
  void configure(int width, int height, int max_value, int depth);
  void reset();
  /// Measures the next frame, from its edges inwards as far as it is dark.
  void follow(const PixelValues& values, std::int64_t pts_ns);

  /// Returns the state between two frames; nothing where none was seen.
  [[nodiscard]] std::optional<surround::State> state() const;
  /// Resumes from a state of the same grid, or from nothing.
  void go_on(const std::optional<surround::State>& state);

  [[nodiscard]] const surround::Grid& grid() const { return grid_; }
  /// Returns the marks of a row of the grid: not 0 for blocks of the surround and their neighbours.
  [[nodiscard]] const std::uint8_t* marks(int row) const { return &marks_[index(0, row)]; }
  [[nodiscard]] bool marks_any() const { return marks_any_; }

 private:
  [[nodiscard]] std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(grid_.columns) +
           static_cast<std::size_t>(column);
  }
  [[nodiscard]] std::uint8_t code(int column, int row);
  void run_inwards(int column, int row, int columns_right, int rows_down, surround::Shape& shape);
  [[nodiscard]] surround::Shape reach();
  [[nodiscard]] std::uint32_t excess(bool of_rows) const;
  void mark();

  surround::Grid grid_;
  int dark_ = 0;           // in codes
  int rise_ = 0;           // in levels
  int bits_of_level_ = 0;  // of a code, below its level of 8 bits
  bool fresh_ = true;
  surround::Clock clock_;
  PixelValues values_;
  std::vector<std::uint8_t> codes_;  // by block, of measured blocks
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint8_t> reached_before_;
  std::vector<surround::Block> blocks_;
  std::vector<std::uint8_t> marks_;
  bool marks_any_ = false;
};

}  // namespace equalux
