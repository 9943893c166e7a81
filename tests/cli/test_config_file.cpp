#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/config_file.h"

namespace equalux::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> values_of(const std::string& text) {
  const auto entries = parse_config(text, "a.toml");
  EXPECT_EQ(entries.size(), 1U) << text;
  return entries.empty() ? std::vector<std::string>{} : entries.front().values;
}

std::string error_of(const std::string& text) {
  try {
    (void)parse_config(text, "a.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error for " << text;
  return {};
}

TEST(ConfigFile, ReadsEveryKindOfValue) {
  EXPECT_THAT(values_of("bins = 256"), ElementsAre("256"));
  EXPECT_THAT(values_of("bins=65_536 # comment"), ElementsAre("65536"));
  EXPECT_THAT(values_of("device = -1"), ElementsAre("-1"));
  EXPECT_THAT(values_of("fps = 29.97"), ElementsAre("29.97"));
  EXPECT_THAT(values_of("quiet = true"), ElementsAre("true"));
  EXPECT_THAT(values_of("name = \"a # \\\"b\\\" \\u00e9\""), ElementsAre("a # \"b\" \xC3\xA9"));
  EXPECT_THAT(values_of("name = \"a\\tb\\r\\n\\\\\""), ElementsAre("a\tb\r\n\\"));
  EXPECT_THAT(values_of("name = 'C:\\raw'"), ElementsAre("C:\\raw"));
  EXPECT_THAT(values_of("\"quoted-key\" = ''"), ElementsAre(""));
  EXPECT_THAT(values_of("filter = [\"a\",\n  # between\n  'b', ]\n"), ElementsAre("a", "b"));
  EXPECT_THAT(values_of("grid = []"), IsEmpty());
  EXPECT_THAT(values_of("bins = 2\r\n"), ElementsAre("2"));
  // As editors of Windows write it.
  EXPECT_THAT(values_of("\xEF\xBB\xBF"
                        "bins = 2\r\n"),
              ElementsAre("2"));
}

TEST(ConfigFile, KeepsTablesAndLines) {
  const auto entries = parse_config("a = 1\n\n[run]\nb = 2\n[ image ] # stills\nc = [3]", "x");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].table, "");
  EXPECT_EQ(entries[1].table, "run");
  EXPECT_EQ(entries[1].line, 4);
  EXPECT_EQ(entries[2].table, "image");
  EXPECT_TRUE(entries[2].is_array);
  EXPECT_FALSE(entries[1].is_array);
  EXPECT_THAT(parse_config("", "x"), IsEmpty());
  EXPECT_THAT(parse_config("# nothing", "x"), IsEmpty());
}

TEST(ConfigFile, NamesTheLineThatIsWrong) {
  EXPECT_THAT(error_of("a = 1\nb 2\n"), HasSubstr("a.toml:2: key b has no value"));
  EXPECT_THAT(error_of("a = abc"), HasSubstr("text in quotes"));
  EXPECT_THAT(error_of("a ="), HasSubstr("a is empty"));
  EXPECT_THAT(error_of("a = \"open"), HasSubstr("closing quote"));
  EXPECT_THAT(error_of("a = 1 2"), HasSubstr("'2' follows the value"));
  EXPECT_THAT(error_of("a = [1, 2\n"), HasSubstr("must end with ]"));
  EXPECT_THAT(error_of("a = [1 2]"), HasSubstr("must be , or ]"));
  EXPECT_THAT(error_of("a = 1\na = 2"), HasSubstr("a.toml:2: key a stands twice"));
  EXPECT_THAT(error_of("[run\n"), HasSubstr("must be [command]"));
  EXPECT_THAT(error_of("[a.b]\n"), HasSubstr("must be [command]"));
  EXPECT_THAT(error_of("= 3"), HasSubstr("has no key"));
  EXPECT_THAT(error_of("a = \"\\x\""), HasSubstr("no escape"));
  EXPECT_THAT(error_of("a = {b = 1}"), HasSubstr("must be a number"));
}

TEST(ConfigFile, MissingFileIsNoInput) {
  try {
    (void)read_config("/nonexistent/x.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
  }
}

}  // namespace
}  // namespace equalux::cli
