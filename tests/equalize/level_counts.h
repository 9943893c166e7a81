#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/cpu/equalize/deep/deep_rows.h"

/// Counts of levels, up to 65,536 of them for each of many rows: in a file that is optimised as
/// tests are not.
namespace equalux::test {

/// Room for what a target counts of one row.
class LevelCounts {
 public:
  explicit LevelCounts(std::size_t levels);
  [[nodiscard]] DeepCounters counters() { return {{even_.data(), odd_.data()}}; }
  /// The sums of both tables; nothing is left here.
  [[nodiscard]] std::vector<std::uint32_t> take_sums();

 private:
  std::vector<std::uint32_t> even_;
  std::vector<std::uint32_t> odd_;
};

}  // namespace equalux::test
