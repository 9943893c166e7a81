#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/lab/table.h"

/// Views of a table: tables of two ways in, rows that are looked for, and their Markdown.
namespace equalux::cli::lab {

/// Columns and rows as they stand in the CSV.
[[nodiscard]] std::string markdown_table(const Table& table);

/// Which columns of a table make a table of two ways in.
struct Pivot {
  std::string_view rows;
  std::string_view columns;
  std::string_view values;
  std::string corner;  ///< what stands above the rows' names
};

/// Values in the order in which rows and columns first appear; what was not measured is empty.
struct PivotTable {
  std::string corner;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> values;
};
/// The pivot of those rows of `table` that are among `chosen`. Throws Error(bad_input) for missing
/// columns.
[[nodiscard]] PivotTable pivot(const Table& table, const Pivot& what,
                               const std::vector<std::size_t>& chosen);
[[nodiscard]] PivotTable pivot(const Table& table, const Pivot& what);
[[nodiscard]] std::string markdown_table(const PivotTable& table);

/// The rows in which a column holds a text.
[[nodiscard]] std::vector<std::size_t> rows_where(const Table& table, std::string_view column,
                                                  std::string_view text);
/// Different texts of a column in the order in which they first appear, in all rows or some.
[[nodiscard]] std::vector<std::string> texts_of(const Table& table, std::string_view column);
/// The row of the least value among `chosen`, which are some. Throws Error(bad_input).
[[nodiscard]] std::size_t least_row(const Table& table, std::string_view column,
                                    const std::vector<std::size_t>& chosen);
[[nodiscard]] std::vector<std::size_t> all_rows(const Table& table);

}  // namespace equalux::cli::lab
