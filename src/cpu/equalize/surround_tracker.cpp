#include "src/cpu/equalize/surround_tracker.h"

#include <algorithm>
#include <utility>

namespace equalux {
namespace {

/// Code of a block that was not measured; no block has it, as the mean of dark ones is low.
constexpr std::uint8_t kUnknown = 0xFF;

}  // namespace

void SurroundTracker::configure(int width, int height, int max_value, int depth) {
  grid_ = surround::Grid::of(width, height);
  dark_ = surround::dark_level(max_value);
  bits_of_level_ = depth - 8;
  rise_ = surround::edge_rise(max_value >> bits_of_level_);
  const auto blocks = static_cast<std::size_t>(grid_.blocks());
  codes_.assign(blocks, kUnknown);
  reached_.assign(blocks, 0);
  reached_before_.assign(blocks, 0);
  blocks_.assign(blocks, {});
  marks_.assign(blocks, 0);
  reset();
}

void SurroundTracker::reset() {
  fresh_ = true;
  clock_.reset();
}

void SurroundTracker::follow(const PixelValues& values, std::int64_t pts_ns) {
  values_ = values;
  const std::uint32_t step = clock_.next(pts_ns);
  if (fresh_) {
    std::fill(blocks_.begin(), blocks_.end(), surround::Block{});
    std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
  }
  std::swap(reached_, reached_before_);
  const surround::Shape shape = reach();
  const surround::Verdict verdict = surround::verdict_of(grid_, shape, fresh_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i] = surround::next_block(blocks_[i], reached_[i] != 0, verdict, step);
  }
  mark();
  fresh_ = false;
}

std::optional<surround::State> SurroundTracker::state() const {
  if (fresh_) return std::nullopt;
  return surround::State{blocks_, reached_, clock_};
}

void SurroundTracker::go_on(const std::optional<surround::State>& state) {
  reset();
  if (!state) return;
  blocks_ = state->blocks;
  reached_ = state->reached;
  clock_ = state->clock;
  fresh_ = false;
}

std::uint8_t SurroundTracker::code(int column, int row) {
  std::uint8_t& code = codes_[index(column, row)];
  if (code != kUnknown) return code;
  surround::BlockSums sums;
  const int end = std::min((column + 1) * grid_.side, grid_.width);
  for (int i = 0; i < surround::kSampledRows; ++i) {
    const int y = surround::sampled_row(row, grid_.side, i);
    if (y >= grid_.height) break;
    const int begin = column * grid_.side;
    sums.pixels += static_cast<std::uint32_t>(end - begin);
    values_.visit_row(y, begin, end, [&](std::int32_t v) {
      sums.bright += v > dark_ ? 1 : 0;
      sums.values += static_cast<std::uint32_t>(v >> bits_of_level_);
    });
  }
  return code = surround::block_code(sums);
}

/// Reaches dark blocks from one at the grid's edge inwards, by one column or row a step.
void SurroundTracker::run_inwards(int column, int row, int columns_right, int rows_down,
                                  surround::Shape& shape) {
  const auto within = [this](int x, int y) {
    return x >= 0 && x < grid_.columns && y >= 0 && y < grid_.rows;
  };
  std::uint8_t last = 0;
  bool began = false;
  for (; within(column, row); column += columns_right, row += rows_down) {
    const std::uint8_t here = code(column, row);
    if (!surround::is_dark(here)) break;
    reached_[index(column, row)] = 1;
    last = here;
    began = true;
  }
  if (!began || !within(column, row)) return;
  const std::uint8_t end = code(column, row);
  const bool has_behind = within(column + columns_right, row + rows_down);
  const std::uint8_t behind = has_behind ? code(column + columns_right, row + rows_down) : end;
  ++shape.ends;
  shape.sharp_ends += surround::is_sharp(last, end, behind, rise_) ? 1 : 0;
}

surround::Shape SurroundTracker::reach() {
  surround::Shape shape{};
  std::fill(codes_.begin(), codes_.end(), kUnknown);
  std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
  for (int row = 0; row < grid_.rows; ++row) {
    run_inwards(0, row, 1, 0, shape);
    run_inwards(grid_.columns - 1, row, -1, 0, shape);
  }
  for (int column = 0; column < grid_.columns; ++column) {
    run_inwards(column, 0, 0, 1, shape);
    run_inwards(column, grid_.rows - 1, 0, -1, shape);
  }
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    shape.reached += reached_[i];
    shape.changed += reached_[i] != reached_before_[i] ? 1U : 0U;
    shape.members += blocks_[i].member ? 1U : 0U;
    shape.kept += blocks_[i].member && reached_[i] != 0 ? 1U : 0U;
  }
  for (int i = 0; i < surround::kCornerBlocks; ++i) {
    const surround::CornerBlock block = surround::corner_block(grid_, i);
    if (reached_[index(block.column, block.row)] != 0) shape.corners |= block.corner;
  }
  shape.row_excess = excess(true);
  shape.column_excess = excess(false);
  return shape;
}

std::uint32_t SurroundTracker::excess(bool of_rows) const {
  const int lines = of_rows ? grid_.rows : grid_.columns;
  const int across = of_rows ? grid_.columns : grid_.rows;
  std::uint32_t ways = 0, first = 0, last = 0, least = 0;
  for (int line = 0; line < lines; ++line) {
    std::uint32_t count = 0;
    for (int i = 0; i < across; ++i)
      count += reached_[of_rows ? index(i, line) : index(line, i)];
    if (line == 0) {
      first = least = count;
    } else {
      ways += count > last ? count - last : last - count;
      least = std::min(least, count);
    }
    last = count;
  }
  return surround::excess_of(ways, first, last, least);
}

void SurroundTracker::mark() {
  marks_any_ = std::any_of(blocks_.begin(), blocks_.end(),
                           [](const surround::Block& block) { return block.member; });
  std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
  if (!marks_any_) return;
  for (int row = 0; row < grid_.rows; ++row) {
    for (int column = 0; column < grid_.columns; ++column) {
      if (!blocks_[index(column, row)].member) continue;
      const int right = std::min(column + 1, grid_.columns - 1);
      const int bottom = std::min(row + 1, grid_.rows - 1);
      for (int y = std::max(row - 1, 0); y <= bottom; ++y) {
        for (int x = std::max(column - 1, 0); x <= right; ++x)
          marks_[index(x, y)] = 1;
      }
    }
  }
}

}  // namespace equalux
