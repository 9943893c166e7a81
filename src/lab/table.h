#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipelines/core/text_file.h"

/// Results of an experiment as in its CSV: facts about the measurement, then rows.
///
///   # equalux lab sweep
///   # device: NVIDIA H200
///   grid_x,block_x,whole_ms
///   1,1,812.4
namespace equalux::cli::lab {

/// Formats a number in few digits, or a text, as a cell of a table.
[[nodiscard]] std::string cell(double value);
[[nodiscard]] std::string cell(std::string_view text);
template <std::integral Integer>
[[nodiscard]] std::string cell(Integer value) {
  return std::to_string(value);
}

/// Table in memory.
struct Table {
  std::string experiment;
  std::vector<std::pair<std::string, std::string>> facts;  ///< `# key: value`, in order
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each with a cell for each column
  std::string origin;                          ///< file name, for messages

  /// Returns the value of a fact; empty where there is none of that name.
  [[nodiscard]] std::string fact(std::string_view key) const;
  [[nodiscard]] bool has_column(std::string_view name) const;
  /// Throw Error(bad_input) for a missing column, number() also for a cell that is no number.
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;
  [[nodiscard]] double number(std::size_t row, std::string_view column) const;
  /// Returns a fact that is a number. Throws Error(bad_input).
  [[nodiscard]] double fact_number(std::string_view key) const;
};

/// Reads a table from the text of a CSV. Throws Error(bad_input) that names file and line.
[[nodiscard]] Table parse_table(std::string_view text, const std::string& origin);
/// Reads a table from a file. Throws Error(bad_input), and Error(no_input) where it is missing.
[[nodiscard]] Table read_table(const std::string& path);

/// Returns the text of a table's CSV.
[[nodiscard]] std::string csv_head(const Table& table);
[[nodiscard]] std::string csv_row(const std::vector<std::string>& cells);

/// Writer of a CSV, row by row during the measurement; a killed run leaves complete rows. One
/// thread at a time.
class TableWriter {
 public:
  /// Writes the head of `table`, which must have no rows. Throws Error(cannot_create,
  /// write_failed).
  TableWriter(const std::string& path, Table table);

  /// Appends a row. Throws Error(write_failed).
  void add(std::vector<std::string> cells);
  void finish() { file_.finish(); }

  [[nodiscard]] const Table& table() const { return table_; }

 private:
  TextFile file_;
  Table table_;
};

}  // namespace equalux::cli::lab
