#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/files/still.h"
#include "pipelines/opencv/display/window.h"
#include "pipelines/opencv/display/window_view.h"
#include "pipelines/opencv/still.h"
#include "tests/opencv/virtual_display.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

// ---- without a display --------------------------------------------------------------------------

TEST(WindowView, Keys) {
  const WindowState plain;
  const auto keys = [](const std::string& typed) {
    WindowState state;
    for (const char key : typed)
      state = after_key(state, key);
    return state;
  };
  EXPECT_EQ(keys("xyz1"), plain);
  EXPECT_EQ(after_key(plain, -1), plain);
  EXPECT_TRUE(keys("q").closed);
  EXPECT_TRUE(keys("Q").closed);
  EXPECT_TRUE(after_key(plain, 27).closed);
  EXPECT_EQ(keys(" ").picture, WindowPicture::before);
  EXPECT_EQ(keys("  ").picture, WindowPicture::after);
  EXPECT_EQ(keys("s").picture, WindowPicture::split);
  EXPECT_EQ(keys("ss").picture, WindowPicture::after);
  EXPECT_EQ(keys("s ").picture, WindowPicture::before);
  EXPECT_TRUE(keys("h").tones);
  EXPECT_EQ(keys("hhpp"), plain);
  EXPECT_TRUE(keys("?").help);
  EXPECT_FALSE(keys("??").help);
  EXPECT_TRUE(keys("\r").full);
  EXPECT_EQ(keys("\r\r"), plain);
  EXPECT_TRUE(keys("p").paused);
  EXPECT_TRUE(keys("w").still_wanted);
}

TEST(WindowView, Title) {
  EXPECT_EQ(window_title("clip.mkv", 29.97, {}), "equalux: clip.mkv - 30.0 fps - after");
  EXPECT_EQ(window_title("a", 5, {.picture = WindowPicture::split, .paused = true}),
            "equalux: a - 5.0 fps - before | after, paused");
}

TEST(WindowView, LongNamesAreShortened) {
  EXPECT_EQ(short_name("camera:0"), "camera:0");
  EXPECT_EQ(short_name(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(short_name("gst:" + std::string(200, 'x')), "gst:" + std::string(53, 'x') + "...");
  EXPECT_EQ(short_name(std::string(56, 'x') + "\u00fc" + "yyy"), std::string(56, 'x') + "...");
}

TEST(WindowKeys, AreListedWithWhatTheyChange) {
  using ::testing::Contains;
  using ::testing::Pair;
  const auto alone = window_keys(nullptr);
  EXPECT_THAT(alone, Contains(Pair("s", "split view")));
  EXPECT_THAT(alone, Contains(Pair("?", "these keys")));
  EXPECT_THAT(alone, ::testing::Not(Contains(Pair("f", ::testing::_))));
  Steering steering(
      {steered(0, read_recipe({"equalize", {}})), steered(1, read_recipe({"denoise", {}}))},
      {"plain"}, [](const std::string&) { return OptionValues{}; });
  steering.change({{"strength", 0.6}, {"saturation", "auto"}});
  const auto keys = window_keys(&steering);
  EXPECT_THAT(keys, Contains(Pair("[ ]", "strength: 0.6")));
  EXPECT_THAT(keys, Contains(Pair("- =", "clip-limit: none")));
  EXPECT_THAT(keys, Contains(Pair("( )", "saturation: auto")));
  EXPECT_THAT(keys, Contains(Pair("{ }", "denoise-strength: 1")));
  EXPECT_THAT(keys, Contains(Pair("f", "filter: on")));
  EXPECT_THAT(keys, ::testing::Not(Contains(Pair("r", ::testing::_))));
  // Each key that is listed is a key.
  for (const auto& [key, what] : keys) {
    if (key.size() != 3) continue;
    EXPECT_TRUE(steer_by_key(steering, key[2]) || key == "n b") << key;
  }
}

TEST(WindowKeys, SteerTheFilter) {
  Steering steering({steered(0, read_recipe({"equalize", {}}))}, {"plain"}, [](const std::string&) {
    return std::vector<std::pair<std::string, std::string>>{};
  });
  const auto state = [&](const char* key) { return steering.state()[key]; };
  EXPECT_TRUE(steer_by_key(steering, '['));
  EXPECT_EQ(state("strength"), 0.95);
  EXPECT_TRUE(steer_by_key(steering, ']'));
  EXPECT_EQ(state("strength"), 1);
  EXPECT_TRUE(steer_by_key(steering, '-'));
  EXPECT_EQ(state("clip-limit"), 40);
  EXPECT_TRUE(steer_by_key(steering, '='));
  EXPECT_EQ(state("clip-limit"), 0);
  EXPECT_TRUE(steer_by_key(steering, '-'));
  EXPECT_TRUE(steer_by_key(steering, '+'));
  EXPECT_EQ(state("clip-limit"), 0);
  EXPECT_TRUE(steer_by_key(steering, '.'));
  EXPECT_EQ(state("temporal-ms"), 100);
  EXPECT_TRUE(steer_by_key(steering, ','));
  EXPECT_EQ(state("temporal-ms"), 0);
  EXPECT_TRUE(steer_by_key(steering, 'F'));
  EXPECT_EQ(state("filter"), false);
  EXPECT_TRUE(steer_by_key(steering, 'n'));
  EXPECT_EQ(state("preset"), "plain");
  for (const int key : std::vector<int>{-1, 'q', ' ', 's', 'h', 'p', 'w', 27})
    EXPECT_FALSE(steer_by_key(steering, key)) << key;
}

TEST(WindowKeys, TellWhatAnotherFilterWouldChange) {
  Steering steering({steered(0, read_recipe({"shapes", {}}))}, {"plain"});
  EXPECT_FALSE(steer_by_key(steering, '{'));
  steering.know_filters(filter_list());
  EXPECT_EQ(test::error_of([&] { steer_by_key(steering, '{'); }),
            (std::pair{ExitCode::usage,
                       std::string("the key { changes strength of denoise, which this run cannot "
                                   "change")}));
  EXPECT_EQ(test::error_of([&] { steer_by_key(steering, '+'); }).second,
            "the key + changes clip-limit of equalize, which this run cannot change");
  EXPECT_THAT(test::error_of([&] { steer_by_key(steering, 'n'); }).second,
              HasSubstr("nothing that presets set"));
}

TEST(WindowKeys, BeginAndEndARecording) {
  Steering steering({});
  EXPECT_EQ(test::error_of([&] { steer_by_key(steering, 'r'); }).second,
            "recording needs a run with --record, must be left out");
  RecordSwitch recording;
  steering.allow_recording(recording);
  EXPECT_TRUE(steer_by_key(steering, 'r'));
  EXPECT_TRUE(recording.on);
  EXPECT_TRUE(steering.recording());
  EXPECT_TRUE(steer_by_key(steering, 'R'));
  EXPECT_FALSE(recording.on);
}

TEST(WindowView, PacerPlaysAtTheFilesSpeed) {
  Pacer pacer;
  const Clock::time_point t{};
  EXPECT_EQ(pacer.due(5'000'000'000, t), t);  // The first frame is due now, whatever its stamp.
  EXPECT_EQ(pacer.due(5'040'000'000, t + 1ms), t + 40ms);
  EXPECT_EQ(pacer.due(5'080'000'000, t + 100ms), t + 80ms);   // Late: shown at once, no new clock.
  EXPECT_EQ(pacer.due(5'120'000'000, t + 500ms), t + 500ms);  // Very late: a new clock.
  EXPECT_EQ(pacer.due(5'160'000'000, t + 501ms), t + 540ms);
  pacer.delay(10s);
  EXPECT_EQ(pacer.due(5'200'000'000, t + 502ms), t + 580ms + 10s);
  EXPECT_EQ(pacer.due(0, t + 11s), t + 11s);  // Back to the start.
}

TEST(WindowView, RateOverTheLastSecond) {
  FrameRateMeter meter;
  Clock::time_point now{};
  for (int i = 0; i < 61; ++i, now += 20ms)
    meter.count(now);
  EXPECT_NEAR(meter.fps(), 50, 1);
  for (int i = 0; i < 30; ++i, now += 100ms)
    meter.count(now);
  EXPECT_NEAR(meter.fps(), 10, 1);
}

/// Opening on these variables; the error's code and text.
std::pair<ExitCode, std::string> open_error(const char* display, const char* wayland) {
  display == nullptr ? ::unsetenv("DISPLAY") : ::setenv("DISPLAY", display, 1);
  wayland == nullptr ? ::unsetenv("WAYLAND_DISPLAY") : ::setenv("WAYLAND_DISPLAY", wayland, 1);
  StreamInfo info;
  info.desc = {.format = PixelFormat::bgr, .width = 64, .height = 48};
  try {
    make_window_sink()->open(info);
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {ExitCode::done, {}};
}

TEST(WindowWithoutDisplay, IsUnavailableAndNoAbort) {
  const auto none = open_error(nullptr, nullptr);
  EXPECT_EQ(none.first, ExitCode::unavailable);
  EXPECT_THAT(none.second, HasSubstr("no display"));
  const auto dead = open_error(":1999", nullptr);
  EXPECT_EQ(dead.first, ExitCode::unavailable);
  EXPECT_THAT(dead.second, HasSubstr("DISPLAY=:1999"));
  const auto dead_wayland = open_error(nullptr, "wayland-none");
  EXPECT_EQ(dead_wayland.first, ExitCode::unavailable);
  EXPECT_THAT(dead_wayland.second, HasSubstr("WAYLAND_DISPLAY=wayland-none"));
  EXPECT_EQ(open_error("nonsense", "").first, ExitCode::unavailable);
}

// ---- with one -----------------------------------------------------------------------------------

class Window : public ::testing::Test {
 protected:
  void SetUp() override {
    // One server for all cases of a process: Qt cannot change servers.
    static test::VirtualDisplay display;
    if (!display.started()) {
      if (std::getenv("EQUALUX_REQUIRE_DISPLAY") != nullptr) FAIL() << "Xvfb does not start";
      GTEST_SKIP() << "Xvfb is not installed, so there is no display to test a window on";
    }
    ::setenv("DISPLAY", display.name().c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
    register_opencv_stills();
    std::string pattern = (fs::temp_directory_path() / "equalux-window-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void open(const ImageDesc& desc, bool live = true) {
    StreamInfo info;
    info.desc = desc;
    info.live = live;
    info.name = "test";
    before_ = std::make_unique<FramePool>(desc, 2);
    after_ = std::make_unique<FramePool>(desc, 2);
    sink_ = make_window_sink({.title = {}, .still_folder = folder_.string()});
    sink_->open(info);
  }

  void write_frame(std::int64_t pts_ns = 0) {
    FramePtr frame = after_->acquire();
    frame->original = before_->acquire();
    test::fill(frame->original->pixels.view(), test::Content::natural);
    test::fill(frame->pixels.view(), test::Content::ramp);
    frame->pts_ns = pts_ns;
    frame->duration_ns = 40'000'000;
    sink_->write(*frame);
  }

  /// Keeps the window alive until `done`, or for five seconds; false then.
  bool idle_until(const std::function<bool()>& done) {
    for (const auto end = Clock::now() + 5s; Clock::now() < end;) {
      if (done()) return true;
      sink_->idle();
    }
    return false;
  }

  /// False where there is no xdotool to press keys with.
  static bool can_press() { return test::run_quietly("command -v xdotool") == 0; }
  static void press(const std::string& key) {
    EXPECT_EQ(
        test::run_quietly("xdotool search --onlyvisible --name '^equalux:' key --window %1 " + key),
        0);
  }
  [[nodiscard]] std::size_t stills() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
  std::unique_ptr<FramePool> before_, after_;
  std::unique_ptr<Sink> sink_;
};

TEST_F(Window, ShowsEveryFormatAndSize) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (traits(format).model == ColorModel::real) continue;  // test::fill has no floats.
    SCOPED_TRACE(std::string(to_string(format)));
    open({.format = format, .width = 321, .height = 243});
    write_frame();
    EXPECT_FALSE(sink_->closed());
    sink_->finish(Ending::complete);
  }
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 300}, {4000, 3000}}) {
    open({.format = PixelFormat::i420, .width = width, .height = height});
    write_frame();
    sink_->finish(Ending::complete);
  }
}

TEST_F(Window, KeysWriteAStillAndQuit) {
  if (!can_press()) GTEST_SKIP() << "xdotool is not installed, so no key can be pressed";
  open({.format = PixelFormat::bgr, .width = 320, .height = 240});
  write_frame();
  press("w");
  ASSERT_TRUE(idle_until([&] { return stills() >= 2; }));
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(),
                ::testing::MatchesRegex("equalux-[0-9]{8}-[0-9]{6}-[12].png"));
    EXPECT_EQ(read_still(entry.path().string()).desc().width, 320);
  }
  for (const char* key : {"space", "s", "h", "s"})
    press(key);
  EXPECT_FALSE(sink_->closed());
  press("q");
  EXPECT_TRUE(idle_until([&] { return sink_->closed(); }));
  write_frame();  // Nothing, and no new window.
  sink_->finish(Ending::complete);
}

TEST_F(Window, ClosingItEndsTheRun) {
  open({.format = PixelFormat::bgr, .width = 320, .height = 240});
  write_frame();
  const unsigned long window = test::find_window("equalux:");
  if (window == 0) GTEST_SKIP() << "xdotool is not installed, so the window cannot be found";
  if (!test::ask_to_close(window)) GTEST_SKIP() << "built without Xlib, so nobody can close it";
  EXPECT_TRUE(idle_until([&] { return sink_->closed(); }));
  write_frame();  // Nothing, and no new window.
  EXPECT_EQ(test::find_window("equalux:"), 0U);
  sink_->finish(Ending::complete);
}

TEST_F(Window, PauseHoldsAFileUntilCancelled) {
  if (!can_press()) GTEST_SKIP() << "xdotool is not installed, so no key can be pressed";
  open({.format = PixelFormat::i420, .width = 320, .height = 240}, false);
  write_frame(0);
  press("p");
  EXPECT_TRUE(idle_until([&] { return test::run_quietly("xdotool search --name 'paused'") == 0; }));
  const auto started = Clock::now();
  std::thread stopper([&] {
    std::this_thread::sleep_for(300ms);
    sink_->cancel();
  });
  write_frame(40'000'000);
  stopper.join();
  EXPECT_GE(Clock::now() - started, 290ms);
  EXPECT_LT(Clock::now() - started, 3s);
  sink_->finish(Ending::partial);
}

TEST_F(Window, FilePlaysAtItsOwnSpeed) {
  open({.format = PixelFormat::nv12, .width = 160, .height = 120}, false);
  write_frame(0);
  const auto started = Clock::now();
  for (int i = 1; i <= 10; ++i)
    write_frame(i * 40'000'000);
  const auto took = Clock::now() - started;
  EXPECT_GT(took, 350ms);
  EXPECT_LT(took, 3s);
  sink_->finish(Ending::complete);
}

enum class Death { server_killed, connection_cut };

/// Shows frames until then, and exits as the program would.
[[noreturn]] void show_until_the_display_dies(Death death) {
  test::VirtualDisplay display;
  ::setenv("DISPLAY", display.name().c_str(), 1);
  StreamInfo info;
  info.desc = {.format = PixelFormat::gray8, .width = 64, .height = 48};
  info.live = true;
  FramePool pool(info.desc, 1);
  auto sink = make_window_sink();
  sink->open(info);
  try {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    for (int i = 0; Clock::now() < deadline; ++i) {
      FramePtr frame = pool.acquire();
      test::fill(frame->pixels.view(), test::Content::ramp);
      sink->write(*frame);
      if (i == 20 && death == Death::server_killed) display.kill();
      if (i == 20 && death == Death::connection_cut)
        test::run_quietly("xdotool search --onlyvisible --name '^equalux:' windowkill %1");
    }
  } catch (const Error& e) {
    std::fprintf(stderr, "equalux: %s\n", e.what());
    sink->finish(Ending::failed);
    sink.reset();
    std::exit(static_cast<int>(e.code()));
  }
  std::exit(0);
}

TEST(WindowDisplayDies, IsAWriteErrorAndNoAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (!test::VirtualDisplay().started())
    GTEST_SKIP() << "Xvfb is not installed, so no display can die";
  EXPECT_EXIT(show_until_the_display_dies(Death::server_killed), ::testing::ExitedWithCode(74),
              "equalux: window: the display");
}

TEST(WindowDisplayDies, CutConnectionIsSaidAndNoAbort) {
  // What xkill does: the server lives, so only the toolkit notices, and it calls exit().
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (!test::VirtualDisplay().started() || test::run_quietly("command -v xdotool") != 0)
    GTEST_SKIP() << "Xvfb or xdotool is not installed, so no connection can be cut";
  EXPECT_EXIT(show_until_the_display_dies(Death::connection_cut), ::testing::ExitedWithCode(74),
              "equalux: window: the display");
}

}  // namespace
}  // namespace equalux
