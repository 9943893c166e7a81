#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/opencv/camera.h"
#include "pipelines/v4l2/v4l2_nodes.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

const ImageDesc kDesc{.format = PixelFormat::bgr, .width = 32, .height = 16};

/// What happens to a fake camera at its frame `at`.
enum class Event { none, end, size_change, hang };

/// Lives as long as the test, whatever becomes of the reading thread.
struct Script {
  std::uint64_t at = UINT64_MAX;
  Event event = Event::none;
  std::chrono::milliseconds period{1};
  bool hang_in_open = false;
  std::atomic<bool> let_go{false};  // ends a hang
  std::atomic<bool> gone{false};
};

class FakeCamera final : public CaptureDevice {
 public:
  explicit FakeCamera(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~FakeCamera() override { script_->gone = true; }

  CaptureFormat open(const FormatPredicate& accepts) override {
    if (script_->hang_in_open) hang();
    EXPECT_TRUE(accepts(PixelFormat::bgr));
    return {.desc = kDesc, .frame_rate = {25, 1}};
  }

  bool read(const ImageView& to) override {
    std::this_thread::sleep_for(script_->period);
    if (count_ == script_->at) {
      if (script_->event == Event::end) return false;
      if (script_->event == Event::hang) hang();
      if (script_->event == Event::size_change)
        throw Error(ExitCode::bad_input, "fake: changed its frames from 32x16 to 16x8");
    }
    for (int y = 0; y < kDesc.height; ++y)
      std::fill_n(to.row(0, y), row_bytes(kDesc, 0), static_cast<std::uint8_t>(count_));
    ++count_;
    return true;
  }

 private:
  void hang() const {
    while (!script_->let_go)
      std::this_thread::sleep_for(1ms);
  }
  std::shared_ptr<Script> script_;
  std::uint64_t count_ = 0;
};

bool accepts_bgr(PixelFormat format) {
  return format == PixelFormat::bgr;
}

class Camera : public ::testing::Test {
 protected:
  void TearDown() override {
    source_.reset();
    script_->let_go = true;
    for (int i = 0; i < 2000 && !script_->gone; ++i)
      std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(script_->gone) << "the reading thread still runs";
  }
  Source& open(std::chrono::milliseconds deadline = 2000ms) {
    source_ = make_camera_source(std::make_unique<FakeCamera>(script_), "fake", deadline);
    info_ = source_->open(accepts_bgr);
    return *source_;
  }
  /// Code and text of the error that read() ends with.
  std::pair<ExitCode, std::string> read_until_error(Source& source) {
    try {
      for (int i = 0; i < 10000; ++i) {
        FramePtr frame = pool_.acquire();
        if (!source.read(*frame)) return {ExitCode::done, "end"};
        ++frames_;
      }
    } catch (const Error& e) {
      return {e.code(), e.what()};
    }
    return {ExitCode::done, "no end"};
  }

  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<Source> source_;
  StreamInfo info_;
  FramePool pool_{kDesc, 2};
  std::uint64_t frames_ = 0;
};

TEST_F(Camera, GivesFramesInOrderWithTimes) {
  script_->period = 5ms;
  Source& source = open();
  EXPECT_TRUE(info_.live);
  EXPECT_EQ(info_.desc, kDesc);
  EXPECT_EQ(info_.frame_rate, (Rational{25, 1}));
  std::int64_t last_pts = -1;
  int next = 0;
  for (int i = 0; i < 20; ++i) {
    FramePtr frame = pool_.acquire();
    ASSERT_TRUE(source.read(*frame));
    if (i == 0) {
      EXPECT_EQ(frame->pts_ns, 0);
    }
    EXPECT_GT(frame->pts_ns, last_pts);
    last_pts = frame->pts_ns;
    EXPECT_EQ(frame->duration_ns, 40'000'000);
    const int value = frame->image.row(0, 3)[5];
    EXPECT_EQ(value, next + static_cast<int>(frame->timings.dropped_before));
    EXPECT_EQ(frame->discontinuity, frame->timings.dropped_before > 0);
    next = value + 1;
  }
}

TEST_F(Camera, NewestFrameWinsAndTheOthersAreCounted) {
  Source& source = open();
  FramePtr first = pool_.acquire();
  ASSERT_TRUE(source.read(*first));
  std::this_thread::sleep_for(100ms);
  FramePtr later = pool_.acquire();
  ASSERT_TRUE(source.read(*later));
  EXPECT_GT(later->timings.dropped_before, 5U);
  EXPECT_TRUE(later->discontinuity);
  EXPECT_EQ(later->image.row(0, 0)[0],
            first->image.row(0, 0)[0] + static_cast<int>(later->timings.dropped_before) + 1);
}

TEST_F(Camera, StallIsAnErrorAfterTheDeadline) {
  script_->at = 3;
  script_->event = Event::hang;
  Source& source = open(200ms);
  const auto started = Clock::now();
  const auto [code, text] = read_until_error(source);
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("fake: gave no frame for 0.2 s"));
  EXPECT_LT(Clock::now() - started, 2s);
}

TEST_F(Camera, LastFrameBeforeTheEndIsStillGiven) {
  script_->at = 1;
  script_->event = Event::end;
  Source& source = open();
  std::this_thread::sleep_for(50ms);
  const auto [code, text] = read_until_error(source);
  EXPECT_EQ(frames_, 1U);
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("stopped giving frames"));
}

TEST_F(Camera, SizeChangeIsTheDevicesError) {
  script_->at = 2;
  script_->event = Event::size_change;
  const auto [code, text] = read_until_error(open());
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("32x16 to 16x8"));
}

TEST_F(Camera, CancelWakesAReadThatHangs) {
  script_->at = 0;
  script_->event = Event::hang;
  Source& source = open(60s);
  FramePtr frame = pool_.acquire();
  test::WaitingThread reading([&] { EXPECT_FALSE(source.read(*frame)); });
  reading.await_sleep();
  EXPECT_FALSE(reading.over());
  const auto cancelled = Clock::now();
  source.cancel();
  reading.join();
  EXPECT_LT(Clock::now() - cancelled, 2s);
  const auto started = Clock::now();
  source_.reset();  // While the device still hangs.
  EXPECT_LT(Clock::now() - started, 2s);
}

TEST_F(Camera, OpenThatHangsIsUnavailable) {
  script_->hang_in_open = true;
  try {
    open(100ms);
    ADD_FAILURE() << "opened";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::unavailable);
    EXPECT_THAT(e.what(), HasSubstr("did not open within 0.1 s"));
  }
}

TEST(CameraNode, MissingIsSaidAtOnce) {
  if (fs::exists("/dev/video251")) GTEST_SKIP() << "this machine has a /dev/video251";
  auto source = make_camera_source(CameraOptions{.number = 251});
  const auto started = Clock::now();
  try {
    (void)source->open(accepts_bgr);
    ADD_FAILURE() << "opened";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::no_input);
    EXPECT_THAT(e.what(), HasSubstr("/dev/video251 does not exist"));
  }
  EXPECT_LT(Clock::now() - started, 500ms);
}

TEST(CameraNode, NodesThatAreNoCamerasAreListedAsSuch) {
  std::string folder = (fs::temp_directory_path() / "equalux-nodes-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* name : {"video10", "video2", "videos", "audio0"})
    std::ofstream(fs::path(folder) / name) << "x";
  fs::create_directories(fs::path(folder) / "class/video2");
  std::ofstream(fs::path(folder) / "class/video2/name") << "Some Camera\n";
  const auto cameras = list_cameras(folder, folder + "/class");
  fs::remove_all(folder);
  ASSERT_EQ(cameras.size(), 2U);
  EXPECT_EQ(cameras[0].number, 2);
  EXPECT_EQ(cameras[0].name, "Some Camera");
  EXPECT_FALSE(cameras[0].captures);
  EXPECT_EQ(cameras[1].number, 10);
  EXPECT_EQ(describe_cameras(cameras), "no camera is plugged in");
  EXPECT_TRUE(list_cameras(folder + "/none", folder).empty());
}

TEST(CameraMode, BestIsFastEnoughThenLargeThenUncompressed) {
  constexpr auto kYuyv = fourcc('Y', 'U', 'Y', 'V');
  constexpr auto kMjpg = fourcc('M', 'J', 'P', 'G');
  constexpr auto kH264 = fourcc('H', '2', '6', '4');
  const std::vector<CameraMode> modes{{kYuyv, 640, 480, 30},   {kYuyv, 1920, 1080, 5},
                                      {kMjpg, 640, 480, 60},   {kMjpg, 1280, 720, 30},
                                      {kMjpg, 1920, 1080, 15}, {kMjpg, 3840, 2160, 30},
                                      {kH264, 1920, 1080, 30}};
  const CameraMode best = choose_mode(modes, {});
  EXPECT_EQ(best.fourcc, kMjpg);
  EXPECT_EQ(best.width, 1280);
  const CameraMode slow = choose_mode(modes, {.fps = 5});
  EXPECT_EQ(slow.fourcc, kYuyv);
  EXPECT_EQ(slow.width, 1920);
  EXPECT_EQ(choose_mode(modes, {.width = 640, .height = 480}).fourcc, kYuyv);
  EXPECT_EQ(choose_mode(modes, {.width = 640, .height = 480, .fps = 60}).fourcc, kMjpg);
  EXPECT_EQ(choose_mode(modes, {.width = 3840, .height = 2160}).width, 3840);
  EXPECT_EQ(choose_mode({}, {.width = 99, .height = 77}).fourcc, 0U);
  try {
    (void)choose_mode(modes, {.width = 99, .height = 77});
    ADD_FAILURE() << "chosen";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    EXPECT_THAT(e.what(), HasSubstr("640x480, 1280x720, 1920x1080"));
  }
}

}  // namespace
}  // namespace equalux
