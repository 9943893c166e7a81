#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/pivot.h"
#include "src/plot/figure.h"

/// Tables of times over frame sizes, of speed-ups, and of the size at which one variant overtakes
/// another.
namespace equalux::cli::lab {

/// Throws Error(bad_input) where a cell of the column `size` is not "WxH".
void check_sizes(const Table& table);

struct Sample {
  std::string row;  ///< size "WxH"
  std::string column;
  double value = 0;
};
enum class Middle : std::uint8_t { mean, median };
/// Returns the mean or median of the samples that share row and column; cells without samples are
/// empty.
[[nodiscard]] PivotTable sample_table(const std::string& corner, const std::vector<Sample>& samples,
                                      Middle middle);

/// Returns the table with only the wanted columns.
[[nodiscard]] PivotTable columns_where(const PivotTable& table,
                                       const std::function<bool(const std::string&)>& wanted);

/// Returns base / column for each other column; a cell is empty where one of the two is.
[[nodiscard]] PivotTable speedup_table(const PivotTable& times, const std::string& base);

/// Returns the size from which on a column is less than another, over the rows "WxH" that have
/// both: "from about 0.41 megapixels, between 512x512 and 1280x720", "at every size", "at no size",
/// or, where it does not stay less, "only at" those sizes. Empty where no row has both.
[[nodiscard]] std::string overtaking_size(const PivotTable& times, const std::string& column,
                                          const std::string& other);

/// Makes a chart with a line for each column over the pixels of the rows "WxH", both axes
/// logarithmic.
[[nodiscard]] plot::Panel size_chart(const std::string& title, const std::string& unit,
                                     const PivotTable& times);
/// Makes a chart of speed-ups, with a mark at 1.
[[nodiscard]] plot::Panel speedup_chart(const std::string& title, const PivotTable& speedups);

}  // namespace equalux::cli::lab
