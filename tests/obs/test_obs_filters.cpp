// The filters as libobs calls them, without OBS's window and without graphics.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <obs.h>
#include <util/base.h>
#include <util/bmem.h>

#include "pipelines/obs/frames.h"
#include "pipelines/obs/settings.h"
#include "pipelines/obs/sources.h"
#include "src/cli/config_file.h"
#include "src/options/option_table.h"
#include "tests/core/short_memory.h"
#include "tests/opencv/virtual_display.h"
#include "tests/support/media/test_images.h"

namespace equalux::obs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What the filters complain of in OBS's log, from whichever thread. What frames have cost is no
/// complaint.
class Complaints {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (line.find(" frames filtered, ") == std::string::npos) lines_.push_back(line);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};
Complaints complaints;

void log(int, const char* format, va_list arguments, void*) {
  char line[1024];
  std::vsnprintf(line, sizeof line, format, arguments);
  if (std::string_view(line).starts_with("[equalux]")) complaints.add(line);
}

struct ReleaseData {
  void operator()(obs_data_t* data) const { obs_data_release(data); }
};
using Settings = std::unique_ptr<obs_data_t, ReleaseData>;

Settings settings_from(const std::string& json) {
  return Settings(obs_data_create_from_json(json.c_str()));
}

/// A filter that libobs has made.
class Made {
 public:
  explicit Made(std::size_t kind = 0, const std::string& json = R"({"preset":"plain"})",
                const char* name = "mine")
      : info(source_info(kinds()[kind])),
        source_(obs_source_create_private(kinds()[kind].id, name, settings_from(json).get())),
        data(obs_obj_get_data(source_)) {}
  /// A thread of libobs ends the filter; it has done so when this returns.
  ~Made() {
    obs_source_release(source_);
    obs_queue_task(
        OBS_TASK_DESTROY, [](void*) {}, nullptr, true);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  /// What libobs does before the next frame when settings have changed.
  void update(const std::string& json) {
    const Settings mine(obs_source_get_settings(source_));
    obs_data_apply(mine.get(), settings_from(json).get());
    info.update(data, mine.get());
  }
  std::string value(const char* key) {
    const Settings mine(obs_source_get_settings(source_));
    return number_text(obs_data_get_double(mine.get(), key));
  }
  obs_source_frame* filter(obs_source_frame* frame) { return info.filter_video(data, frame); }

  const obs_source_info info;

 private:
  obs_source_t* source_;

 public:
  void* const data;
};

struct DestroyFrame {
  void operator()(obs_source_frame* frame) const { obs_source_frame_destroy(frame); }
};
using FramePtr = std::unique_ptr<obs_source_frame, DestroyFrame>;

/// A frame as a camera gives it to OBS.
FramePtr make_frame(video_format format, std::uint32_t width, std::uint32_t height,
                    std::uint32_t seed = 1, video_colorspace colours = VIDEO_CS_709,
                    bool full = false) {
  FramePtr frame(obs_source_frame_create(format, width, height));
  frame->full_range = full;
  frame->timestamp = 1'000'000'000ULL + seed * 33'000'000ULL;
  video_format_get_parameters_for_format(colours, full ? VIDEO_RANGE_FULL : VIDEO_RANGE_PARTIAL,
                                         format, frame->color_matrix, frame->color_range_min,
                                         frame->color_range_max);
  if (const auto view = view_of(*frame)) test::fill(*view, test::Content::natural, seed);
  return frame;
}

/// What the library makes of frames, one after another.
class Library {
 public:
  explicit Library(const std::string& spec) : filter_(make_cpu_filter(parse_filter_spec(spec))) {}

  Image result(const obs_source_frame& frame) {
    const ImageView in = *view_of(frame);
    if (desc_ != in.desc) filter_->configure(in.desc);
    desc_ = in.desc;
    Image out(in.desc);
    FrameContext context;
    context.index = count_++;
    context.pts_ns = static_cast<std::int64_t>(frame.timestamp);
    filter_->submit(in, out.view(), context);
    return out;
  }
  void reset() { filter_->reset(); }

 private:
  std::unique_ptr<Filter> filter_;
  ImageDesc desc_;
  std::uint64_t count_ = 0;
};

class ObsFilters : public ::testing::Test {
 protected:
  static inline std::unique_ptr<test::VirtualDisplay> display;
  static inline bool started = false;

  /// libobs does not start without a display, though nothing is drawn.
  static void SetUpTestSuite() {
    base_set_log_handler(log, nullptr);
    display = std::make_unique<test::VirtualDisplay>();
    if (!display->started()) return;
    setenv("DISPLAY", display->name().c_str(), 1);
    started = obs_startup("en-US", nullptr, nullptr);
    ASSERT_TRUE(started);
    for (const Kind& each : kinds()) {
      const obs_source_info info = source_info(each);
      obs_register_source(&info);
    }
  }
  static void TearDownTestSuite() {
    if (!started) return;
    obs_shutdown();
    display.reset();
    EXPECT_EQ(bnum_allocs(), 0) << "memory of libobs that nobody gave back";
  }
  void SetUp() override {
    if (!started) GTEST_SKIP() << "Xvfb is not installed (Debian: xvfb)";
    complaints.clear();
  }

  static std::size_t differences(Library& library, Made& made, obs_source_frame& frame) {
    const Image expected = library.result(frame);
    EXPECT_EQ(made.filter(&frame), &frame);
    return test::count_differences(expected.view(), *view_of(frame));
  }
};

const std::vector<video_format>& all_formats() {
  static const std::vector<video_format> all{
      VIDEO_FORMAT_I420, VIDEO_FORMAT_NV12, VIDEO_FORMAT_YVYU, VIDEO_FORMAT_YUY2, VIDEO_FORMAT_UYVY,
      VIDEO_FORMAT_RGBA, VIDEO_FORMAT_BGRA, VIDEO_FORMAT_BGRX, VIDEO_FORMAT_Y800, VIDEO_FORMAT_I444,
      VIDEO_FORMAT_BGR3, VIDEO_FORMAT_I422, VIDEO_FORMAT_I40A, VIDEO_FORMAT_I42A, VIDEO_FORMAT_YUVA,
      VIDEO_FORMAT_AYUV, VIDEO_FORMAT_I010, VIDEO_FORMAT_P010, VIDEO_FORMAT_I210, VIDEO_FORMAT_I412,
      VIDEO_FORMAT_YA2L};
  return all;
}

TEST_F(ObsFilters, FramesOfEveryFormatHaveTheLibrarysBytes) {
  int formats = 0;
  for (const video_format format : all_formats()) {
    if (!format_of(format)) continue;
    ++formats;
    for (const auto& [width, height] : {std::pair{160U, 94U}, {97U, 61U}, {2U, 2U}}) {
      SCOPED_TRACE(std::string(get_video_format_name(format)) + " " + std::to_string(width));
      Made made(0, R"({"preset":"plain","clip-limit":2.5,"temporal-ms":200})");
      Library library("equalize:clip-limit=2.5,temporal-ms=200");
      for (std::uint32_t i = 1; i < 4; ++i)
        ASSERT_EQ(differences(library, made, *make_frame(format, width, height, i)), 0U) << i;
    }
  }
  EXPECT_EQ(formats, 19);
  EXPECT_THAT(complaints.lines(), ElementsAre());
}

TEST_F(ObsFilters, EveryKindIsItsFilter) {
  const std::vector<std::pair<const char*, const char*>> expected{
      {"equalux", "equalize"}, {"equalux denoise", "denoise"}, {"equalux clahe", "clahe"}};
  ASSERT_EQ(kinds().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_STREQ(obs_source_get_display_name(kinds()[i].id), expected[i].first);
    Made made(i);
    Library library(expected[i].second);
    for (std::uint32_t frame = 1; frame < 5; ++frame) {
      ASSERT_EQ(differences(library, made, *make_frame(VIDEO_FORMAT_NV12, 192, 112, frame)), 0U)
          << expected[i].first << " " << frame;
    }
  }
}

/// As plugins and scripts make filters of their own.
TEST_F(ObsFilters, AFilterNeedsNoName) {
  Made made(0, R"({"preset":"plain"})", nullptr);
  ASSERT_NE(made.data, nullptr);
  Library library("equalize");
  EXPECT_EQ(differences(library, made, *make_frame(VIDEO_FORMAT_NV12, 192, 112)), 0U);
  made.update(R"({"scaler":"x"})");
  EXPECT_THAT(complaints.lines(), ElementsAre(HasSubstr("'equalux': scaler is 'x', must be")));
}

/// OBS tells the matrix as 16 numbers.
TEST_F(ObsFilters, MatrixAndRangeAreFound) {
  for (const auto& [colours, matrix] : {std::pair{VIDEO_CS_601, ColorMatrix::bt601},
                                        {VIDEO_CS_709, ColorMatrix::bt709},
                                        {VIDEO_CS_SRGB, ColorMatrix::bt709},
                                        {VIDEO_CS_DEFAULT, ColorMatrix::bt709},
                                        {VIDEO_CS_2100_PQ, ColorMatrix::bt2020},
                                        {VIDEO_CS_2100_HLG, ColorMatrix::bt2020}}) {
    for (const bool full : {false, true}) {
      for (const video_format format : {VIDEO_FORMAT_I420, VIDEO_FORMAT_P010, VIDEO_FORMAT_I412}) {
        const FramePtr frame = make_frame(format, 16, 16, 1, colours, full);
        const ImageDesc desc = view_of(*frame)->desc;
        EXPECT_EQ(desc.matrix, matrix) << colours << get_video_format_name(format) << full;
        EXPECT_EQ(desc.range, full ? ColorRange::full : ColorRange::limited);
      }
    }
  }
  // Sources that say nothing leave zeros.
  const FramePtr frame = make_frame(VIDEO_FORMAT_I420, 16, 16);
  std::fill(std::begin(frame->color_matrix), std::end(frame->color_matrix), 0.0F);
  EXPECT_EQ(view_of(*frame)->desc.matrix, ColorMatrix::bt709);
}

/// Alpha in a plane of its own is nobody's business, nor what lies behind the rows.
TEST_F(ObsFilters, AlphaStays) {
  for (const video_format format : {VIDEO_FORMAT_I40A, VIDEO_FORMAT_I42A, VIDEO_FORMAT_YUVA}) {
    const FramePtr frame = make_frame(format, 64, 32);
    std::uint8_t* const alpha = frame->data[3];
    const std::size_t bytes = std::size_t{frame->linesize[3]} * 32;
    for (std::size_t i = 0; i < bytes; ++i)
      alpha[i] = static_cast<std::uint8_t>(i * 7);
    Made made;
    made.filter(frame.get());
    for (std::size_t i = 0; i < bytes; ++i)
      ASSERT_EQ(alpha[i], static_cast<std::uint8_t>(i * 7)) << get_video_format_name(format);
  }
}

TEST_F(ObsFilters, FramesThatCannotBeFilteredPassAsTheyAreWithOneLine) {
  Made made;
  for (int i = 0; i < 3; ++i) {
    const FramePtr frame = make_frame(VIDEO_FORMAT_YVYU, 32, 16);
    std::fill_n(frame->data[0], frame->linesize[0] * 16, std::uint8_t{77});
    EXPECT_EQ(made.filter(frame.get()), frame.get());
    EXPECT_EQ(std::count(frame->data[0], frame->data[0] + frame->linesize[0] * 16, 77),
              frame->linesize[0] * 16);
  }
  EXPECT_THAT(complaints.lines(),
              ElementsAre("[equalux] 'mine': YVYU is a format that cannot be filtered; "
                          "frames pass as they are"));
  complaints.clear();

  // Lightness is of RGB.
  made.update(R"({"space":"lightness"})");
  for (std::uint32_t i = 1; i < 4; ++i) {
    const FramePtr frame = make_frame(VIDEO_FORMAT_I420, 32, 16, i);
    const FramePtr same = make_frame(VIDEO_FORMAT_I420, 32, 16, i);
    made.filter(frame.get());
    EXPECT_EQ(test::count_differences(*view_of(*frame), *view_of(*same)), 0U);
  }
  ASSERT_EQ(complaints.lines().size(), 1U);
  EXPECT_THAT(complaints.lines().front(), HasSubstr("frames pass as they are"));

  // It recovers, with the next settings and with other frames.
  Library lightness("equalize:space=lightness");
  EXPECT_EQ(differences(lightness, made, *make_frame(VIDEO_FORMAT_BGRA, 32, 16)), 0U);
  made.update(R"({"space":"luma"})");
  Library luma("equalize:space=luma");
  EXPECT_EQ(differences(luma, made, *make_frame(VIDEO_FORMAT_I420, 32, 16)), 0U);
}

TEST_F(ObsFilters, ValuesThatAreNoGoodAreToldAndTheOnesBeforeStay) {
  Made made(0, R"({"preset":"plain","clip-limit":2})");
  Library library("equalize:clip-limit=2");
  for (const char* wrong :
       {R"({"clip-limit":300})", R"({"clip-limit":"much"})", R"({"clip-limit":2,"scaler":"none"})",
        R"({"scaler":"max-abs","curve-from":"/there/is/none.json"})",
        R"({"curve-from":"","preset":"holiday"})"}) {
    complaints.clear();
    made.update(wrong);
    ASSERT_EQ(complaints.lines().size(), 1U) << wrong;
    EXPECT_THAT(complaints.lines().front(), HasSubstr("; it stays as it was"));
    EXPECT_EQ(differences(library, made, *make_frame(VIDEO_FORMAT_I420, 64, 32)), 0U) << wrong;
  }
}

/// A history of frames outlasts a change; a clip that begins again has none.
TEST_F(ObsFilters, ChangesKeepTheHistoryAndAnEarlierTimeEndsIt) {
  Made made(0, R"({"preset":"plain","temporal-ms":500})");
  const auto filter = make_cpu_filter(parse_filter_spec("equalize:temporal-ms=500"));
  const auto expect = [&](std::uint32_t i, bool reset) {
    const FramePtr frame = make_frame(VIDEO_FORMAT_I420, 96, 64, i);
    const ImageView in = *view_of(*frame);
    if (i == 1 && !reset) filter->configure(in.desc);
    if (reset) filter->reset();
    Image out(in.desc);
    FrameContext context;
    context.pts_ns = static_cast<std::int64_t>(frame->timestamp);
    filter->submit(in, out.view(), context);
    made.filter(frame.get());
    EXPECT_EQ(test::count_differences(out.view(), *view_of(*frame)), 0U) << i;
  };
  for (std::uint32_t i = 1; i < 5; ++i)
    expect(i, false);
  made.update(R"({"clip-limit":2})");
  filter->update({{"clip-limit", "2"}, {"temporal-ms", "500"}});
  for (std::uint32_t i = 5; i < 8; ++i)
    expect(i, false);
  expect(1, true);
  expect(2, false);
}

TEST_F(ObsFilters, TheLeftOfASplitStaysAsItWas) {
  for (const video_format format : {VIDEO_FORMAT_I420, VIDEO_FORMAT_YUY2, VIDEO_FORMAT_BGRA}) {
    // Pairs of columns share their chroma.
    const int half = format == VIDEO_FORMAT_BGRA ? 51 : 50;
    for (const auto& [split, columns] :
         {std::pair{"0.5", half}, {"0.255", 26}, {"1", 101}, {"7", 101}}) {
      const FramePtr before = make_frame(format, 101, 40);
      const FramePtr frame = make_frame(format, 101, 40);
      Library library("equalize");
      const Image all = library.result(*frame);
      Made made(0, std::string(R"({"preset":"plain","split":)") + split + "}");
      made.filter(frame.get());
      const auto luma = [&](const ConstImageView& view, int x, int y) {
        return format == VIDEO_FORMAT_YUY2   ? view.row(0, y)[2 * x]
               : format == VIDEO_FORMAT_BGRA ? view.row(0, y)[4 * x]
                                             : view.row(0, y)[x];
      };
      int others = 0;
      for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 101; ++x) {
          const int expected = x < columns ? luma(*view_of(*before), x, y) : luma(all.view(), x, y);
          others += luma(*view_of(*frame), x, y) == expected ? 0 : 1;
        }
      }
      EXPECT_EQ(others, 0) << get_video_format_name(format) << " " << split;
    }
  }
}

/// From the second frame on, whatever the filter.
TEST_F(ObsFilters, NothingIsAllocatedWhileFramesMove) {
  using test::short_memory::Lasting;
  for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
    Made made(kind, R"({"preset":"webcam","split":0.5})");
    for (std::uint32_t i = 1; i < 6; ++i) {
      const FramePtr frame = make_frame(VIDEO_FORMAT_NV12, 192, 112, i);
      if (i > 2) test::short_memory::fail_at(0, Lasting::once);
      made.filter(frame.get());
      EXPECT_FALSE(test::short_memory::stop()) << kinds()[kind].name << " " << i;
    }
  }
  EXPECT_THAT(complaints.lines(), ElementsAre());
}

/// Sizes and formats of cameras and clips change while OBS runs.
TEST_F(ObsFilters, FramesMayChange) {
  Made made;
  Library library("equalize");
  for (const std::uint32_t width : {64U, 32U, 128U, 64U})
    for (const video_format format : {VIDEO_FORMAT_I420, VIDEO_FORMAT_BGRX})
      EXPECT_EQ(differences(library, made, *make_frame(format, width, 48)), 0U);
  EXPECT_THAT(complaints.lines(), ElementsAre());
}

/// Frames of a size that the settings do not fit, between others.
TEST_F(ObsFilters, FramesThatDoNotFitForgetTheOnesBefore) {
  Made made(2, R"({"preset":"plain","tiles":"8,8"})");
  Library large("clahe:tiles=8,8");
  EXPECT_EQ(differences(large, made, *make_frame(VIDEO_FORMAT_I420, 64, 64)), 0U);
  const FramePtr small = make_frame(VIDEO_FORMAT_I420, 8, 8);
  made.filter(small.get());
  EXPECT_EQ(
      test::count_differences(*view_of(*small), *view_of(*make_frame(VIDEO_FORMAT_I420, 8, 8))),
      0U);
  EXPECT_EQ(complaints.lines().size(), 1U);
  made.update(R"({"tiles":"2,2"})");
  Library other("clahe:tiles=2,2");
  EXPECT_EQ(differences(other, made, *make_frame(VIDEO_FORMAT_I420, 8, 8)), 0U);
}

// --- settings --------------------------------------------------------------------------------

const FilterInfo& filter_named(const std::string& name) {
  for (const FilterInfo& each : filter_list())
    if (each.name == name) return each;
  throw std::runtime_error(name);
}

TEST_F(ObsFilters, EveryOptionOfTheTableIsASetting) {
  for (const Kind& kind : kinds()) {
    const FilterInfo& filter = filter_named(kind.filter);
    obs_properties_t* all = make_properties(filter);
    int sliders = 0;
    for (const Option& option : filter.options) {
      const std::string key(option.key);
      obs_property_t* property = obs_properties_get(all, key.c_str());
      const bool shown = option.group.empty() && option.backends != Backends::cuda;
      ASSERT_EQ(property != nullptr, shown) << key;
      if (!shown) continue;
      EXPECT_EQ(obs_property_description(property), std::string(option.title));
      EXPECT_EQ(obs_property_long_description(property), option_help(option));
      if (option.type == OptionType::number) {
        EXPECT_EQ(obs_property_float_type(property), OBS_NUMBER_SLIDER);
        EXPECT_EQ(obs_property_float_min(property), option.slider_least) << key;
        EXPECT_EQ(obs_property_float_max(property), option.slider_most) << key;
        ++sliders;
      }
      if (option.type == OptionType::name) {
        EXPECT_EQ(obs_property_list_item_count(property), option.names.size()) << key;
      }
      EXPECT_EQ(obs_properties_get(all, (key + "-auto").c_str()) != nullptr, !option.word.empty());
    }
    EXPECT_GE(sliders, 3) << kind.name;
    EXPECT_NE(obs_properties_get(all, "split"), nullptr);
    EXPECT_NE(obs_properties_get(all, "preset"), nullptr);
    obs_properties_destroy(all);
  }
}

/// Presets are what the program's files say, read there by another parser.
TEST_F(ObsFilters, PresetsSayWhatTheirFilesSay) {
  std::set<std::string> names;
  for (const PresetValue& each : preset_values())
    names.emplace(each.preset);
  std::set<std::string> files;
  for (const auto& each : std::filesystem::directory_iterator(EQUALUX_SOURCE_FOLDER "/configs"))
    files.insert(each.path().stem());
  // The list of all keys, and what is about many files.
  files.erase("default");
  files.erase("batch");
  EXPECT_EQ(names, files);
  for (const std::string& name : names) {
    OptionValues equalize;
    OptionValues denoise;
    for (const cli::ConfigEntry& entry :
         cli::read_config(EQUALUX_SOURCE_FOLDER "/configs/" + name + ".toml")) {
      ASSERT_EQ(entry.table, "");
      if (find_option(equalize_options(), entry.key) != nullptr)
        equalize.emplace_back(entry.key, entry.values.front());
      if (entry.key != "filter") continue;
      for (const std::string& spec : entry.values) {
        const FilterSpec read = parse_filter_spec(spec);
        // One that the plugin has no kind for would be lost.
        ASSERT_TRUE(read.name == "denoise" || (read.name == "equalize" && read.options.empty()));
        if (read.name == "denoise") denoise = read.options;
      }
    }
    for (const auto& [kind, values] : {std::pair{0U, equalize}, {1U, denoise}}) {
      if (values.empty()) continue;
      FilterSpec spec{kinds()[kind].filter, values};
      const RecipePtr expected = read_recipe(spec);
      Settings settings(obs_data_create());
      set_defaults(filter_named(spec.name), settings.get());
      obs_data_set_string(settings.get(), "preset", name.c_str());
      take_preset(filter_named(spec.name), settings.get(), {});
      const RecipePtr recipe = recipe_from_values(
          filter_named(spec.name), values_of(filter_named(spec.name), settings.get()));
      for (const Option& option : recipe->options())
        EXPECT_EQ(recipe->text(option.key), expected->text(option.key))
            << name << " " << option.key;
    }
  }
}

TEST_F(ObsFilters, ANewFilterHasPresetStable) {
  Made made(0, "{}");
  Library library(
      "equalize:strength=auto,clip-limit=3,floor=0.5,max-gain=8,min-gain=auto,temporal-ms=2000");
  for (std::uint32_t i = 1; i < 4; ++i)
    EXPECT_EQ(differences(library, made, *make_frame(VIDEO_FORMAT_I420, 96, 64, i)), 0U);
}

/// A preset takes the place of all values but those that come with it.
TEST_F(ObsFilters, APresetIsABeginning) {
  Made made(0, R"({"preset":"fog","ceiling":95,"floor":0.5})");
  EXPECT_EQ(made.value("ceiling"), "95");
  EXPECT_EQ(made.value("floor"), "0.5");  // Though a new filter has that too.
  EXPECT_EQ(made.value("clip-limit"), "1.5");
  made.update(R"({"clip-limit":4})");
  EXPECT_EQ(made.value("ceiling"), "95");
  EXPECT_EQ(made.value("clip-limit"), "4");
  made.update(R"({"preset":"surveillance","max-gain":6})");
  EXPECT_EQ(made.value("ceiling"), "100");
  EXPECT_EQ(made.value("clip-limit"), "3");
  EXPECT_EQ(made.value("max-gain"), "6");
  EXPECT_EQ(made.value("brighten-ms"), "2000");
  made.update(R"({"strength":0.5})");
  EXPECT_EQ(made.value("max-gain"), "6");
}

/// A box and a slider of a preset can be moved, though the preset has brought what stands with
/// them.
TEST_F(ObsFilters, WhatHasNoMeaningHoldsNoSliderUp) {
  for (const auto& [json, spec] :
       {std::pair{R"({"preset":"haze","saturation-auto":false,"saturation":2})",
                  "equalize:strength=0,stretch=4,floor=0.0005,ceiling=99.9995,saturation=2,"
                  "temporal-ms=3000"},
        {R"({"preset":"surveillance","temporal-ms":0})",
         "equalize:strength=auto,clip-limit=3,floor=1,max-gain=8,min-gain=auto"}}) {
    Made made(0, json);
    Library library(spec);
    for (std::uint32_t i = 1; i < 4; ++i)
      EXPECT_EQ(differences(library, made, *make_frame(VIDEO_FORMAT_I420, 96, 64, i)), 0U) << json;
  }
}

/// As OBS's window does it: the list, then the sliders.
TEST_F(ObsFilters, TheWindowShowsWhatAPresetSet) {
  const FilterInfo& filter = filter_named("equalize");
  Settings settings(obs_data_create());
  set_defaults(filter, settings.get());
  obs_properties_t* all = make_properties(filter);
  obs_properties_apply_settings(all, settings.get());
  EXPECT_FALSE(obs_property_enabled(obs_properties_get(all, "strength")));
  EXPECT_TRUE(obs_property_enabled(obs_properties_get(all, "saturation")));

  obs_data_set_string(settings.get(), "preset", "fog");
  EXPECT_TRUE(obs_property_modified(obs_properties_get(all, "preset"), settings.get()));
  EXPECT_EQ(obs_data_get_double(settings.get(), "temporal-ms"), 3000);
  EXPECT_EQ(obs_data_get_bool(settings.get(), "saturation-auto"), true);
  EXPECT_EQ(obs_data_get_bool(settings.get(), "strength-auto"), false);
  obs_properties_apply_settings(all, settings.get());
  EXPECT_TRUE(obs_property_enabled(obs_properties_get(all, "strength")));
  EXPECT_FALSE(obs_property_enabled(obs_properties_get(all, "saturation")));

  obs_data_set_double(settings.get(), "temporal-ms", 700);
  // Opening the window asks every property.
  obs_properties_apply_settings(all, settings.get());
  EXPECT_EQ(obs_data_get_double(settings.get(), "temporal-ms"), 700);
  obs_properties_destroy(all);
}

/// Sliders begin at 0 where that means something, and their numbers are not quite those shown.
TEST_F(ObsFilters, SlidersGiveNumbersOfTheTable) {
  for (const auto& [json, spec] :
       {std::pair{R"({"preset":"plain","clip-limit":0.25})", "equalize:clip-limit=1"},
        {R"({"preset":"plain","strength":0.30000000000000004})", "equalize:strength=0.3"},
        {R"({"preset":"plain","strength":0.2,"strength-auto":true})", "equalize:strength=auto"},
        {R"({"preset":"plain","strength":"auto"})", "equalize:strength=auto"},
        {R"({"preset":"plain","clip-limit":"2.5"})", "equalize:clip-limit=2.5"}}) {
    Made made(0, json);
    Library library(spec);
    EXPECT_EQ(differences(library, made, *make_frame(VIDEO_FORMAT_I420, 96, 64)), 0U) << json;
  }
}

// --- the module ------------------------------------------------------------------------------

/// As OBS finds it in a folder; two of it, too, since the kinds are there already.
TEST_F(ObsFilters, TheModuleLoads) {
  obs_module_t* module = nullptr;
  ASSERT_EQ(obs_open_module(&module, EQUALUX_OBS_MODULE, nullptr), MODULE_SUCCESS);
  EXPECT_TRUE(obs_init_module(module));
  EXPECT_STREQ(obs_get_module_name(module), "equalux");
  EXPECT_STREQ(obs_get_module_author(module), "the authors of equalux");
  EXPECT_THAT(obs_get_module_description(module), HasSubstr("readable"));
}

}  // namespace
}  // namespace equalux::obs
