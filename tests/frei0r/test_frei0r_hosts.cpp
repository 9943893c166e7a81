// The frei0r plugins in their hosts: what comes out has the library's bytes.
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"
#include "tests/support/temp_folder.h"

namespace equalux {
namespace {

std::pair<std::string, int> output_of(const std::string& command) {
  std::string text;
  FILE* pipe =
      popen(("FREI0R_PATH=" EQUALUX_FREI0R_FOLDER " timeout 60 " + command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part{};
  while (const std::size_t n = fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  const int status = pclose(pipe);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

/// Why a host cannot run here; null where it can.
const char* lacks([[maybe_unused]] const char* program, [[maybe_unused]] const char* package) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "what the sanitizers instrument loads into instrumented programs only";
#else
  static std::string reason;
  if (std::system((std::string("command -v ") + program + " >/dev/null").c_str()) == 0)
    return nullptr;
  reason = std::string(program) + " is not installed (Debian: " + package + ")";
  return reason.c_str();
#endif
}

class Frei0rHosts : public ::testing::Test {
 protected:
  static constexpr int kFrames = 12;
  static constexpr const char* kSpec = "temporal-ms=60 clip-limit=2 floor=1";

  std::string path(const std::string& name) const { return folder_ / name; }
  void run(const std::string& command) const {
    const auto [text, status] = output_of(command);
    ASSERT_EQ(status, 0) << command << "\n" << text;
    EXPECT_EQ(text.find("equalux: "), std::string::npos) << text;
  }

  /// Frames of R, G, B and alpha, without gaps: one picture fades into another, so that the curve
  /// follows by its time constant and sees no cut.
  std::vector<std::uint8_t> make_frames(const ImageDesc& desc) const {
    Image first(desc);
    Image second(desc);
    test::fill(first.view(), test::Content::natural, 1);
    test::fill(second.view(), test::Content::noise, 2);
    std::vector<std::uint8_t> all;
    for (int i = 0; i < kFrames; ++i) {
      for (int y = 0; y < desc.height; ++y) {
        for (std::ptrdiff_t x = 0; x < 4 * static_cast<std::ptrdiff_t>(desc.width); ++x) {
          const int mixed =
              first.view().row(0, y)[x] * (2 * kFrames - i) + second.view().row(0, y)[x] * i;
          all.push_back(static_cast<std::uint8_t>(mixed / (2 * kFrames)));
        }
      }
    }
    std::ofstream(path("in.rgba"), std::ios::binary)
        .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
    return all;
  }
  /// Bytes that differ, or -1 where there are not as many. A list of all would fill the screen.
  static std::ptrdiff_t differences(const std::vector<std::uint8_t>& a,
                                    const std::vector<std::uint8_t>& b) {
    if (a.size() != b.size() || a.empty()) return -1;
    std::ptrdiff_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      count += a[i] != b[i] ? 1 : 0;
    return count;
  }
  std::vector<std::uint8_t> read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// What the library makes of frames, 30 a second, whose times are whole numbers of `unit_ns`.
  static std::vector<std::uint8_t> filtered(const ImageDesc& desc, std::vector<std::uint8_t> frames,
                                            double rate = 30, double unit_ns = 1) {
    const auto filter =
        make_cpu_filter(parse_filter_spec("equalize:temporal-ms=60,clip-limit=2,floor=1"));
    filter->configure(desc);
    const std::ptrdiff_t stride = 4 * static_cast<std::ptrdiff_t>(desc.width);
    const auto bytes = static_cast<std::size_t>(stride * desc.height);
    for (std::size_t i = 0; (i + 1) * bytes <= frames.size(); ++i) {
      FrameContext context;
      context.index = i;
      const double ns = static_cast<double>(i) / rate * 1e9;
      context.pts_ns =
          static_cast<std::int64_t>(unit_ns > 1 ? std::round(ns / unit_ns) * unit_ns : ns);
      const ImageView view{desc, {frames.data() + i * bytes}, {stride}};
      filter->submit(view, view, context);
    }
    return frames;
  }

 private:
  test::TempFolder folder_;
};

std::string size_of(const ImageDesc& desc) {
  return std::to_string(desc.width) + "x" + std::to_string(desc.height);
}

/// Rows of widths that are no multiple of 16 have gaps there. Time comes in milliseconds, and as no
/// time at all where FFmpeg has copied a frame for its rows, as it does with these.
TEST_F(Frei0rHosts, FfmpegInEveryWidth) {
  if (const char* reason = lacks("ffmpeg", "ffmpeg")) GTEST_SKIP() << reason;
  for (const int width : {160, 168, 854, 642, 641, 643}) {
    const ImageDesc desc{PixelFormat::rgba, width, 46};
    SCOPED_TRACE(size_of(desc));
    const auto frames = make_frames(desc);
    run("ffmpeg -v warning -y -f rawvideo -pix_fmt rgba -s " + size_of(desc) + " -r 30 -i " +
        path("in.rgba") + " -vf 'frei0r=equalux:filter_params=" + kSpec +
        "' -f rawvideo -pix_fmt rgba " + path("out.rgba"));
    EXPECT_EQ(differences(read("out.rgba"), filtered(desc, frames)), 0);
    // Wrong times would show.
    EXPECT_GT(differences(filtered(desc, frames, 30e3), filtered(desc, frames)), 0);
    EXPECT_GT(differences(filtered(desc, frames, 30e-3), filtered(desc, frames)), 0);
  }
}

TEST_F(Frei0rHosts, FfmpegSetsParametersInTheirOrder) {
  if (const char* reason = lacks("ffmpeg", "ffmpeg")) GTEST_SKIP() << reason;
  const ImageDesc desc{PixelFormat::rgba, 168, 46};
  const auto frames = make_frames(desc);
  const auto with = [&](const std::string& parameters) {
    run("ffmpeg -v warning -y -f rawvideo -pix_fmt rgba -s 168x46 -r 30 -i " + path("in.rgba") +
        " -vf 'frei0r=equalux:filter_params=" + parameters + "' -f rawvideo -pix_fmt rgba " +
        path("out.rgba"));
    return read("out.rgba");
  };
  // Settings, scaler, space, strength: as docs/hosts.md lists them.
  EXPECT_EQ(differences(with("|||0.5"), with("strength=0.5")), 0);
  EXPECT_EQ(differences(with("|min-max|"), with("scaler=min-max")), 0);
  EXPECT_GT(differences(with("|||0.5"), with("")), 0);
}

TEST_F(Frei0rHosts, Mpv) {
  if (const char* reason = lacks("mpv", "mpv")) GTEST_SKIP() << reason;
  if (const char* reason = lacks("ffmpeg", "ffmpeg")) GTEST_SKIP() << reason;
  const ImageDesc desc{PixelFormat::rgba, 642, 46};
  const auto frames = make_frames(desc);
  run("mpv --no-config --really-quiet --no-audio --demuxer=rawvideo --demuxer-rawvideo-w=642 "
      "--demuxer-rawvideo-h=46 --demuxer-rawvideo-mp-format=rgba --demuxer-rawvideo-fps=30 "
      "'--vf=lavfi=[format=rgba,frei0r=equalux:filter_params=" +
      std::string(kSpec) + "]' --vo=image --vo-image-format=png --vo-image-outdir=" + path("mpv") +
      " " + path("in.rgba"));
  run("ffmpeg -v error -y -framerate 30 -i " + path("mpv") +
      "/%08d.png -f rawvideo -pix_fmt rgba " + path("out.rgba"));
  std::vector<std::uint8_t> wanted = filtered(desc, frames);
  std::vector<std::uint8_t> in_microseconds = filtered(desc, frames, 30, 1e3);
  std::vector<std::uint8_t> got = read("out.rgba");
  // Its pictures have no transparency.
  for (auto* all : {&wanted, &in_microseconds, &got}) {
    for (std::size_t i = 3; i < all->size(); i += 4)
      (*all)[i] = 255;
  }
  // mpv's own times, or none where FFmpeg 5.1 has copied the frame for its rows.
  if (differences(got, in_microseconds) != 0) {
    EXPECT_EQ(differences(got, wanted), 0);
  }
}

TEST_F(Frei0rHosts, GStreamer) {
  if (const char* reason = lacks("gst-launch-1.0", "gstreamer1.0-tools")) GTEST_SKIP() << reason;
  if (std::system("gst-inspect-1.0 --exists frei0r-filter-threshold0r || "
                  "gst-inspect-1.0 frei0r >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "GStreamer has no frei0r (Debian: gstreamer1.0-plugins-bad)";
  }
  const ImageDesc desc{PixelFormat::rgba, 168, 48};
  const auto frames = make_frames(desc);
  // A registry of its own, as one made without the plugin knows nothing of it.
  run("env GST_REGISTRY=" + path("registry") +
      " gst-launch-1.0 -q filesrc location=" + path("in.rgba") +
      " ! rawvideoparse width=168 height=48 format=rgba framerate=30/1 ! "
      "frei0r-filter-equalux settings='" +
      kSpec + "' ! filesink location=" + path("out.rgba"));
  EXPECT_EQ(differences(read("out.rgba"), filtered(desc, frames)), 0);
}

TEST_F(Frei0rHosts, Melt) {
  if (const char* reason = lacks("melt", "melt")) GTEST_SKIP() << reason;
  if (const char* reason = lacks("ffmpeg", "ffmpeg")) GTEST_SKIP() << reason;
  const ImageDesc desc{PixelFormat::rgba, 168, 48};
  make_frames(desc);
  run("ffmpeg -v error -y -f rawvideo -pix_fmt rgba -s 168x48 -r 30 -i " + path("in.rgba") +
      " -pix_fmt bgr24 -c:v ffv1 " + path("in.mkv"));
  // On a busy machine melt 7.12 sometimes waits for ever beside an empty file, or ends beside one,
  // with no filter as well: it misses the end of a clip this short.
  const auto melted = [&](const std::string& filter) {
    std::vector<std::uint8_t> result;
    for (int i = 0; i < 5 && result.empty(); ++i) {
      std::filesystem::remove(path("out.rgba"));
      const auto [text, status] = output_of(
          "timeout 20 env QT_QPA_PLATFORM=offscreen melt -silent " + path("in.mkv") + filter +
          " -consumer avformat:" + path("out.rgba") +
          " f=rawvideo vcodec=rawvideo pix_fmt=rgba width=168 height=48 frame_rate_num=30 "
          "frame_rate_den=1 progressive=1 real_time=-1 an=1 mlt_image_format=rgba");
      EXPECT_EQ(text.find("equalux: "), std::string::npos) << text;
      EXPECT_TRUE(status == 0 || status == 124) << text;
      result = read("out.rgba");
    }
    return result;
  };
  const std::vector<std::uint8_t> frames = melted("");
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(
      differences(melted(std::string(
                      " -attach frei0r.equalux settings=\"temporal-ms:60 clip-limit:2 floor:1\"")),
                  filtered(desc, frames)),
      0);
}

/// A host that is told to stop stops, and says nothing of a crash; two of them do at once.
TEST_F(Frei0rHosts, HostsMayBeClosedWhileFramesMove) {
  if (const char* reason = lacks("ffmpeg", "ffmpeg")) GTEST_SKIP() << reason;
  std::vector<std::string> hosts{
      "ffmpeg -v error -re -f lavfi -i testsrc2=s=640x360:r=60 -vf frei0r=equalux -f null -"};
  if (lacks("mpv", "mpv") == nullptr) {
    hosts.push_back(
        "mpv --no-config --really-quiet --vo=null --vf=lavfi=[frei0r=equalux] "
        "av://lavfi:testsrc2=s=640x360:r=60");
  }
  if (lacks("melt", "melt") == nullptr) {
    hosts.push_back(
        "env QT_QPA_PLATFORM=offscreen melt -silent noise: -attach frei0r.equalux -consumer null "
        "real_time=1");
  }
  if (lacks("gst-launch-1.0", "gstreamer1.0-tools") == nullptr) {
    hosts.push_back("env GST_REGISTRY=" + path("registry") +
                    " gst-launch-1.0 -q videotestsrc is-live=true ! videoconvert ! "
                    "frei0r-filter-equalux ! fakesink");
  }
  const int rounds = test::wants_every_count() ? 20 : 1;
  for (int i = 0; i < rounds; ++i) {
    for (const std::string& host : hosts) {
      SCOPED_TRACE(host);
      const std::string one = "begin=$(date +%s%N); timeout -s INT --preserve-status -k 20 " +
                              std::to_string(1 + 0.1 * i) + " " + host +
                              "; echo ended $? after $((($(date +%s%N) - begin) / 1000000)) ms";
      const auto [text, status] = output_of("sh -c '(" + one + ") & (" + one + ") & wait'");
      EXPECT_EQ(status, 0) << text;
      EXPECT_EQ(text.find("equalux: "), std::string::npos) << text;
      int ended = 0;
      for (std::size_t at = text.find("ended "); at != std::string::npos;
           at = text.find("ended ", at + 1), ++ended) {
        int code = -1;
        int after_ms = 0;
        ASSERT_EQ(std::sscanf(text.c_str() + at, "ended %d after %d", &code, &after_ms), 2);
        // Each has its own code for an interrupt; what crashed or had to be killed has none.
        EXPECT_THAT(code, ::testing::AnyOf(0, 4, 128 + SIGINT, 255)) << text;
        EXPECT_GE(after_ms, 900) << text;
      }
      EXPECT_EQ(ended, 2) << text;
    }
  }
}

/// FFmpeg makes the filter again for each size.
TEST_F(Frei0rHosts, SourcesMayChangeTheirSize) {
  if (const char* reason = lacks("ffmpeg", "ffmpeg")) GTEST_SKIP() << reason;
  std::string list;
  for (int i = 0; i < 10; ++i) {
    const std::string size = i % 2 == 0 ? "168x46" : "96x64";
    const std::string name = path("part" + std::to_string(i) + ".mkv");
    if (i < 2) {
      run("ffmpeg -v error -y -f lavfi -i testsrc2=s=" + size +
          ":r=30 -frames:v 6 -c:v ffv1 -pix_fmt bgr0 " + name);
    }
    list += "file '" + path("part" + std::to_string(i % 2) + ".mkv") + "'\n";
  }
  std::ofstream(path("list.txt")) << list;
  run("ffmpeg -v error -y -f concat -safe 0 -i " + path("list.txt") +
      " -vf frei0r=equalux,scale=64:48 -fps_mode passthrough -f rawvideo -pix_fmt rgba " +
      path("out.rgba"));
  EXPECT_EQ(read("out.rgba").size(), 60U * 64 * 48 * 4);
}

}  // namespace
}  // namespace equalux
