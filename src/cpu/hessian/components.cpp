#include "src/cpu/hessian/components.h"

#include <algorithm>
#include <cstring>

namespace equalux {
namespace {

/// Returns the first byte at or after i that is not 0, or n.
std::size_t next_set(const std::uint8_t* row, std::size_t i, std::size_t n) {
  for (; i + 8 <= n; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, row + i, sizeof eight);
    if (eight != 0) break;
  }
  while (i < n && row[i] == 0)
    ++i;
  return i;
}

}  // namespace

Components::Components(int width, int height, Connectivity connectivity)
    : width_(width), reach_(connectivity == Connectivity::eight ? 1 : 0) {
  // Worst case: every second pixel of every row. Pages that no frame touches are never made real.
  const std::size_t most =
      (static_cast<std::size_t>(width) + 1) / 2 * static_cast<std::size_t>(height);
  rows_.reserve(static_cast<std::size_t>(height) + 1);
  runs_.reserve(most);
  parent_.reserve(most);
  area_.reserve(most);
  marked_.reserve(most);
  clear();
}

void Components::clear() {
  rows_.assign(1, 0);
  runs_.clear();
  parent_.clear();
  area_.clear();
  marked_.clear();
}

void Components::add_row(const std::uint8_t* row) {
  const auto n = static_cast<std::size_t>(width_);
  const std::size_t first = runs_.size();
  for (std::size_t i = next_set(row, 0, n); i < n; i = next_set(row, i, n)) {
    const std::size_t begin = i;
    std::uint8_t marks = 0;
    for (; i < n && row[i] != 0; ++i)
      marks |= row[i];
    parent_.push_back(static_cast<std::uint32_t>(runs_.size()));
    area_.push_back(static_cast<std::uint32_t>(i - begin));
    marked_.push_back(static_cast<std::uint8_t>((marks & 2) != 0 ? 1 : 0));
    runs_.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(i)});
  }
  if (rows_.size() > 1) link_to_row_above(rows_[rows_.size() - 2], first);
  rows_.push_back(runs_.size());
}

void Components::link_to_row_above(std::size_t first_above, std::size_t first) {
  std::size_t above = first_above;
  for (std::size_t i = first; i < runs_.size(); ++i) {
    const PixelRun run = runs_[i];
    while (above < first && runs_[above].end + reach_ <= run.begin)
      ++above;
    // The last run above that touches this one may touch the next as well.
    for (std::size_t k = above; k < first && runs_[k].begin < run.end + reach_; ++k)
      join(k, i);
  }
}

void Components::mark(int x, int y) {
  for (std::size_t i = first_run(y); i < last_run(y); ++i) {
    if (runs_[i].begin <= x && x < runs_[i].end) marked_[root(i)] = 1;
  }
}

std::uint32_t Components::root(std::size_t i) {
  auto at = static_cast<std::uint32_t>(i);
  while (parent_[at] != at) {
    parent_[at] = parent_[parent_[at]];
    at = parent_[at];
  }
  return at;
}

void Components::join(std::size_t a, std::size_t b) {
  const std::uint32_t one = root(a);
  const std::uint32_t other = root(b);
  if (one == other) return;
  // The earlier run becomes the root, in any order of joins.
  const std::uint32_t low = std::min(one, other);
  const std::uint32_t high = std::max(one, other);
  parent_[high] = low;
  area_[low] += area_[high];
  marked_[low] = static_cast<std::uint8_t>(marked_[low] | marked_[high]);
}

}  // namespace equalux
