#include "src/lab/pivot.h"

#include <algorithm>
#include <numeric>

#include <equalux/error.h>

#include "src/plot/markdown.h"

namespace equalux::cli::lab {
namespace {

std::size_t index_in(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

std::string markdown_table(const Table& table) {
  return plot::markdown_table(table.columns, table.rows);
}

PivotTable pivot(const Table& table, const Pivot& what, const std::vector<std::size_t>& chosen) {
  PivotTable result;
  result.corner = what.corner;
  for (const std::size_t i : chosen) {
    const std::size_t row = index_in(result.rows, table.text(i, what.rows));
    const std::size_t column = index_in(result.columns, table.text(i, what.columns));
    result.values.resize(result.rows.size());
    auto& cells = result.values[row];
    cells.resize(std::max(cells.size(), column + 1));
    cells[column] = table.text(i, what.values);
  }
  for (auto& cells : result.values)
    cells.resize(result.columns.size());
  return result;
}

PivotTable pivot(const Table& table, const Pivot& what) {
  return pivot(table, what, all_rows(table));
}

std::string markdown_table(const PivotTable& table) {
  std::vector<std::string> columns{table.corner};
  columns.insert(columns.end(), table.columns.begin(), table.columns.end());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    rows.push_back({table.rows[i]});
    rows.back().insert(rows.back().end(), table.values[i].begin(), table.values[i].end());
  }
  return plot::markdown_table(columns, rows);
}

std::vector<std::size_t> rows_where(const Table& table, std::string_view column,
                                    std::string_view text) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.text(i, column) == text) chosen.push_back(i);
  }
  return chosen;
}

std::vector<std::string> texts_of(const Table& table, std::string_view column) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    static_cast<void>(index_in(texts, table.text(i, column)));
  return texts;
}

std::size_t least_row(const Table& table, std::string_view column,
                      const std::vector<std::size_t>& chosen) {
  if (chosen.empty()) {
    throw Error(ExitCode::bad_input, table.origin + ": rows to compare " + std::string(column) +
                                         " of are missing, must be a CSV that equalux lab wrote");
  }
  return *std::min_element(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return table.number(a, column) < table.number(b, column);
  });
}

std::vector<std::size_t> all_rows(const Table& table) {
  std::vector<std::size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

}  // namespace equalux::cli::lab
