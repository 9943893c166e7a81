#include <string>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <equalux/params.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/options/nearest_name.h"

namespace equalux {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

template <typename Call>
std::string usage_error(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

EqualizeParams with(std::string_view key, std::string_view value) {
  EqualizeParams params;
  set_option(params, key, value);
  return params;
}

template <typename Enum>
void expect_names_round_trip() {
  for (const std::string_view name : enum_names<Enum>()) {
    const auto value = enum_from<Enum>(name);
    ASSERT_TRUE(value) << name;
    EXPECT_EQ(enum_name(*value), name);
  }
  EXPECT_FALSE(enum_from<Enum>(""));
  EXPECT_FALSE(enum_from<Enum>("no-such"));
}

TEST(ParamNames, RoundTrip) {
  expect_names_round_trip<Scaler>();
  expect_names_round_trip<Chain>();
  expect_names_round_trip<Space>();
  expect_names_round_trip<Backend>();
  expect_names_round_trip<RgbToHsvVariant>();
  expect_names_round_trip<HistogramVariant>();
  expect_names_round_trip<Surround>();
  expect_names_round_trip<ScanVariant>();
  expect_names_round_trip<EqualizeVariant>();
}

TEST(ParamNames, AreTheDocumentedOnes) {
  EXPECT_THAT(enum_names<Scaler>(), ElementsAre("max-abs", "min-max", "min-max-nonzero"));
  EXPECT_EQ(enum_name(Backend::automatic), "auto");
  EXPECT_EQ(enum_name(Chain::staged), "staged");
  EXPECT_EQ(enum_name(ScanVariant::two_ended_shared), "two-ended-shared");
  EXPECT_EQ(enum_name(ScanVariant::cub), "cub");
  EXPECT_EQ(enum_name(RgbToHsvVariant::uncoalesced), "uncoalesced");
  EXPECT_EQ(enum_name(EqualizeVariant::curve), "curve");
}

TEST(SetOption, ReadsEveryKey) {
  EXPECT_EQ(with("scaler", "min-max-nonzero").scaler, Scaler::min_max_nonzero);
  EXPECT_EQ(with("bins", "1000").bins, 1000);
  EXPECT_EQ(with("chain", "staged").chain, Chain::staged);
  EXPECT_EQ(with("region", "1,2,30%,4").region, "1,2,30%,4");
  EXPECT_EQ(with("surround", "ignore").surround, Surround::ignore);
  EXPECT_EQ(with("space", "lightness").space, Space::lightness);
  EXPECT_EQ(with("rgb-to-hsv", "uncoalesced").staged.rgb_to_hsv, RgbToHsvVariant::uncoalesced);
  EXPECT_EQ(with("histogram", "shared").staged.histogram, HistogramVariant::shared);
  EXPECT_EQ(with("scan", "brent-kung").staged.scan, ScanVariant::brent_kung);
  EXPECT_EQ(with("equalize", "divide").staged.equalize, EqualizeVariant::divide);
  EXPECT_EQ(with("pixels-per-thread", "4").staged.pixels_per_thread, 4);
  EXPECT_EQ(with("grid", "8,2,3").staged.grid, (Extent3{8, 2, 3}));
  EXPECT_EQ(with("block", "64").staged.block, (Extent3{64, 1, 1}));
}

TEST(SetOption, NamesWhatWouldBeRight) {
  EXPECT_THAT(usage_error([] { with("scaler", "minmax"); }),
              AllOf(HasSubstr("scaler is 'minmax'"), HasSubstr("max-abs, min-max or")));
  EXPECT_THAT(usage_error([] { with("surround", "no"); }), HasSubstr("must be keep or ignore"));
  EXPECT_THAT(usage_error([] { with("bins", "12x"); }), HasSubstr("2 to 65536"));
  EXPECT_THAT(usage_error([] { with("bins", ""); }), HasSubstr("bins is ''"));
  EXPECT_THAT(usage_error([] { with("bins", "99999999999"); }), HasSubstr("whole number"));
  EXPECT_THAT(usage_error([] { with("grid", "1,2,3,4"); }), HasSubstr("x,y,z"));
  EXPECT_THAT(usage_error([] { with("block", "8,,1"); }), HasSubstr("x,y,z"));
  EXPECT_THAT(usage_error([] { with("bin", "2"); }), HasSubstr("must be bins"));
  EXPECT_THAT(usage_error([] { with("strength-of-it", "2"); }), HasSubstr("scaler, bins,"));
}

TEST(Violations, DefaultsHoldOnEveryBackend) {
  for (const Backend backend : {Backend::automatic, Backend::cpu, Backend::cuda}) {
    EXPECT_THAT(violations({}, backend), IsEmpty());
  }
}

TEST(Violations, BinsRange) {
  for (const int bins : {0, 2, 3, 256, 257, 65536}) {
    EqualizeParams params;
    params.bins = bins;
    EXPECT_THAT(violations(params, Backend::cpu), IsEmpty()) << bins;
  }
  for (const int bins : {-1, 1, 65537}) {
    EqualizeParams params;
    params.bins = bins;
    EXPECT_THAT(violations(params, Backend::cpu), ElementsAre(HasSubstr("2 to 65536"))) << bins;
  }
}

TEST(Violations, StagedKnobsNeedTheStagedChain) {
  EqualizeParams params = with("scan", "kogge-stone");
  EXPECT_THAT(violations(params, Backend::cpu), ElementsAre(HasSubstr("scan kogge-stone")));
  params.chain = Chain::staged;
  EXPECT_THAT(violations(params, Backend::cpu), IsEmpty());
  EXPECT_FALSE(needs_cuda(params));
}

TEST(Violations, GpuOnlyKnobsAreRefusedByTheCpu) {
  const std::vector<std::pair<std::string, std::string>> knobs{
      {"rgb-to-hsv", "coalesced"},
      {"histogram", "global"},
      {"scan", "two-ended-shared"},
      {"scan", "cub"},
      {"scan", "kogge-stone-shared"},
      {"scan", "brent-kung-shared"},
      {"pixels-per-thread", "2"},
      {"grid", "8,1,1"},
      {"block", "8,1,1"},
  };
  for (const auto& [key, value] : knobs) {
    EqualizeParams params = with(key, value);
    params.chain = Chain::staged;
    EXPECT_TRUE(needs_cuda(params)) << key;
    EXPECT_THAT(violations(params, Backend::cpu),
                ElementsAre(AllOf(HasSubstr(key + " " + value), HasSubstr("CUDA"))));
    EXPECT_THAT(violations(params, Backend::automatic), IsEmpty()) << key;
    EXPECT_THAT(violations(params, Backend::cuda), IsEmpty()) << key;
  }
}

TEST(Violations, LaunchGeometry) {
  const auto broken = [](std::string_view key, std::string_view value) {
    EqualizeParams params = with(key, value);
    params.chain = Chain::staged;
    return violations(params, Backend::cuda);
  };
  EXPECT_THAT(broken("pixels-per-thread", "3"), ElementsAre(HasSubstr("1, 2, 4 or 8")));
  EXPECT_THAT(broken("grid", "0,1,1"), ElementsAre(HasSubstr("grid is 0,1,1")));
  EXPECT_THAT(broken("grid", "2147483647,65535,65535"), IsEmpty());
  EXPECT_THAT(broken("grid", "1,65536,1"), ElementsAre(HasSubstr("65535")));
  EXPECT_THAT(broken("block", "1024,1,1"), IsEmpty());
  EXPECT_THAT(broken("block", "1024,2,1"), ElementsAre(HasSubstr("at most 1024")));
  EXPECT_THAT(broken("block", "1,1,65"), ElementsAre(HasSubstr("z from 1 to 64")));
}

TEST(Violations, FrameFormats) {
  EqualizeParams staged;
  staged.chain = Chain::staged;
  ImageDesc desc{PixelFormat::nv12, 64, 48, ColorMatrix::bt709, ColorRange::limited};
  EXPECT_THAT(violations({}, Backend::cpu, &desc), IsEmpty());
  EXPECT_THAT(violations(staged, Backend::cpu, &desc), ElementsAre(HasSubstr("nv12")));
  desc.format = PixelFormat::abgr;
  EXPECT_THAT(violations(staged, Backend::cpu, &desc), IsEmpty());
  desc.format = PixelFormat::grayf32;
  EXPECT_THAT(violations({}, Backend::cpu, &desc), ElementsAre(HasSubstr("grayf32")));
}

TEST(Validate, ListsEveryViolation) {
  EqualizeParams params = with("scan", "cub");
  params.bins = 1;
  params.scaler = static_cast<Scaler>(9);
  const std::string message = usage_error([&] { validate(params, Backend::cpu); });
  EXPECT_THAT(message, AllOf(HasSubstr("bins is 1"), HasSubstr("scan cub"), HasSubstr("scaler")));
  EXPECT_NO_THROW(validate({}, Backend::cpu));
}

TEST(FilterSpecText, ParsesAndPrints) {
  const FilterSpec plain = parse_filter_spec("equalize");
  EXPECT_EQ(plain.name, "equalize");
  EXPECT_THAT(plain.options, IsEmpty());
  const FilterSpec lists = parse_filter_spec("vessel:sigmas=2,3,4,border=replicate");
  EXPECT_THAT(lists.options, ElementsAre(Pair("sigmas", "2,3,4"), Pair("border", "replicate")));
  EXPECT_EQ(lists.text(), "vessel:sigmas=2,3,4,border=replicate");
  EXPECT_THAT(parse_filter_spec("a:b=c=d").options, ElementsAre(Pair("b", "c=d")));
}

TEST(FilterSpecText, RefusesWhatItCannotRead) {
  for (const char* text : {"", ":", "equalize:", "equalize:bins", "equalize:=3", "equalize:bins=",
                           "equalize:bins=3,bins=4", "bins=3", "equalize:,bins=3"}) {
    EXPECT_THAT(usage_error([&] { (void)parse_filter_spec(text); }), HasSubstr("filter '")) << text;
  }
}

TEST(FilterList, MakesWhatItLists) {
  ASSERT_FALSE(filter_list().empty());
  for (const FilterInfo& info : filter_list()) {
    EXPECT_NE(make_cpu_filter(FilterSpec{std::string(info.name), {}}), nullptr) << info.name;
  }
}

TEST(FilterList, NoneTakesFramesWithoutPixelsOrWithTooMany) {
  for (const FilterInfo& info : filter_list()) {
    SCOPED_TRACE(info.name);
    const auto filter = make_cpu_filter(FilterSpec{std::string(info.name), {}});
    for (const int width : {0, -8, kMaxSide + 1}) {
      EXPECT_THROW(filter->configure({PixelFormat::gray8, width, 8}), Error) << width;
      EXPECT_THROW(filter->configure({PixelFormat::gray8, 8, width}), Error) << width;
    }
    EXPECT_THROW(filter->configure({PixelFormat::gray8, kMaxSide, kMaxSide}), Error);
  }
}

TEST(FilterList, NamesUnknownFiltersAndKeys) {
  const auto make = [](const char* text) { (void)make_cpu_filter(parse_filter_spec(text)); };
  EXPECT_THAT(usage_error([&] { make("equalise"); }), HasSubstr("must be equalize"));
  EXPECT_THAT(usage_error([&] { make("equalize:binz=3"); }), HasSubstr("must be bins"));
  EXPECT_THAT(usage_error([&] { make("equalize:bins=1"); }), HasSubstr("bins is 1"));
  EXPECT_THAT(usage_error([&] { make("equalize:chain=staged,grid=1,1,1"); }), HasSubstr("CUDA"));
}

TEST(NearestName, FindsTypingErrorsOnly) {
  const std::vector<std::string_view> names{"bins", "scaler", "scan", "timings"};
  EXPECT_EQ(nearest_name("bisn", names), "bins");
  EXPECT_EQ(nearest_name("timing", names), "timings");
  EXPECT_EQ(nearest_name("frobnicate", names), "");
  EXPECT_EQ(list_of_names(names), "bins, scaler, scan or timings");
}

}  // namespace
}  // namespace equalux
