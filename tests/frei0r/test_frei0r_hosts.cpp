// The frei0r plugins in their hosts: what comes out has the library's bytes.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <equalux/filter.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/temp_folder.h"
#include "tests/support/test_images.h"

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
const char* lacks(const char* program, const char* package) {
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

  /// What the library makes of frames, 30 a second.
  static std::vector<std::uint8_t> filtered(const ImageDesc& desc, std::vector<std::uint8_t> frames,
                                            double rate = 30) {
    const auto filter =
        make_cpu_filter(parse_filter_spec("equalize:temporal-ms=60,clip-limit=2,floor=1"));
    filter->configure(desc);
    const std::ptrdiff_t stride = 4 * static_cast<std::ptrdiff_t>(desc.width);
    const auto bytes = static_cast<std::size_t>(stride * desc.height);
    for (std::size_t i = 0; (i + 1) * bytes <= frames.size(); ++i) {
      FrameContext context;
      context.index = i;
      context.pts_ns = static_cast<std::int64_t>(static_cast<double>(i) / rate * 1e9);
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
  std::vector<std::uint8_t> got = read("out.rgba");
  // Its pictures have no transparency.
  for (auto* all : {&wanted, &got}) {
    for (std::size_t i = 3; i < all->size(); i += 4)
      (*all)[i] = 255;
  }
  EXPECT_EQ(differences(got, wanted), 0);
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
  const auto melted = [&](const std::string& filter) {
    run("env QT_QPA_PLATFORM=offscreen melt -silent " + path("in.mkv") + filter +
        " -consumer avformat:" + path("out.rgba") +
        " f=rawvideo vcodec=rawvideo pix_fmt=rgba width=168 height=48 frame_rate_num=30 "
        "frame_rate_den=1 progressive=1 real_time=-1 an=1 mlt_image_format=rgba");
    return read("out.rgba");
  };
  const std::vector<std::uint8_t> frames = melted("");
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(
      differences(melted(std::string(
                      " -attach frei0r.equalux settings=\"temporal-ms:60 clip-limit:2 floor:1\"")),
                  filtered(desc, frames)),
      0);
}

}  // namespace
}  // namespace equalux
