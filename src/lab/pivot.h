#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/lab/table.h"

/// Views of a table: pivot tables, selected rows, and their Markdown.
namespace equalux::cli::lab {

/// Returns columns and rows as they are in the CSV.
[[nodiscard]] std::string markdown_table(const Table& table);

/// Columns of a table that form a pivot table.
struct Pivot {
  std::string_view rows;
  std::string_view columns;
  std::string_view values;
  std::string corner;  ///< heading above the rows' names
};

/// Pivot table, rows and columns in order of first appearance; missing values are empty.
struct PivotTable {
  std::string corner;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> values;
};
/// Makes the pivot table of the `chosen` rows of `table`. Throws Error(bad_input) for missing
/// columns.
[[nodiscard]] PivotTable pivot(const Table& table, const Pivot& what,
                               const std::vector<std::size_t>& chosen);
[[nodiscard]] PivotTable pivot(const Table& table, const Pivot& what);
[[nodiscard]] std::string markdown_table(const PivotTable& table);

/// Returns the rows in which a column has this text.
[[nodiscard]] std::vector<std::size_t> rows_where(const Table& table, std::string_view column,
                                                  std::string_view text);
/// Returns the distinct texts of a column in order of first appearance, of all rows or some.
[[nodiscard]] std::vector<std::string> texts_of(const Table& table, std::string_view column);
/// Returns the row of the least value; `chosen` must not be empty. Throws Error(bad_input).
[[nodiscard]] std::size_t least_row(const Table& table, std::string_view column,
                                    const std::vector<std::size_t>& chosen);
[[nodiscard]] std::vector<std::size_t> all_rows(const Table& table);

}  // namespace equalux::cli::lab
