#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/pivot.h"
#include "src/plot/figure.h"

/// Times over sizes of frames, speed-ups made of them, and where one way becomes faster than
/// another.
namespace equalux::cli::lab {

/// Throws Error(bad_input) where a cell of the column `size` is no "WxH".
void check_sizes(const Table& table);

struct Sample {
  std::string row;  ///< a size
  std::string column;
  double value = 0;
};
enum class Middle : std::uint8_t { mean, median };
/// The middle of the samples that share row and column; what was not measured is empty.
[[nodiscard]] PivotTable sample_table(const std::string& corner, const std::vector<Sample>& samples,
                                      Middle middle);

/// The columns whose names are wanted.
[[nodiscard]] PivotTable columns_where(const PivotTable& table,
                                       const std::function<bool(const std::string&)>& wanted);

/// How many times less each column is than the column `base`, which goes. Cells are empty where one
/// of the two is.
[[nodiscard]] PivotTable speedup_table(const PivotTable& times, const std::string& base);

/// The size from which on a column is less than another, for the rows "WxH" that have both: "from
/// about 0.41 megapixels, between 512x512 and 1280x720", "at every size", "at no size", or the
/// sizes at which it is, where it does not stay less. Empty where no row has both.
[[nodiscard]] std::string overtaking_size(const PivotTable& times, const std::string& column,
                                          const std::string& other);

/// A line a column over the pixels of the rows "WxH", both axes logarithmic.
[[nodiscard]] plot::Panel size_chart(const std::string& title, const std::string& unit,
                                     const PivotTable& times);
/// A chart of speed-ups, with a mark where both are as fast.
[[nodiscard]] plot::Panel speedup_chart(const std::string& title, const PivotTable& speedups);

}  // namespace equalux::cli::lab
