#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Connected components of a plane of bytes, by runs of pixels that are not 0 and union-find.
namespace equalux {

/// Neighbourhood of a pixel.
enum class Connectivity : std::uint8_t { four, eight };

/// Run of pixels begin .. end - 1 of a row.
struct PixelRun {
  std::int32_t begin;
  std::int32_t end;
};

/// Components of one frame after another; the constructor reserves memory for the worst frame. One
/// thread at a time.
class Components {
 public:
  Components(int width, int height, Connectivity connectivity);

  /// Forgets all rows.
  void clear();
  /// Adds the next row. A component is marked where one of its bytes is 2.
  void add_row(const std::uint8_t* row);
  /// Marks the component of a pixel in an added row; nothing where the pixel is 0.
  void mark(int x, int y);

  [[nodiscard]] std::size_t first_run(int y) const { return rows_[static_cast<std::size_t>(y)]; }
  [[nodiscard]] std::size_t last_run(int y) const { return rows_[static_cast<std::size_t>(y) + 1]; }
  [[nodiscard]] PixelRun run(std::size_t i) const { return runs_[i]; }
  /// Pixels in the component of run i, and its mark.
  [[nodiscard]] std::int64_t area(std::size_t i) { return area_[root(i)]; }
  [[nodiscard]] bool marked(std::size_t i) { return marked_[root(i)] != 0; }

 private:
  [[nodiscard]] std::uint32_t root(std::size_t i);
  void join(std::size_t a, std::size_t b);
  void link_to_row_above(std::size_t first_above, std::size_t first);

  int width_;
  // Columns by which runs may miss each other and touch: 1 for eight neighbours.
  std::int32_t reach_;
  std::vector<std::size_t> rows_;
  std::vector<PixelRun> runs_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> area_;   // valid for roots
  std::vector<std::uint8_t> marked_;  // valid for roots
};

}  // namespace equalux
