#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/lab/pivot.h"
#include "src/lab/table.h"
#include "src/plot/markdown.h"
#include "tests/support/temp_folder.h"

/// The CSV of `equalux lab`, and Markdown of it.
namespace equalux::cli::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table sample() {
  Table table;
  table.experiment = "sweep";
  table.facts = {{"image", "a \"quoted\", name: with\nall, of\\it.png"}, {"device", "Card"}};
  table.columns = {"name", "with, comma", "ms"};
  table.rows = {{"plain", "a,b", "1.5"},
                {"say \"so\"", "two\nlines", "2"},
                {"", "#no fact", "0.001"},
                {"\r\n", "", "3e-05"}};
  return table;
}

std::string csv_of(const Table& table) {
  std::string text = csv_head(table);
  for (const auto& row : table.rows)
    text += csv_row(row);
  return text;
}

TEST(LabTable, ComesBackAsItWasWritten) {
  const Table table = sample();
  const Table back = parse_table(csv_of(table), "t.csv");
  EXPECT_EQ(back.experiment, table.experiment);
  EXPECT_EQ(back.facts, table.facts);
  EXPECT_EQ(back.columns, table.columns);
  EXPECT_EQ(back.rows, table.rows);
  EXPECT_EQ(back.fact("image"), table.facts[0].second);
  EXPECT_DOUBLE_EQ(back.number(3, "ms"), 3e-05);
}

TEST(LabTable, TakesLineEndsOfOtherSystems) {
  const Table table = parse_table("# equalux lab hashes\r\n# a: b\r\nx,y\r\n1,\"2\"\r\n", "t.csv");
  EXPECT_EQ(table.experiment, "hashes");
  EXPECT_EQ(table.fact("a"), "b");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(table.rows[0], ElementsAre("1", "2"));
}

TEST(LabTable, AKilledRunLeavesTheRowsThatItHas) {
  const test::TempFolder folder;
  const std::string path = folder / "t.csv";
  Table head = sample();
  head.rows.clear();
  TableWriter writer(path, head);
  writer.add({"a", "b", "1"});
  writer.add({"c", "d", "2"});
  // Not closed: what a killed run leaves is what another process sees now.
  const Table seen = read_table(path);
  EXPECT_EQ(seen.facts, head.facts);
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_THAT(seen.rows[1], ElementsAre("c", "d", "2"));
}

struct Broken {
  const char* text;
  const char* says;
};

TEST(LabTable, NamesWhatIsBroken) {
  for (const Broken& broken : {
           Broken{"", "first line"},
           Broken{"a,b\n1,2\n", "first line"},
           Broken{"# equalux lab sweep\n", "column names"},
           Broken{"# equalux lab sweep\n#nonsense\na\n", ":2: the line is no '# key: value'"},
           Broken{"# equalux lab sweep\na,b\n1\n", ":3: the line has 1 cells where 2"},
           Broken{"# equalux lab sweep\na,b\n1,\"2\n", ":3: the line has a quoted cell without"},
           Broken{"# equalux lab sweep\na,b\n1,\"2\"x\n", ":3: the line has text after"},
       }) {
    try {
      static_cast<void>(parse_table(broken.text, "t.csv"));
      ADD_FAILURE() << broken.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_THAT(error.what(), HasSubstr("t.csv"));
      EXPECT_THAT(error.what(), HasSubstr(broken.says));
    }
  }
  EXPECT_THROW(static_cast<void>(read_table("/nonexistent/t.csv")), Error);
}

TEST(LabTable, WrongCellsAreNamed) {
  const Table table = parse_table(csv_of(sample()), "t.csv");
  EXPECT_THROW(static_cast<void>(table.text(0, "absent")), Error);
  EXPECT_THROW(static_cast<void>(table.number(0, "name")), Error);
  EXPECT_THROW(static_cast<void>(table.fact_number("device")), Error);
}

TEST(LabMarkdown, KeepsToItsCells) {
  const std::string text =
      plot::markdown_table({"name", "ms"}, {{"a|b\nc", "1.234567"}, {"d", "1234567"}});
  EXPECT_EQ(text, "| name | ms |\n|---|---:|\n| a\\|b c | 1.235 |\n| d | 1234567 |\n");
}

TEST(LabMarkdown, TurnsRowsIntoATableOfTwoWays) {
  Table table;
  table.columns = {"grid", "block", "ms"};
  table.rows = {{"1", "1", "9"}, {"1", "4", "5"}, {"4", "1", "3"}};
  const PivotTable two_ways = pivot(table, {"grid", "block", "ms", "g \\ b"});
  EXPECT_EQ(markdown_table(two_ways),
            "| g \\ b | 1 | 4 |\n|---|---:|---:|\n| 1 | 9 | 5 |\n| 4 | 3 |  |\n");
  EXPECT_EQ(least_row(table, "ms", all_rows(table)), 2U);
  EXPECT_THROW(static_cast<void>(least_row(table, "ms", {})), Error);
}

}  // namespace
}  // namespace equalux::cli::lab
