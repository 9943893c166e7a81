#include <string>

#include <equalux/convolve.h>
#include <equalux/error.h>
#include <equalux/filter.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/options/idle_options.h"
#include "src/options/option_table.h"

/// The tables of options: what hosts, help and error lines make of them.
namespace equalux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Pair;

Clauses broken(const std::string& filter, const std::string& key, const std::string& value) {
  return violations(FilterSpec{filter, {{key, value}}}, {}, Backend::automatic);
}

std::string usage_error_of(const std::string& spec) {
  try {
    static_cast<void>(violations(parse_filter_spec(spec), {}, Backend::automatic));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << spec;
    return error.what();
  }
  ADD_FAILURE() << "no error for " << spec;
  return {};
}

template <typename Check>
void for_each_option(const Check& check) {
  for (const FilterInfo& filter : filter_list()) {
    ASSERT_FALSE(filter.options.empty()) << filter.name;
    for (const Option& option : filter.options) {
      SCOPED_TRACE(std::string(filter.name) + ":" + std::string(option.key));
      check(filter, option);
    }
  }
}

TEST(Options, AreDescribed) {
  for_each_option([](const FilterInfo& filter, const Option& option) {
    EXPECT_THAT(std::string(option.key), MatchesRegex("[a-z]+(-[a-z]+)*"));
    EXPECT_EQ(find_option(filter.options, option.key), &option);
    EXPECT_FALSE(option.title.empty());
    EXPECT_THAT(std::string(option.help), Not(HasSubstr("\n")));
    EXPECT_FALSE(option.help.empty() || option.help.ends_with('.'));
    EXPECT_EQ(option.type == OptionType::name, !option.names.empty());
    EXPECT_EQ(option.names.empty(), option.names_type.empty());
    EXPECT_FALSE(option_default(option).empty());
    EXPECT_FALSE(option_placeholder(option).empty());
    for (const OptionName& name : option.names)
      EXPECT_FALSE(name.help.empty()) << name.name;
  });
}

TEST(Options, DefaultsAreReadAndInRange) {
  for_each_option([](const FilterInfo& filter, const Option& option) {
    for (const std::string& value : {option.fallback, std::string(option.shown)}) {
      if (value.empty()) continue;
      EXPECT_THAT(broken(std::string(filter.name), std::string(option.key), value), IsEmpty());
    }
    if (option.type != OptionType::number && option.type != OptionType::whole) return;
    EXPECT_LT(option.least, option.most);
    EXPECT_TRUE(option.fallback.empty() || in_range(option, std::stod(option.fallback)));
  });
}

TEST(Options, WhatIsOutOfRangeIsSaidWithTheRange) {
  for_each_option([](const FilterInfo& filter, const Option& option) {
    // Rules of convolution's kernel speak of what belongs to which.
    if (option.range.empty() && option.type == OptionType::number && filter.name != "convolve") {
      const auto clauses =
          broken(std::string(filter.name), std::string(option.key), number_text(option.most + 1));
      EXPECT_THAT(clauses, ::testing::Contains(HasSubstr("is " + number_text(option.most + 1) +
                                                         ", must be " + option_range(option))));
    }
    if (option.type != OptionType::number && option.type != OptionType::whole) return;
    const std::string spec = std::string(filter.name) + ":" + std::string(option.key) + "=x";
    EXPECT_THAT(usage_error_of(spec), HasSubstr(option_range(option)));
  });
}

TEST(Options, LiveNumbersHaveASliderWithinTheirRange) {
  int live = 0;
  for_each_option([&live](const FilterInfo&, const Option& option) {
    if (!option.live) return;
    ++live;
    EXPECT_FALSE(option.decides_format);
    for (const char* taken : {"filter", "filters", "preset", "recording", "reset", "sliders"})
      EXPECT_NE(option.key, taken) << "means something else to those who change it";
    if (option.type != OptionType::number && option.type != OptionType::whole) return;
    EXPECT_GT(option.step, 0);
    EXPECT_LT(option.slider_least, option.slider_most);
    EXPECT_TRUE(in_range(option, option.slider_least));
    EXPECT_LE(option.slider_most, option.most);
  });
  EXPECT_GE(live, 18);  // equalize's and those that clahe has of them
}

TEST(Options, HelpHasRangeZeroAndDefault) {
  const Option& clip = *find_option(equalize_options(), "clip-limit");
  EXPECT_EQ(option_range(clip), "1 to 255, or 0 for none");
  EXPECT_THAT(option_help(clip), HasSubstr("identity's, 1 to 255; 0 = none"));
  EXPECT_EQ(option_default(clip), "0");
  EXPECT_EQ(option_default(*find_option(filter_list()[1].options, "clip-limit")), "2");
  // What goes on behind a semicolon stands behind the range.
  const Option& time = *find_option(equalize_options(), "temporal-ms");
  EXPECT_THAT(option_help(time),
              HasSubstr("curve, 0 to 3600000 milliseconds; 0 = each frame alone; light"));
  EXPECT_EQ(option_range(time), "0 to 3600000 milliseconds");
  const Option& scan = *find_option(equalize_options(), "scan");
  EXPECT_THAT(option_help(scan), ::testing::StartsWith("staged chain: prefix sum"));
  EXPECT_THAT(option_help(scan), HasSubstr("or brent-kung (Brent and Kung); on CUDA also two-"));
  EXPECT_EQ(option_default(scan), "the backend's choice");
  EXPECT_EQ(option_range(*find_option(vessel_options(), "low")), "above 0 to 10");
  EXPECT_EQ(option_placeholder(time), "MS");
}

TEST(Options, AnEmptyValueUndoesWhatMayBeUnset) {
  EqualizeParams params;
  set_option(params, "grid", "4,2");
  set_option(params, "scan", "cub");
  set_option(params, "region", "0,0,4,4");
  for (const char* key : {"grid", "scan", "region", "curve-from"})
    set_option(params, key, "");
  EXPECT_EQ(params, EqualizeParams{});
  EXPECT_THROW(set_option(params, "strength", ""), Error);
  ConvolveParams custom;
  set_option(custom, "weights", "1,2,1,2,4,2,1,2,1");
  EXPECT_EQ(custom.kernel, "custom");
  set_option(custom, "weights", "");
  EXPECT_EQ(custom, ConvolveParams{});
}

TEST(Options, AKernelBesideWeightsIsRefusedInEitherOrder) {
  const std::string weights = "weights=1,1,1,1,1,1,1,1,1";
  for (const std::string& spec :
       {"convolve:kernel=sharpen," + weights, "convolve:" + weights + ",kernel=sharpen"}) {
    EXPECT_THAT(violations(parse_filter_spec(spec), {}, Backend::automatic),
                ElementsAre(HasSubstr("weights belongs to kernel custom")))
        << spec;
  }
}

TEST(Options, VesselsHaveNoDerivativeWithoutAScale) {
  EXPECT_THAT(usage_error_of("vessel:derivative=x"), HasSubstr("must be gaussian or gradient"));
  EXPECT_THAT(broken("vessel", "derivative", "sobel-laplacian"),
              ElementsAre(HasSubstr("which has no scale, must be gaussian or gradient")));
  EXPECT_THAT(usage_error_of("shapes:derivative=x"), HasSubstr("or sobel-laplacian"));
}

TEST(Options, WhatMeansNothingBesideAnotherValueIsLeftOutUnlessItIsKept) {
  const OptionValues all{{"saturation", "1.5"}, {"saturation-max", "3"}, {"strength", "0.5"},
                         {"temporal-ms", "0"},  {"brighten-ms", "100"},  {"darken-ms", "200"}};
  const OptionValues some{{"saturation", "1.5"}, {"strength", "0.5"}, {"temporal-ms", "0"}};
  EXPECT_EQ(without_idle(equalize_options(), all), some);
  OptionValues kept = some;
  kept.emplace_back("darken-ms", "200");
  EXPECT_EQ(without_idle(equalize_options(), all, {{"darken-ms", "7"}}), kept);
  // Beside the word its bound counts, and beside a time constant those of one direction.
  const OptionValues useful{{"saturation", "auto"},
                            {"saturation-max", "3"},
                            {"temporal-ms", "500"},
                            {"brighten-ms", "100"}};
  EXPECT_EQ(without_idle(equalize_options(), useful), useful);
  // A Gaussian's width, beside another kernel.
  const auto kernel = [](const char* name) {
    return without_idle(convolve_options(), {{"kernel", name}, {"size", "5"}, {"sigma", "2"}});
  };
  EXPECT_EQ(kernel("edge"), (OptionValues{{"kernel", "edge"}}));
  EXPECT_EQ(kernel("box"), (OptionValues{{"kernel", "box"}, {"size", "5"}}));
  EXPECT_EQ(kernel("gaussian").size(), 3U);
  // The scale of a Gaussian, beside derivatives that have none.
  const OptionValues scaled{{"sigma", "3"}, {"truncate", "2"}, {"derivative", "sobel-laplacian"}};
  EXPECT_EQ(without_idle(shapes_options(), scaled),
            (OptionValues{{"derivative", "sobel-laplacian"}}));
  const OptionValues gradient{{"sigma", "3"}, {"truncate", "2"}, {"derivative", "gradient"}};
  EXPECT_EQ(without_idle(shapes_options(), gradient), gradient);
}

TEST(NumberText, IsShortAndReadAgain) {
  for (const auto& [number, text] :
       std::initializer_list<std::pair<double, const char*>>{{0.1, "0.1"},
                                                             {100000, "100000"},
                                                             {3600000, "3600000"},
                                                             {-0.25, "-0.25"},
                                                             {0, "0"},
                                                             {1e-300, "1e-300"},
                                                             {1.0 / 3, "0.3333333333333333"}}) {
    EXPECT_EQ(number_text(number), text);
    EXPECT_EQ(number_from<double>(number_text(number)), number);
  }
}

}  // namespace
}  // namespace equalux
