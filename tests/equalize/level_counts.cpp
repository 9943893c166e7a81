#include "tests/equalize/level_counts.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace equalux::test {

LevelCounts::LevelCounts(std::size_t levels) : even_(levels), odd_(levels) {}

std::vector<std::uint32_t> LevelCounts::take_sums() {
  std::transform(even_.begin(), even_.end(), odd_.begin(), even_.begin(), std::plus<>());
  return std::move(even_);
}

}  // namespace equalux::test
