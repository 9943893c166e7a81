#include <algorithm>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/gstreamer/encode/encoders.h"

namespace equalux {
namespace {

using ::testing::HasSubstr;

ExitCode code_of(const std::string& name, std::optional<int> quality, bool lossless,
                 std::string* text = nullptr) {
  try {
    check_encoder(name, quality, lossless);
  } catch (const Error& error) {
    if (text != nullptr) *text = error.what();
    return error.code();
  }
  return ExitCode::done;
}

TEST(EncodersTest, TheDefaultIsFirst) {
  const auto list = list_encoders();
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list.front().name, kDefaultEncoder);
  for (const EncoderListing& entry : list) {
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    EXPECT_EQ(entry.available, entry.reason.empty()) << entry.name;
  }
}

TEST(EncodersTest, AnUnknownNameListsTheKnownOnes) {
  std::string text;
  EXPECT_EQ(code_of("h264", std::nullopt, false, &text), ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("x264"));
  EXPECT_THAT(text, HasSubstr("ffv1"));
}

TEST(EncodersTest, WhatIsNotInstalledIsUnavailable) {
  for (const EncoderListing& entry : list_encoders()) {
    const ExitCode wanted = entry.available ? ExitCode::done : ExitCode::unavailable;
    EXPECT_EQ(code_of(entry.name, std::nullopt, false), wanted) << entry.name;
  }
}

TEST(EncodersTest, QualityIsCheckedAgainstEachScale) {
  EXPECT_EQ(code_of("x264", 50, false), ExitCode::done);
  EXPECT_EQ(code_of("x264", 51, false), ExitCode::usage);
  EXPECT_EQ(code_of("x264", -1, false), ExitCode::usage);
  EXPECT_EQ(code_of("x264", 20, true), ExitCode::usage);
  EXPECT_EQ(code_of("ffv1", 3, false), ExitCode::usage);
  EXPECT_EQ(code_of("ffv1", std::nullopt, true), ExitCode::done);
  std::string text;
  EXPECT_EQ(code_of("mjpeg", std::nullopt, true, &text), ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("lossless"));
}

}  // namespace
}  // namespace equalux
