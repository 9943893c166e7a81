// The frei0r plugins, loaded as a host loads them.
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/frei0r/frei0r_effect.h"
#include "src/options/option_table.h"
#include "tests/frei0r/frei0r_plugin.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Frei0rPlugin;
using ::testing::HasSubstr;

/// One instance, and a stream of pictures for it.
class Frei0r : public ::testing::Test {
 protected:
  static constexpr ImageDesc kDesc{PixelFormat::rgba, 160, 94};

  ~Frei0r() override {
    if (instance != nullptr) plugin.destruct(instance);
  }

  /// The plugin's result of picture `number`, at a thirtieth of a second each.
  Image result(int number) {
    Image out(kDesc);
    plugin.update(instance, number / 30.0, words(picture(number).view().data[0]),
                  words(out.view().data[0]));
    return out;
  }
  static Image picture(int number) {
    Image in(kDesc);
    test::fill(in.view(), test::Content::natural, static_cast<std::uint32_t>(number));
    return in;
  }
  static std::uint32_t* words(std::uint8_t* bytes) {
    return reinterpret_cast<std::uint32_t*>(bytes);
  }

  /// The library's filter, given the frames that the plugin gets.
  struct Core {
    explicit Core(const std::string& spec) : filter(make_cpu_filter(parse_filter_spec(spec))) {
      filter->configure(kDesc);
    }
    Image result(int number) {
      Image out(kDesc);
      FrameContext context;
      context.index = count++;
      context.pts_ns = static_cast<std::int64_t>(number / 30.0 * 1e9);
      filter->submit(picture(number).view(), out.view(), context);
      return out;
    }
    std::unique_ptr<Filter> filter;
    std::uint64_t count = 0;
  };
  void expect_same(Core& core, int first, int count) {
    for (int i = first; i < first + count; ++i)
      ASSERT_EQ(test::count_differences(core.result(i).view(), result(i).view()), 0U) << i;
  }

  Frei0rPlugin plugin{"equalux"};
  f0r_instance_t instance = plugin.construct(160, 94);
};

TEST_F(Frei0r, TellsWhatItIs) {
  EXPECT_EQ(plugin.info.plugin_type, F0R_PLUGIN_TYPE_FILTER);
  EXPECT_EQ(plugin.info.color_model, F0R_COLOR_MODEL_RGBA8888);
  EXPECT_EQ(plugin.info.frei0r_version, FREI0R_MAJOR_VERSION);
  EXPECT_STREQ(plugin.info.name, "equalux");
  EXPECT_STREQ(plugin.parameters.front().name, "settings");
  std::set<std::string> names;
  for (const f0r_param_info_t& each : plugin.parameters) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_GT(std::string(each.explanation).size(), 10U) << each.name;
  }
  for (const char* wanted :
       {"scaler", "strength", "clip-limit", "floor", "temporal-ms", "surround"})
    EXPECT_EQ(names.count(wanted), 1U) << wanted;
  // Nothing of the staged chain, which is for study.
  EXPECT_EQ(names.count("scan"), 0U);
}

/// FFmpeg sets parameters by their place: it is what the page says, and does not change.
TEST_F(Frei0r, ThePagesTableIsTrue) {
  std::ifstream page(EQUALUX_SOURCE_FOLDER "/docs/hosts.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);)
    if (line.size() > 2 && line.starts_with("| ") && std::isdigit(line[2]) != 0)
      rows.push_back(line);
  ASSERT_EQ(rows.size(), plugin.parameters.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = plugin.parameters[i].name;
    const Option* option = find_option(equalize_options(), name);
    const std::string range =
        plugin.parameters[i].type != F0R_PARAM_DOUBLE
            ? "text"
            : number_text(option->slider_least) + " to " + number_text(option->slider_most);
    EXPECT_EQ(rows[i], "| " + std::to_string(i) + " | `" + name + "` | " + range + " |");
  }
}

TEST_F(Frei0r, EveryFilterIsAPlugin) {
  for (const auto& [file, name] : {std::pair{"equalux_clahe", "equalux-clahe"},
                                   {"equalux_convolve", "equalux-convolve"},
                                   {"equalux_denoise", "equalux-denoise"}}) {
    const Frei0rPlugin other(file);
    EXPECT_STREQ(other.info.name, name);
    const f0r_instance_t of = other.construct(160, 94);
    Image in = picture(1);
    Image out(kDesc);
    other.update(of, 0, words(in.view().data[0]), words(out.view().data[0]));
    Core core(std::string(file).substr(8));
    EXPECT_EQ(test::count_differences(core.result(1).view(), out.view()), 0U) << file;
    other.destruct(of);
  }
}

TEST_F(Frei0r, FramesHaveTheLibrarysBytes) {
  Core plain("equalize");
  expect_same(plain, 0, 3);
  plugin.set(instance, "settings", "temporal-ms=500,clip-limit=2.5,floor=1");
  Core calm("equalize:temporal-ms=500,clip-limit=2.5,floor=1");
  // A change while frames move keeps the history, so both begin again.
  const f0r_instance_t first = instance;
  instance = plugin.construct(160, 94);
  plugin.destruct(first);
  plugin.set(instance, "settings", "temporal-ms=500 clip-limit=2.5 floor=1");
  expect_same(calm, 0, 12);
}

TEST_F(Frei0r, NumbersGoFromEndToEndOfTheirSliders) {
  for (const f0r_param_info_t& each : plugin.parameters) {
    if (each.type != F0R_PARAM_DOUBLE) continue;
    const Option* option = find_option(equalize_options(), each.name);
    ASSERT_NE(option, nullptr);
    for (const double value : {option->slider_most, option->slider_least + option->step}) {
      if (option->key == "ceiling" && value < option->slider_most) continue;
      const double position =
          (value - option->slider_least) / (option->slider_most - option->slider_least);
      plugin.set(instance, each.name, static_cast<float>(position));
      EXPECT_NEAR(plugin.number(instance, each.name), position, 1e-6 + option->least * 0.11)
          << each.name;
    }
  }
  plugin.set(instance, "clip-limit", 0.3);
  plugin.set(instance, "temporal-ms", 0.05);
  plugin.set(instance, "brighten-ms", 0.0);
  plugin.set(instance, "darken-ms", 0.0);
  plugin.set(instance, "strength", 0.75);
  plugin.set(instance, "floor", 0.1);
  plugin.set(instance, "stretch", 0.0);
  plugin.set(instance, "max-gain", 0.0);
  plugin.set(instance, "min-gain", 0.0);
  plugin.set(instance, "saturation", 0.25);
  // It means something beside auto alone, which no slider says.
  plugin.set(instance, "saturation-max", 1.0);
  Core core("equalize:clip-limit=3,temporal-ms=500,strength=0.75,floor=1");
  expect_same(core, 0, 8);
}

TEST_F(Frei0r, SlidersMayBeSetInAnyOrder) {
  plugin.set(instance, "darken-ms", 0.07);
  plugin.set(instance, "temporal-ms", 0.15);
  plugin.set(instance, "saturation-max", 1.0);
  plugin.set(instance, "settings", "saturation=auto");
  Core core("equalize:temporal-ms=1500,darken-ms=700,saturation=auto,saturation-max=4");
  expect_same(core, 0, 8);
  plugin.set(instance, "temporal-ms", 0.0);
  EXPECT_EQ(plugin.number(instance, "temporal-ms"), 0);
  // What `settings` say is asked for.
  ::testing::internal::CaptureStderr();
  plugin.set(instance, "settings", "darken-ms=700");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("darken-ms is 700 without temporal-ms"));
}

TEST_F(Frei0r, AGaussiansSigmaKeepsNoOtherKernelFromBeingChosen) {
  const Frei0rPlugin convolve("equalux_convolve");
  const f0r_instance_t of = convolve.construct(160, 94);
  const auto expect = [&](const std::string& spec) {
    Image in = picture(1);
    Image out(kDesc);
    convolve.update(of, 0, words(in.view().data[0]), words(out.view().data[0]));
    EXPECT_EQ(test::count_differences(Core(spec).result(1).view(), out.view()), 0U) << spec;
  };
  convolve.set(of, "sigma", 0.2);
  expect("convolve:kernel=gaussian-blur");
  convolve.set(of, "kernel", "gaussian");
  expect("convolve:kernel=gaussian,sigma=2");
  convolve.set(of, "kernel", "edge");
  expect("convolve:kernel=edge");
  convolve.set(of, "kernel", "gaussian");
  expect("convolve:kernel=gaussian,sigma=2");
  // What `settings` say is asked for.
  ::testing::internal::CaptureStderr();
  convolve.set(of, "settings", "kernel=edge,sigma=2");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("sigma belongs to kernel gaussian"));
  convolve.destruct(of);
}

TEST_F(Frei0r, SettingsWinAndWrongOnesLeaveWhatWas) {
  plugin.set(instance, "strength", 0.5);
  plugin.set(instance, "settings", "strength=0.25,bins=128");
  ::testing::internal::CaptureStderr();
  plugin.set(instance, "settings", "strength=2");
  plugin.set(instance, "settings", "stregth=0.5");
  plugin.set(instance, "scaler", "max");
  plugin.set(instance, "space", "lu\nma");
  plugin.set(instance, "strength", std::nan(""));
  plugin.set(instance, "floor", 20.0);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said,
              HasSubstr("equalux: strength is 2, must be 0 to 1, or auto; it stays as it was\n"));
  EXPECT_THAT(said, HasSubstr("must be strength"));
  EXPECT_THAT(said, HasSubstr("strength is nan of its range, must be 0 to 1 (0 to 1)"));
  EXPECT_THAT(said, HasSubstr("scaler is 'max', must be max-abs, min-max or min-max-nonzero"));
  EXPECT_THAT(said, HasSubstr("space is 'lu\\nma', must be value, luma or lightness"));
  EXPECT_THAT(said, HasSubstr("floor is 20 of its range, must be 0 to 1 (0 to 10 per cent)"));
  EXPECT_EQ(plugin.text(instance, "settings"), "strength=0.25,bins=128");
  EXPECT_EQ(plugin.text(instance, "scaler"), "max-abs");
  EXPECT_EQ(plugin.number(instance, "strength"), 0.5);
  Core core("equalize:strength=0.25,bins=128");
  expect_same(core, 0, 2);
  // What settings no longer say holds as it was set beside them.
  plugin.set(instance, "settings", "");
  Core half("equalize:strength=0.5");
  expect_same(half, 2, 2);
}

TEST_F(Frei0r, TimeThatGoesBackStartsAnew) {
  plugin.set(instance, "settings", "temporal-ms=2000");
  for (int i = 20; i < 26; ++i)
    result(i);
  Core core("equalize:temporal-ms=2000");
  expect_same(core, 3, 4);
}

/// Nanoseconds of frames, told at these times.
std::vector<std::int64_t> ticks_of(const std::vector<double>& times, double ticks_a_second = 0) {
  FrameClock clock;
  std::vector<std::int64_t> all;
  for (const double time : times)
    all.push_back(clock.tick(time, ticks_a_second).ns);
  return all;
}

TEST(FrameClock, TellsSecondsFromMillisecondsByTheFirstStep) {
  using ::testing::ElementsAre;
  EXPECT_THAT(ticks_of({0, 0.5, 0.75, 5}), ElementsAre(0, 500000000, 750000000, 5000000000));
  EXPECT_THAT(ticks_of({0, 40, 80, 80, 80.5}),
              ElementsAre(0, 40000000, 80000000, 80000000, 80500000));
  EXPECT_THAT(ticks_of({7000, 7040}), ElementsAre(0, 40000000));
  EXPECT_THAT(ticks_of({3, 3, 3}), ElementsAre(0, 0, 0));
  // A picture every two seconds, of a host that is known to tell seconds.
  EXPECT_THAT(ticks_of({0, 2, 4}, 1), ElementsAre(0, 2000000000, 4000000000));
}

TEST(FrameClock, CountsFramesWithoutATime) {
  using ::testing::ElementsAre;
  const double none = -9.2e18 * 0.04 * 1000;
  EXPECT_THAT(ticks_of({none, none, NAN}), ElementsAre(0, 33333333, 66666666));
  EXPECT_THAT(ticks_of({0, 40, none, none, INFINITY}),
              ElementsAre(0, 40000000, 80000000, 120000000, 160000000));
  // The stream goes on where times come again.
  EXPECT_THAT(ticks_of({0, 40, none, 9000, 9010}),
              ElementsAre(0, 40000000, 80000000, 120000000, 130000000));
}

TEST(FrameClock, BeginsAnewWhereTimeGoesBack) {
  FrameClock clock;
  EXPECT_FALSE(clock.tick(1, 1).went_back);
  EXPECT_FALSE(clock.tick(1.5, 1).went_back);
  const FrameClock::Tick back = clock.tick(1.25, 1);
  EXPECT_TRUE(back.went_back);
  EXPECT_EQ(back.ns, 0);
  EXPECT_EQ(clock.tick(1.5, 1).ns, 250000000);
}

/// Frames that are taken for wider than they are would be read and written past their end.
TEST(HostHabits, RowsHaveGapsInTheVersionAlone) {
  EXPECT_EQ(habits_of_ffmpeg(8, 44, 854).stride, 864 * 4);
  EXPECT_EQ(habits_of_ffmpeg(8, 44, 1920).stride, 1920 * 4);
  for (const unsigned major : {6U, 7U, 8U, 9U, 10U, 11U}) {
    const HostHabits habits = habits_of_ffmpeg(major, 3, 854);
    EXPECT_EQ(habits.stride, 854 * 4) << major;
    EXPECT_EQ(habits.gaps, major < 10) << major;
    EXPECT_FALSE(habits_of_ffmpeg(major, 3, 1280).gaps) << major;
  }
  // 6.1's, as Ubuntu 24.04 has it.
  EXPECT_EQ(habits_of_ffmpeg(9, 12, 854).stride, 854 * 4);
  EXPECT_FALSE(habits_of_ffmpeg(9, 12, 854).gaps);
  EXPECT_TRUE(habits_of_ffmpeg(9, 11, 854).gaps);
}

TEST_F(Frei0r, InstancesComeAndGoAndKnowNothingOfEachOther) {
  for (int i = 0; i < 100; ++i) {
    const f0r_instance_t other = plugin.construct(64 + static_cast<unsigned>(i), 33);
    if (i % 10 == 0) {
      std::vector<std::uint32_t> in(static_cast<std::size_t>(64 + i) * 33, 0x40302010);
      std::vector<std::uint32_t> out(in.size());
      plugin.set(other, "strength", 0.1);
      plugin.update(other, i, in.data(), out.data());
    }
    plugin.destruct(other);
  }
  const f0r_instance_t other = plugin.construct(160, 94);
  plugin.set(other, "strength", 0.25);
  plugin.set(instance, "settings", "temporal-ms=900");
  Core mine("equalize:temporal-ms=900");
  Core others("equalize:strength=0.25");
  for (int i = 0; i < 4; ++i) {
    expect_same(mine, i, 1);
    std::swap(instance, const_cast<f0r_instance_t&>(other));
    expect_same(others, i, 1);
    std::swap(instance, const_cast<f0r_instance_t&>(other));
  }
  plugin.destruct(other);
}

/// An editor that asks for a picture of no size, or for parameters that are none.
TEST_F(Frei0r, WhatCannotBeFilteredPassesThrough) {
  plugin.set_param_value(instance, nullptr, 0);
  double value = 1;
  plugin.set_param_value(instance, &value, 1000);
  plugin.set_param_value(instance, &value, -1);
  plugin.get_param_value(instance, &value, 1000);
  EXPECT_EQ(value, 1);
  const Frei0rPlugin convolve("equalux_convolve");
  const f0r_instance_t of = convolve.construct(160, 94);
  ::testing::internal::CaptureStderr();
  convolve.set(of, "settings", "kernel=custom");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("equalux: "));
  Image in = picture(4);
  Image out(kDesc);
  convolve.update(of, 0, words(in.view().data[0]), words(out.view().data[0]));
  convolve.destruct(of);
}

}  // namespace
}  // namespace equalux
