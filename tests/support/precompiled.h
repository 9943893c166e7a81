#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// GCC reads a precompiled header whole for every file, Clang what a file needs of it.
#ifdef __clang__
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <ranges>
#include <span>
#include <sstream>

#include <nlohmann/json.hpp>

namespace equalux::test {

/// What nearly every test does with libraries: Clang keeps what that instantiates, too. Never
/// called.
inline std::string instantiate_often_used(nlohmann::json json, const std::string& text) {
  using ::testing::AllOf;
  using ::testing::Contains;
  using ::testing::ElementsAre;
  using ::testing::HasSubstr;
  using ::testing::IsEmpty;
  using ::testing::Not;
  using ::testing::SizeIs;
  const std::vector<std::string> texts{text};
  EXPECT_THAT(text, HasSubstr("a"));
  EXPECT_THAT(text, Not(HasSubstr("a")));
  EXPECT_THAT(text, AllOf(HasSubstr("a"), HasSubstr("b")));
  EXPECT_THAT(text, IsEmpty());
  EXPECT_THAT(texts, IsEmpty());
  EXPECT_THAT(texts, ElementsAre("a"));
  EXPECT_THAT(texts, Contains("a"));
  EXPECT_THAT(texts, SizeIs(1));
  EXPECT_EQ(text, "a");
  EXPECT_EQ(text, text);
  EXPECT_EQ(texts, texts);
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_EQ(static_cast<int>(texts.size()), 1);
  EXPECT_EQ(static_cast<std::uint64_t>(texts.size()), 1);
  EXPECT_EQ(true, texts.empty());
  EXPECT_EQ(1.0, static_cast<double>(texts.size()));
  EXPECT_NEAR(1.0, static_cast<double>(texts.size()), 1.0);
  EXPECT_LT(1.0, static_cast<double>(texts.size()));
  EXPECT_GT(1.0, static_cast<double>(texts.size()));
  EXPECT_LE(1, static_cast<int>(texts.size()));
  EXPECT_GE(1, static_cast<int>(texts.size()));
  EXPECT_GT(texts.size(), 1U);
  EXPECT_TRUE(texts.empty()) << text << 1 << 1U << 1.0;

  const nlohmann::json other = nlohmann::json::parse(json.dump(2));
  EXPECT_EQ(json, other);
  for (const auto& each : other)
    if (each.is_object() && each.contains("a")) json["a"] = each.at("b");
  for (const auto& [key, value] : other.items())
    if (value == json) json[key] = value.value("c", 0);
  json["d"] = 1.0;
  json["e"] = 1;
  json["f"] = text;
  json["g"] = true;
  json["h"] = texts;
  EXPECT_EQ(json["a"], "a");
  EXPECT_EQ(json["a"], 1);
  EXPECT_EQ(json["a"], 1.0);
  EXPECT_EQ(json["a"], true);
  EXPECT_EQ(json["a"], text);
  if (json["a"].get<double>() > json.value("d", 0.0) || json["b"].get<bool>())
    return json.value("b", text);
  return json["a"].get<int>() > 0 ? json["c"].get<std::string>() : text;
}

}  // namespace equalux::test
#endif
