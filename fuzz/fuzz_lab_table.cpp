// Tests tables of `equalux lab`: one that is written and read again is the same.
#include "fuzz/invariant.h"
#include "src/lab/table.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  using namespace equalux::cli::lab;
  Table table;
  const auto read = [&] { table = parse_table(fuzz::text_of(data, size), "fuzz"); };
  if (!fuzz::accepted(ExitCode::bad_input, "fuzz", read)) return 0;
  std::string text = csv_head(table);
  for (const std::vector<std::string>& row : table.rows) {
    fuzz::require(row.size() == table.columns.size(), "as many cells as columns", text);
    text += csv_row(row);
  }
  const Table again = parse_table(text, "again");
  fuzz::require(again.experiment == table.experiment && again.facts == table.facts &&
                    again.columns == table.columns && again.rows == table.rows,
                "a table that is written again reads as the same", text);
  return 0;
}
