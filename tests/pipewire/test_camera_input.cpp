// `equalux run pipewire:NAME`: cameras that PipeWire knows.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/picture/convert_picture.h"
#include "pipelines/pipewire/pipewire_source.h"
#include "tests/pipewire/companion.h"
#include "tests/pipewire/fake_picture.h"
#include "tests/pipewire/private_daemon.h"
#include "tests/support/network_clients.h"
#include "tests/support/program.h"

namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

bool takes_all(PixelFormat /*format*/) {
  return true;
}

/// Which of the camera's pictures it is; nothing where it is none.
std::optional<int> number_of(const ConstImageView& image) {
  for (int number = 0; number < kFakePictures; ++number) {
    const Image picture = fake_picture(image.desc, static_cast<std::uint64_t>(number));
    bool same = true;
    for (int plane = 0; plane < traits(image.desc.format).planes; ++plane)
      for (int y = 0; y < plane_rows(image.desc, plane); ++y)
        same = same && std::memcmp(image.row(plane, y), picture.view().row(plane, y),
                                   row_bytes(image.desc, plane)) == 0;
    if (same) return number;
  }
  return std::nullopt;
}

class CameraInput : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = PrivateDaemon::missing(); !missing.empty()) {
      GTEST_SKIP() << missing << " not installed";
    }
    daemon_ = std::make_unique<PrivateDaemon>();
  }

  static std::unique_ptr<Companion> camera(std::vector<std::string> form,
                                           const std::string& name = "fake") {
    form.push_back("name=" + name);
    auto fake = std::make_unique<Companion>(EQUALUX_FAKE_CAMERA, form);
    EXPECT_TRUE(await_camera(name));
    return fake;
  }

  /// Runs with that camera and stops with Ctrl-C behind `meanwhile`.
  static ProgramResult run_while(const std::vector<std::string>& arguments,
                                 const std::function<void(int)>& meanwhile) {
    std::vector<std::string> all{"run"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--backend", "cpu"});
    ProgramOptions options;
    options.meanwhile = [&](int process) {
      meanwhile(process);
      ::kill(process, SIGINT);
    };
    return run_program(all, options);
  }

  std::unique_ptr<PrivateDaemon> daemon_;
};

/// Whatever lies between and around the samples, the frames are the camera's, each a later one.
TEST_F(CameraInput, FramesAreTheCamerasHoweverTheyLie) {
  struct Form {
    const char* what;
    std::vector<std::string> form;
  };
  const std::vector<Form> forms{
      {"i420", {"format=i420", "size=62x34"}},
      {"i420, odd", {"format=i420", "size=61x33"}},
      {"i420, rows apart", {"format=i420", "size=62x34", "gap=66", "offset=128"}},
      {"i420, planes apart", {"format=i420", "size=62x34", "apart=1", "gap=2"}},
      {"nv12", {"format=nv12", "size=64x48"}},
      {"nv12, planes apart", {"format=nv12", "size=64x48", "apart=1", "offset=64"}},
      {"nv12, memory of a device", {"format=nv12", "size=64x48", "device=1", "gap=64"}},
      {"yuy2, rows apart", {"format=yuy2", "size=62x33", "gap=20"}},
      {"uyvy", {"format=uyvy", "size=64x48"}},
      {"bgr", {"format=bgr", "size=61x33"}},
      {"rgb, rows apart", {"format=rgb", "size=61x33", "gap=9"}},
      {"bgrx", {"format=bgrx", "size=61x33"}},
      {"xbgr", {"format=xbgr", "size=61x33"}},
      {"gray8", {"format=gray8", "size=61x33", "offset=16"}},
  };
  for (const Form& each : forms) {
    SCOPED_TRACE(each.what);
    std::vector<std::string> form = each.form;
    form.emplace_back("fps=60");
    const auto fake = camera(form);
    PipewireSourceOptions options;
    options.camera = "fake";
    const auto source = make_pipewire_source(options);
    const StreamInfo info = source->open(takes_all);
    EXPECT_TRUE(info.live);
    EXPECT_EQ(info.name, "pipewire:fake");
    EXPECT_EQ(form[0], "format=" + std::string(to_string(info.desc.format)));
    if (traits(info.desc.format).model == ColorModel::yuv) {
      EXPECT_EQ(info.desc.matrix, ColorMatrix::bt709);
      EXPECT_EQ(info.desc.range, ColorRange::full);
    }
    FramePool pool(info.desc, 1);
    std::int64_t last_ns = -1;
    std::optional<int> last;
    for (int i = 0; i < 4; ++i) {
      const FramePtr frame = pool.acquire();
      ASSERT_TRUE(source->read(*frame));
      const std::optional<int> number = number_of(frame->image);
      ASSERT_TRUE(number) << "frame " << i << " is no picture of the camera";
      if (last) {
        const int steps = 1 + static_cast<int>(frame->timings.dropped_before);
        EXPECT_EQ((*number - *last + kFakePictures) % kFakePictures, steps % kFakePictures);
      }
      EXPECT_GT(frame->pts_ns, last_ns);
      last_ns = frame->pts_ns;
      last = number;
    }
  }
}

TEST_F(CameraInput, TheNewestFrameWinsAndTheOthersAreCounted) {
  const auto fake = camera({"fps=100"});
  PipewireSourceOptions options;
  options.camera = "fake of the tests";  // As programs list it.
  const auto source = make_pipewire_source(options);
  const StreamInfo info = source->open(takes_all);
  FramePool pool(info.desc, 1);
  std::uint64_t frames = 0;
  std::uint64_t dropped = 0;
  std::int64_t last_ns = 0;
  constexpr int kReads = 10;
  for (int i = 0; i < kReads; ++i) {
    if (i > 0) std::this_thread::sleep_for(100ms);
    const FramePtr frame = pool.acquire();
    ASSERT_TRUE(source->read(*frame));
    // It is new: what waits in a queue gets older with each read, by 90 ms.
    if (i == kReads - 1) {
      EXPECT_LT(milliseconds(Clock::now() - frame->captured), 400);
    }
    if (i > 0) {
      ++frames;
      dropped += frame->timings.dropped_before;
      EXPECT_EQ(frame->discontinuity, frame->timings.dropped_before > 0);
    }
    if (i == 0) last_ns = -frame->pts_ns;
    if (i == kReads - 1) last_ns += frame->pts_ns;
  }
  // As many as the camera has given meanwhile.
  const double given = static_cast<double>(last_ns) * 1e-9 * 100;
  EXPECT_GT(dropped, 40U);
  EXPECT_LE(static_cast<double>(frames + dropped), given + 2);
}

/// Where the filters take none of its formats, as with the staged chain.
TEST_F(CameraInput, FramesThatFiltersDoNotTakeBecomeRgb) {
  const auto fake = camera({"format=nv12", "fps=60"});
  PipewireSourceOptions options;
  options.camera = "fake";
  const auto source = make_pipewire_source(options);
  const StreamInfo info =
      source->open([](PixelFormat format) { return format == PixelFormat::bgr; });
  EXPECT_EQ(info.desc.format, PixelFormat::bgr);
  FramePool pool(info.desc, 1);
  const FramePtr frame = pool.acquire();
  ASSERT_TRUE(source->read(*frame));
  ImageDesc desc = info.desc;
  desc.format = PixelFormat::nv12;
  desc.matrix = ColorMatrix::bt709;
  desc.range = ColorRange::full;
  int same = 0;
  for (std::uint64_t number = 0; number < kFakePictures; ++number) {
    const Image picture = fake_picture(desc, number);
    Image expected(info.desc);
    convert_picture(picture.view(), expected.view());
    bool is_it = true;
    for (int y = 0; y < desc.height; ++y) {
      is_it = is_it && std::memcmp(frame->image.row(0, y), expected.view().row(0, y),
                                   row_bytes(info.desc, 0)) == 0;
    }
    same += is_it ? 1 : 0;
  }
  EXPECT_EQ(same, 1);
  // Never by another subsampling of its chroma.
  const auto nothing = make_pipewire_source(options);
  EXPECT_THROW((void)nothing->open([](PixelFormat format) { return format == PixelFormat::y444; }),
               Error);
}

TEST_F(CameraInput, DamagedFramesAreCountedAndPassedOver) {
  const auto fake = camera({"fps=60", "damaged=2"});
  PipewireSourceOptions options;
  options.camera = "fake";
  const auto source = make_pipewire_source(options);
  FramePool pool(source->open(takes_all).desc, 1);
  std::uint64_t dropped = 0;
  for (int i = 0; i < 4; ++i) {
    const FramePtr frame = pool.acquire();
    ASSERT_TRUE(source->read(*frame));
    EXPECT_EQ(number_of(frame->image).value() % 2, 1);
    dropped += frame->timings.dropped_before;
  }
  EXPECT_GE(dropped, 3U);
}

/// What the camera's own count misses is dropped; what it leaves out at a rate that was asked for
/// is not.
TEST_F(CameraInput, FramesThatNeverCameAreCounted) {
  struct Counts {
    std::uint64_t dropped = 0;
    std::int64_t span_ns = 0;  // from the first of nine frames to the last
  };
  const auto counts_of = [](const std::string& name, Rational fps) {
    PipewireSourceOptions options;
    options.camera = name;
    options.fps = fps;
    const auto source = make_pipewire_source(options);
    const StreamInfo info = source->open(takes_all);
    EXPECT_EQ(info.frame_rate, fps);
    FramePool pool(info.desc, 1);
    Counts counts;
    for (int i = 0; i < 9; ++i) {
      const FramePtr frame = pool.acquire();
      EXPECT_TRUE(source->read(*frame));
      if (i > 0) counts.dropped += frame->timings.dropped_before;
      counts.span_ns = frame->pts_ns;  // The first one's is 0.
    }
    return counts;
  };
  // Two of three come.
  const auto fake = camera({"fps=60", "lost=3"});
  EXPECT_GE(counts_of("fake", {60, 1}).dropped, 3U);
  // One of three is all that is asked for.
  const Companion ours(EQUALUX_PROGRAM_FOLDER "/equalux",
                       {"run", "test:64x48@60", "-o", "pipewire:ours", "--quiet"});
  ASSERT_TRUE(await_camera("ours"));
  const Counts counts = counts_of("ours", {20, 1});
  // A machine that does other things may lose one; by numbers alone they would be sixteen.
  EXPECT_LE(counts.dropped, 4U);
  EXPECT_GE(counts.span_ns, 8 * 40'000'000);
}

TEST_F(CameraInput, ACameraThatStallsIsToldSo) {
  const auto fake = camera({"fps=60"});
  PipewireSourceOptions options;
  options.camera = "fake";
  options.deadline = 500ms;
  const auto source = make_pipewire_source(options);
  FramePool pool(source->open(takes_all).desc, 1);
  ASSERT_TRUE(source->read(*pool.acquire()));
  fake->signal(SIGUSR2);
  try {
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(source->read(*pool.acquire()));
    FAIL() << "it gives frames";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipewire:fake: gave no frame for 0 s"));
  }
  source->cancel();
  EXPECT_FALSE(source->read(*pool.acquire()));
}

#ifdef EQUALUX_HAVE_OPENCV
TEST_F(CameraInput, JpegsAreDecoded) {
  const TempFolder folder;
  folder.write("in.ppm", dim_ppm(64, 48));
  ASSERT_EQ(run_program({"image", folder / "in.ppm", folder / "in.jpg"}).exit_code, 0);
  const std::vector<std::string> plain{"--preset", "plain", "--backend", "cpu"};
  std::vector<std::string> still{"image", folder / "in.jpg", folder / "still.ppm"};
  still.insert(still.end(), plain.begin(), plain.end());
  ASSERT_EQ(run_program(still).exit_code, 0);
  const auto fake = camera({"jpeg=" + folder / "in.jpg", "fps=60"});
  std::vector<std::string> run{"run", "pipewire:fake", "-o", folder / "out%d.ppm", "--frames", "2"};
  run.insert(run.end(), plain.begin(), plain.end());
  const ProgramResult result = run_program(run);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(folder.read("out0.ppm") == folder.read("still.ppm"));
}

/// Programs that know /dev/videoN alone are lent PipeWire's cameras by its preloaded library: ours
/// is such a program, too, as far as that library goes, which lists nothing in /dev.
TEST_F(CameraInput, TheKernelsWayReadsTheSamePicturesByPipewiresLibrary) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer has to come before every preloaded library";
#endif
  if (std::system("command -v pw-v4l2 >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "pipewire-v4l2 is not installed";
  if (access("/dev/video0", F_OK) == 0) GTEST_SKIP() << "there is a camera:0";
  const auto fake = camera({"format=gray8", "fps=60"});
  const TempFolder folder;
  const auto hashes_of = [&](const std::string& command, const std::string& input, int frames) {
    const ShellResult result =
        shell_result(command + " " EQUALUX_PROGRAM_FOLDER "/equalux run " + input +
                     " -o null --preset plain --backend cpu --verify=" + folder / "frames.md5" +
                     " --frames " + std::to_string(frames));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    std::vector<std::string> hashes;
    for (const std::string& line : lines_of(folder.read("frames.md5")))
      if (line[0] != '#') hashes.push_back(line.substr(line.rfind(' ')));
    EXPECT_EQ(hashes.size(), static_cast<std::size_t>(frames));
    return hashes;
  };
  const std::vector<std::string> wanted = hashes_of("env", "pipewire:fake", 3 * kFakePictures);
  const std::vector<std::string> got = hashes_of("pw-v4l2", "camera:0", 5);
  for (const std::string& hash : got)
    EXPECT_THAT(wanted, ::testing::Contains(hash));
}
#endif

#ifdef EQUALUX_HAVE_GSTREAMER
/// A camera that is none of this project's, of an odd size.
TEST_F(CameraInput, GStreamersCameraGivesItsBytes) {
  if (shell_result("gst-inspect-1.0 pipewiresink").exit_code != 0)
    GTEST_SKIP() << "gstreamer1.0-pipewire is not installed";
  const TempFolder folder;
  const std::string picture =
      "videotestsrc pattern=smpte100 is-live=true ! "
      "video/x-raw,format=I420,width=642,height=361,framerate=30/1";
  const auto frame_of = [&](const std::string& input) {
    const ProgramResult result =
        run_program({"run", input, "-o", folder / "out.y4m", "-y", "--frames", "1", "--preset",
                     "plain", "--strength", "0", "--backend", "cpu"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string text = folder.read("out.y4m");
    return text.substr(std::min(text.find("FRAME"), text.size()));
  };
  const std::string wanted = frame_of("gst:" + picture);
  const Companion theirs(
      "/bin/sh", {"-c", "exec gst-launch-1.0 -q " + picture +
                            " ! pipewiresink mode=provide stream-properties=props,media.class="
                            "Video/Source,media.role=Camera,node.name=theirs"});
  ASSERT_TRUE(await_camera("theirs"));
  const std::string got = frame_of("pipewire:theirs");
  EXPECT_EQ(got.size(), 6 + 642U * 361 + 2 * 321U * 181);
  EXPECT_TRUE(got == wanted);
}
#endif

TEST_F(CameraInput, TheDefaultCameraIsFoundAndListed) {
  const ProgramResult none = run_program({"run", "pipewire:", "-o", "null", "--frames", "1"});
  EXPECT_EQ(none.exit_code, 66) << none.err;
  EXPECT_THAT(none.err, HasSubstr("there is no default camera; PipeWire knows no camera"));
  const auto fake = camera({"format=yuy2", "size=64x48", "fps=60"});
  // What this run makes is no camera of its own, and comes and goes with it.
  const ProgramResult result = run_program({"run", "pipewire:", "-o", "pipewire:out", "--frames",
                                            "3", "--backend", "cpu", "--log-level", "debug"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("pipewire:fake: gives 64x48 yuy2"));
  // Cameras get the webcam's preset, by whatever driver.
  EXPECT_THAT(result.err, HasSubstr("preset webcam"));
  const ProgramResult devices = run_program({"devices"});
  EXPECT_THAT(devices.out, HasSubstr("pipewire:fake  the default of PipeWire  fake of the tests"));
  EXPECT_THAT(devices.out, HasSubstr("takes YUYV 64x48 at up to 60 fps"));
  EXPECT_THAT(run_program({"doctor"}).out, HasSubstr("pipewire:fake (the default)"));
}

TEST_F(CameraInput, WhatIsWrongIsSaidInOneLine) {
  const auto fake = camera({"size=64x48"});
  const auto run_short = [](const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", input, "--frames", "2", "--backend", "cpu"});
    if (std::find(more.begin(), more.end(), "-o") == more.end())
      more.insert(more.end(), {"-o", "null"});
    const ProgramResult result = run_program(more);
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
    return result;
  };
  const ProgramResult missing = run_short("pipewire:other");
  EXPECT_EQ(missing.exit_code, 66);
  EXPECT_THAT(
      missing.err,
      HasSubstr("pipewire:other: is not there; there is pipewire:fake (fake of the tests)"));
  const ProgramResult size = run_short("pipewire:fake", {"--size", "640x480"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_THAT(size.err, HasSubstr("pipewire:fake: has no frames of 640x480; it has 64x48"));
  const ProgramResult same = run_short("pipewire:fake", {"-o", "pipewire:fake"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("output pipewire:fake is the input"));
  const ProgramResult control = run_short("pipewire:fake", {"--camera-control", "gain=1"});
  EXPECT_EQ(control.exit_code, 2);
  EXPECT_THAT(control.err, HasSubstr("--camera-control is of camera:N"));
  const ProgramResult endless = run_program({"measure", "pipewire:fake"});
  EXPECT_EQ(endless.exit_code, 2);
  EXPECT_THAT(endless.err, HasSubstr("has no end"));
  EXPECT_EQ(run_program({"run", "pipewire:fake", "-o", "null", "--size", "64x48", "--fps", "10",
                         "--frames", "2", "--backend", "cpu"})
                .exit_code,
            0);
  daemon_->kill();
  const ProgramResult without = run_short("pipewire:fake");
  EXPECT_EQ(without.exit_code, 69);
  EXPECT_THAT(without.err, HasSubstr("pipewire:fake: no PipeWire answers"));
  daemon_->start_without_manager();
  const auto lonely = camera({});
  const ProgramResult unmanaged = run_short("pipewire:fake");
  EXPECT_EQ(unmanaged.exit_code, 69);
  EXPECT_THAT(unmanaged.err, HasSubstr("no session manager runs"));
}

/// Pulled out and plugged in again, while the daemon stays; and then the daemon goes as well.
TEST_F(CameraInput, WhatGoesIsWaitedFor) {
  auto fake = camera({"fps=50"});
  const TempFolder folder;
  const std::string timings = folder / "timings.jsonl";
  const auto await_frames = [&](const std::string& holding) {
    for (int i = 0; i < 1000; ++i) {
      if (folder.read("timings.jsonl").find(holding) != std::string::npos) return true;
      std::this_thread::sleep_for(20ms);
    }
    return false;
  };
  const ProgramResult result =
      run_while({"pipewire:", "-o", "null", "--preset", "plain", "--timings", timings}, [&](int) {
        EXPECT_TRUE(await_frames("\"index\":3"));
        fake.reset();
        // Another camera, which would be the default one now, is not the one that went.
        const auto other = camera({"size=32x32"}, "other");
        EXPECT_TRUE(await_frames("\"placeholder\":true"));
        fake = camera({"fps=50"});
        EXPECT_TRUE(await_frames("\"reconnects\":1"));
        daemon_->kill();
        std::this_thread::sleep_for(300ms);
        daemon_->start();
        fake = camera({"fps=50"});
        EXPECT_TRUE(await_frames("\"reconnects\":2"));
      });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("pipewire:fake: has gone; is it still plugged in?; waiting"));
  EXPECT_THAT(result.err, HasSubstr("pipewire:fake: PipeWire has gone; waiting"));
}

TEST_F(CameraInput, AnotherSizeWhileItRunsEndsTheRun) {
  const auto fake = camera({"fps=50", "later=32x24"});
  const TempFolder folder;
  const ProgramResult result = run_while(
      {"pipewire:fake", "-o", "null", "--preset", "plain", "--timings", folder / "timings.jsonl"},
      [&](int process) {
        // A slow program would begin with the other size.
        const auto runs = [&] {
          return folder.read("timings.jsonl").find("\"index\":3") != std::string::npos;
        };
        for (int i = 0; i < 1000 && !runs(); ++i)
          std::this_thread::sleep_for(20ms);
        fake->signal(SIGUSR1);
        for (int i = 0; i < 500 && ::kill(process, 0) == 0; ++i)
          std::this_thread::sleep_for(20ms);
      });
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("came back with frames of 32x24"));
}

}  // namespace
}  // namespace equalux::test
