// Tone curves as files.
#include <string>
#include <vector>

#include <equalux/curve.h>
#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/filter_changes.h"
#include "tests/support/media/test_images.h"
#include "tests/support/temp_folder.h"

namespace equalux {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(CurveFile, OptionReadsTheFileAndItsSpace) {
  const test::TempFolder folder;
  EqualizeParams params;
  params.strength = 0.75;
  params.clip_limit = 2;
  params.space = Space::lightness;
  const auto filter = make_cpu_filter(params, {1});
  const ImageDesc desc{PixelFormat::bgr, 20, 20};
  ASSERT_TRUE(test::collect_curves(*filter));
  filter->configure(desc);
  Image frame(desc);
  test::fill(frame.view(), test::Content::natural);
  FrameContext context;
  filter->submit(frame.view(), frame.view(), context);
  const ToneCurve curve = test::curve_sum(*filter).value().mean();
  EXPECT_THAT(curve.made_with, ElementsAre(Pair("strength", "0.75"), Pair("clip-limit", "2")));
  const std::string path = folder / "c.json";
  test::write_file(path, curve_text(curve));
  EXPECT_EQ(read_curve(path), curve);
  EqualizeParams read;
  set_option(read, "curve-from", path);
  EqualizeParams expected;
  expected.space = Space::lightness;
  expected.curve = curve;
  EXPECT_EQ(read, expected);
}

struct Fault {
  std::string from;
  std::string to;
  std::string says;
};

TEST(CurveFile, DamagedFilesAreRefused) {
  ToneCurve curve;
  curve.frames = 4;
  for (std::uint32_t v = 0; v < 256; ++v)
    curve.levels.push_back(v * ToneCurve::kUnit);
  const std::string text = curve_text(curve);
  ASSERT_EQ(curve_from_text(text, "it"), curve);
  const std::vector<Fault> faults{
      {"tone curve", "tone", "is no tone curve"},
      {"\"version\": 1", "\"version\": 2", "has version 2, must be 1"},
      {"\"version\": 1,", "", "lacks a key"},
      {"\"unit\": 4194304", "\"unit\": 1", "has unit 1, must be 4194304"},
      {"\"value\"", "\"hue\"", "has space \"hue\", must be value, luma or lightness"},
      {"\"value\"", "7", "is no JSON of a tone curve"},
      {"\"frames\": 4", "\"frames\": 0", "is of no frame"},
      {"\"frames\": 4", "\"frames\": -4", "has frames that is -4"},
      {"\"frames\": 4", "\"frames\": 1.5", "has frames that is 1.5"},
      {"4194304, 8388608", "8388608, 4194304", "falls from one level to the next"},
      {"4194304, 8388608", "4194304, -1", "has a level that is -1"},
      {"4194304, 8388608", "4194304, 99999999999", "has a level that is 99999999999"},
      {"4194304, 8388608", "4194304", "has 255 levels, must have 220 or 256"},
      {"4194304, 8388608", "4194304, null", "has a level that is null"},
      {"1069547520\n", "1069547520", "is no JSON"},
      {"{", "", "is no JSON"},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.from + " -> " + fault.to);
    std::string damaged = text;
    const std::size_t at = damaged.find(fault.from);
    ASSERT_NE(at, std::string::npos);
    if (fault.from.back() == '\n') {
      damaged.resize(at + fault.to.size());  // the file ends early
    } else {
      damaged.replace(at, fault.from.size(), fault.to);
    }
    try {
      static_cast<void>(curve_from_text(damaged, "c.json"));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("c.json " + fault.says), HasSubstr("must")));
    }
  }
  std::string over = text;
  over.replace(over.find("1069547520"), 10, "1069547521");
  EXPECT_THROW(static_cast<void>(curve_from_text(over, "it")), Error);
  for (const char* empty : {"", "[]", "3", "{}", "null"})
    EXPECT_THROW(static_cast<void>(curve_from_text(empty, "it")), Error);
  try {
    static_cast<void>(read_curve("/nowhere/c.json"));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
  }
}

}  // namespace
}  // namespace equalux
