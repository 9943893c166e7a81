#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"

namespace equalux::test {
namespace {

TEST(JsonText, WhatIsReadIsWrittenAgain) {
  const char* const text = R"({"a":[1,-2,0.5,18446744073709551615],"b":{"c":null,"d":true}})";
  EXPECT_EQ(json_text(parse_json(text)), text);
  EXPECT_EQ(json_text(parse_ordered_json(R"({"z":1,"a":"\u00e9"})")), "{\"z\":1,\"a\":\"\u00e9\"}");
  EXPECT_EQ(json_text(parse_json(R"({"z":1,"a":2})"), 2), "{\n  \"a\": 2,\n  \"z\": 1\n}");
}

TEST(JsonText, WhatIsNoJsonIsAnErrorOrDiscarded) {
  for (const char* text : {"", "{", "{\"a\":}", "nul", "[1] 2", "\"\xff\""}) {
    SCOPED_TRACE(text);
    EXPECT_THROW(static_cast<void>(parse_json(text)), nlohmann::json::parse_error);
    EXPECT_THROW(static_cast<void>(parse_ordered_json(text)), nlohmann::json::parse_error);
    EXPECT_TRUE(json_or_discarded(text).is_discarded());
  }
  EXPECT_EQ(json_or_discarded("[1]"), parse_json("[1]"));
}

TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(json_text(nlohmann::json{{"name", "a\xff.mp4"}}), "{\"name\":\"a\xEF\xBF\xBD.mp4\"}");
  EXPECT_EQ(json_text(nlohmann::ordered_json("\xc3")), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace equalux::test
