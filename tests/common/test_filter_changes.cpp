#include <equalux/clahe.h>
#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/filter_changes.h"
#include "tests/support/media/test_images.h"

/// Options that change by key and value while frames move.
namespace equalux {
namespace {

using Bytes = std::vector<std::uint8_t>;

const ImageDesc kDesc{PixelFormat::bgr, 96, 80};

/// A filter of a spec on the CPU, with frames to go through it.
struct Stream {
  explicit Stream(const std::string& spec) : filter(make_cpu_filter(parse_filter_spec(spec))) {
    out_desc = filter->configure(kDesc);
  }

  /// The next frame, or that of a number.
  Bytes next() { return frame(number++); }
  Bytes frame(std::uint64_t index) {
    Image in(kDesc);
    Image out(out_desc);
    test::fill(in.view(), test::Content::natural, static_cast<std::uint32_t>(index + 1));
    FrameContext context;
    context.index = index;
    context.pts_ns = static_cast<std::int64_t>(index) * 40'000'000;
    filter->submit(std::as_const(in).view(), out.view(), context);
    return test::tight_copy(out.view());
  }

  std::unique_ptr<Filter> filter;
  ImageDesc out_desc;
  std::uint64_t number = 0;
};

/// A change for each filter that frames show.
OptionValues change_of(std::string_view filter) {
  if (filter == "equalize") return {{"strength", "0.4"}, {"clip-limit", "2"}};
  if (filter == "clahe") return {{"clip-limit", "5"}};
  if (filter == "denoise") return {{"strength", "0"}};
  if (filter == "convolve") return {{"kernel", "sharpen"}};
  if (filter == "gaussian" || filter == "eigenvalues") return {{"sigma", "2.5"}};
  if (filter == "box") return {{"size", "7"}};
  if (filter == "vessel") return {{"low", "0.01"}, {"high", "0.02"}, {"min-size", "1"}};
  if (filter == "shapes") return {{"threshold", "1"}};
  return {{"offset", "17"}};
}

TEST(FilterChanges, EveryFilterTakesOtherValuesBetweenFrames) {
  for (const FilterInfo& info : filter_list()) {
    SCOPED_TRACE(info.name);
    const std::string name(info.name);
    const OptionValues values = change_of(name);
    Stream stream(name);
    const Bytes before = stream.frame(3);
    ASSERT_TRUE(stream.filter->update(values));
    const Bytes after = stream.frame(3);
    EXPECT_NE(after, before);
    EXPECT_EQ(after, Stream(FilterSpec{name, values}.text()).frame(3));
    // Back again, by the defaults as they are written.
    OptionValues defaults;
    for (const auto& [key, value] : values)
      defaults.emplace_back(key, find_option(info.options, key)->fallback);
    ASSERT_TRUE(stream.filter->update(defaults));
    stream.filter->reset();  // frames in between count for filters over time
    EXPECT_EQ(stream.frame(3), before);
  }
}

TEST(FilterChanges, BeforeTheFirstFrameToo) {
  const auto filter = make_cpu_filter(parse_filter_spec("vessel"));
  EXPECT_TRUE(filter->update({{"output", "heat"}}));
  EXPECT_EQ(filter->configure(kDesc).format, PixelFormat::bgr);
}

TEST(FilterChanges, WhatIsWrongChangesNothing) {
  for (const auto& [spec, values] : std::initializer_list<std::pair<const char*, OptionValues>>{
           {"equalize", {{"strength", "0.5"}, {"clip-limit", "0.5"}}},
           {"equalize", {{"strength", "0.5"}, {"no-such", "1"}}},
           {"clahe", {{"clip-limit", "9"}, {"tiles", "99"}}},
           {"clahe", {{"bins", "16"}}},
           {"sharpen", {{"offset", "9"}, {"weights", "1"}}},
           {"vessel:high=0.2", {{"min-size", "1"}, {"low", "0.3"}}},
           {"gaussian", {{"sigma", "x"}}}}) {
    SCOPED_TRACE(spec);
    Stream stream(spec);
    const Bytes before = stream.frame(5);
    EXPECT_THROW(static_cast<void>(stream.filter->update(values)), Error);
    EXPECT_EQ(stream.frame(5), before);
  }
}

TEST(FilterChanges, AnotherFormatTakesANewFilter) {
  for (const auto& [spec, value] : {std::pair{"vessel", "heat"}, {"shapes", "classes"}}) {
    Stream stream(spec);
    const Bytes before = stream.frame(5);
    EXPECT_FALSE(stream.filter->update({{"output", value}}));
    EXPECT_EQ(stream.frame(5), before) << "goes on as it was";
  }
}

/// A filter whose values changed goes on from where it is, as one that was made with them does from
/// its state.
TEST(FilterChanges, CurvesOverTimeKeepTheirHistory) {
  for (const std::string name : {"equalize", "clahe"}) {
    SCOPED_TRACE(name);
    Stream stream(name + ":temporal-ms=800,strength=1,clip-limit=4");
    for (int i = 0; i < 6; ++i)
      stream.next();
    Stream continued(name + ":temporal-ms=800,strength=0.3,clip-limit=2");
    continued.number = stream.number;
    continued.filter->load(stream.filter->save());
    ASSERT_TRUE(stream.filter->update({{"strength", "0.3"}, {"clip-limit", "2"}}));
    const Bytes first = stream.next();
    EXPECT_EQ(first, continued.next());
    EXPECT_NE(first, Stream(name + ":temporal-ms=800,strength=0.3,clip-limit=2").frame(6));
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(stream.next(), continued.next());
    EXPECT_EQ(stream.filter->save(), continued.filter->save());
  }
}

TEST(FilterChanges, AStateThatIsNoneOfTheFilterIsRefused) {
  for (const FilterInfo& info : filter_list()) {
    SCOPED_TRACE(info.name);
    Stream stream{std::string(info.name)};
    stream.next();
    const std::string own = stream.filter->save();
    for (const char* other : {"", "[]", "{", R"({"frames": 4})"})
      EXPECT_THROW(stream.filter->load(other), Error) << other;
    EXPECT_EQ(stream.filter->save(), own);
    stream.filter->load(own);
  }
}

TEST(FilterChanges, AnotherNumberOfTilesBeginsAgain) {
  Stream stream("clahe:temporal-ms=800");
  stream.next();
  ASSERT_TRUE(stream.filter->update({{"tiles", "3,2"}}));
  Stream other("clahe:temporal-ms=800,tiles=3,2");
  EXPECT_EQ(stream.frame(7), other.frame(7));
}

TEST(FilterChanges, CurvesThatAreAddedUpAreNotLost) {
  Stream stream("equalize");
  ASSERT_NE(stream.filter->curves(), nullptr);
  ASSERT_TRUE(stream.filter->curves()->collect());
  stream.filter->configure(kDesc);
  stream.next();
  EXPECT_TRUE(stream.filter->update({{"strength", "0.5"}}));
  EXPECT_FALSE(stream.filter->update({{"space", "luma"}})) << "takes a new filter";
  stream.next();
  EXPECT_EQ(stream.filter->curves()->sum().value().form.frames, 2U);
  EXPECT_EQ(Stream("sharpen").filter->curves(), nullptr);
}

/// Filters that are made of parameters keep their own ways.
TEST(FilterChanges, FiltersOfParametersTakeValuesWhereTheyKeepWhatTheyKnow) {
  EXPECT_TRUE(make_cpu_filter(EqualizeParams{})->update({{"strength", "0.5"}}));
  EXPECT_FALSE(make_cpu_filter(EqualizeParams{})->update({{"chain", "staged"}}));
  EXPECT_TRUE(make_cpu_filter(ClaheParams{})->update({{"strength", "0.5"}}));
  EXPECT_FALSE(make_cpu_filter(VesselParams{})->update({{"low", "0.1"}}));
}

}  // namespace
}  // namespace equalux
