#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program.h"

/// Which libraries the program loads, and what it says where one of its modules is not there.
namespace equalux::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kHeavy = "opencv|gst|pipewire|avformat|avcodec|exiv2|libX11|gtk|Qt";
/// The C++ runtime, oneTBB, spdlog, Highway, libmicrohttpd with GnuTLS, and room for what their
/// next versions bring along. Some 250 with OpenCV, GStreamer and libavformat.
constexpr std::size_t kFewLibraries = 40;

class ProgramStart : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef EQUALUX_HAVE_MODULES
    GTEST_SKIP() << "everything is linked into this build";
#endif
    folder_.write("in.ppm", dim_ppm(16, 8));
  }

  /// Paths of the libraries that a run of the program loads, as the dynamic loader tells them.
  [[nodiscard]] std::vector<std::string> libraries_of(const std::vector<std::string>& arguments,
                                                      const std::string& input = {}) const {
    ProgramOptions options;
    options.folder = folder_.path();
    options.environment = {{"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", folder_ / "loader"}};
    options.input = input;
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::set<std::string> paths;
    for (const std::string& name : folder_.names()) {
      if (!name.starts_with("loader.")) continue;
      for (const std::string& line : lines_of(folder_.read(name))) {
        constexpr std::string_view kInit = "calling init: ";
        if (const std::size_t at = line.find(kInit); at != std::string::npos)
          paths.insert(line.substr(at + kInit.size()));
      }
      fs::remove(folder_ / name);
    }
    return {paths.begin(), paths.end()};
  }

  void expect_light(const std::vector<std::string>& arguments,
                    const std::string& input = {}) const {
    const std::vector<std::string> libraries = libraries_of(arguments, input);
    SCOPED_TRACE(::testing::PrintToString(arguments));
    EXPECT_THAT(libraries,
                SizeIs(::testing::AllOf(::testing::Gt(3U), ::testing::Le(kFewLibraries))));
    EXPECT_THAT(libraries, Each(Not(ContainsRegex(kHeavy))));
  }

  TempFolder folder_;
};

TEST_F(ProgramStart, LoadsFewLibrariesWhereNoneIsNeeded) {
  expect_light({"--version"});
  expect_light({"--help"});
  expect_light({"run", "--help-all"});
  expect_light({"run", "--backend", "cpu", "-", "-o", "-"}, dim_y4m(32, 16, 2));
  expect_light({"run", "--backend", "cpu", "test:32x16@30", "--frames", "2", "-o", "null"});
  expect_light({"image", "--backend", "cpu", "in.ppm", "out.ppm"});
  expect_light({"batch", "--help"});
}

#ifdef EQUALUX_HAVE_OPENCV
TEST_F(ProgramStart, LoadsForAStillWhatReadsStills) {
  const std::vector<std::string> libraries =
      libraries_of({"image", "--backend", "cpu", "in.ppm", "out.png"});
  EXPECT_THAT(libraries, ::testing::Contains(HasSubstr("opencv_imgcodecs")));
  EXPECT_THAT(libraries, Each(Not(ContainsRegex("opencv_videoio|opencv_highgui|gstreamer"))));
}
#endif

#ifdef EQUALUX_HAVE_GSTREAMER
TEST_F(ProgramStart, LoadsForAVideoWhatReadsVideos) {
  const std::vector<std::string> libraries =
      libraries_of({"run", "--backend", "cpu", "test:32x16@30", "--frames", "2", "-o", "out.mkv"});
  EXPECT_THAT(libraries, ::testing::Contains(HasSubstr("libgstreamer")));
  EXPECT_THAT(libraries, Each(Not(HasSubstr("opencv_"))));
}

TEST_F(ProgramStart, SaysOfHardwareAloneThatAnEncoderNeedsIt) {
  ProgramOptions options;
  fs::create_directory(folder_ / "none");
  options.environment = {{"GST_PLUGIN_SYSTEM_PATH_1_0", folder_ / "none"},
                         {"GST_PLUGIN_PATH", ""},
                         {"GST_REGISTRY", folder_ / "registry"}};
  const std::string list = run_program({"run", "--list-encoders"}, options).out;
  EXPECT_THAT(list, ContainsRegex("ffv1 .*needs gstreamer1.0-libav]\n"));
  EXPECT_THAT(list, ContainsRegex("x264 .*needs gstreamer1.0-plugins-ugly]\n"));
  EXPECT_THAT(list, ContainsRegex("v4l2h264 .*needs gstreamer1.0-plugins-good and a device"));
  EXPECT_THAT(list, ContainsRegex("nvh264 .*needs gstreamer1.0-plugins-bad and a device"));
}

TEST_F(ProgramStart, LetsAModuleWriteToItsLog) {
  ProgramOptions options;
  options.folder = folder_.path();
  ASSERT_EQ(
      run_program({"run", "test:32x16@30", "--frames", "2", "-o", "a.mkv"}, options).exit_code, 0);
  const auto log_at = [&](const char* level) {
    return run_program({"run", "a.mkv", "--fps", "25", "-o", "null", "--log-level", level}, options)
        .err;
  };
  EXPECT_THAT(log_at("warn"), HasSubstr("a.mkv: has times of its own, --fps changes nothing"));
  EXPECT_THAT(log_at("error"), Not(HasSubstr("has times of its own")));
}
#endif

/// The program alone, as a copy of it somewhere else would be.
class ProgramAlone : public ProgramStart {
 protected:
  void SetUp() override {
    ProgramStart::SetUp();
    fs::create_directories(folder_.path() / "bin");
    fs::copy_file(fs::path(EQUALUX_PROGRAM_FOLDER) / "equalux", folder_ / "bin/equalux");
  }
  [[nodiscard]] ProgramResult run(const std::vector<std::string>& arguments) const {
    ProgramOptions options;
    options.folder = folder_.path();
    options.input = dim_y4m(32, 16, 2);
    options.program = folder_ / "bin/equalux";
    return run_program(arguments, options);
  }
  void expect_unavailable(const std::vector<std::string>& arguments, const char* purpose,
                          const char* file) const {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 69);
    const std::vector<std::string> lines = lines_of(result.err);
    ASSERT_THAT(lines, SizeIs(1)) << result.err;
    EXPECT_THAT(lines[0], HasSubstr(purpose));
    EXPECT_THAT(lines[0], HasSubstr(file));
    EXPECT_THAT(lines[0], HasSubstr("must be installed with the program"));
  }
};

TEST_F(ProgramAlone, DoesWhatNeedsNoModule) {
  EXPECT_EQ(run({"--version"}).exit_code, 0);
  EXPECT_EQ(run({"run", "--preset", "plain", "-", "-o", "-"}).exit_code, 0);
}

TEST_F(ProgramAlone, SaysWhatTheLabNeeds) {
  const ProgramResult result = run({"lab", "scans"});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_THAT(result.err, HasSubstr("equalux-lab cannot be started: No such file or directory; "
                                    "must lie beside equalux or in PATH (Debian: package "
                                    "equalux-lab)"));
}

TEST_F(ProgramAlone, SaysWhichModuleIsMissing) {
#ifdef EQUALUX_HAVE_OPENCV
  expect_unavailable({"image", "in.ppm", "out.png"}, "stills", "lib/equalux/stills.so is missing");
  EXPECT_FALSE(fs::exists(folder_ / "out.png"));
#endif
#ifdef EQUALUX_HAVE_GSTREAMER
  expect_unavailable(
      {"run", "--preset", "plain", "test:32x16@30", "--frames", "2", "-o", "out.mkv"},
      "video files", "/equalux/media.so is missing");
#endif
}

TEST_F(ProgramAlone, SaysWhatIsWrongWithAModule) {
  // What lies where a module is looked for: no library, and one that is not of equalux.
  folder_.write("lib/equalux/stills.so", "no library");
#ifdef EQUALUX_HAVE_OPENCV
  expect_unavailable({"image", "in.ppm", "out.png"}, "stills", "cannot be loaded: ");
  fs::copy_file(EQUALUX_STRANGE_MODULE, folder_ / "lib/equalux/stills.so",
                fs::copy_options::overwrite_existing);
  expect_unavailable({"image", "in.ppm", "out.png"}, "stills", "is not of equalux ");
  fs::copy_file(EQUALUX_OLD_MODULE, folder_ / "lib/equalux/stills.so",
                fs::copy_options::overwrite_existing);
  expect_unavailable({"image", "in.ppm", "out.png"}, "stills", "is not of equalux ");
#endif
}

TEST_F(ProgramAlone, IsAFaultForTheDoctor) {
  const ProgramResult result = run({"doctor"});
#if defined(EQUALUX_HAVE_OPENCV) || defined(EQUALUX_HAVE_GSTREAMER)
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_THAT(result.out, ContainsRegex("fault +module "));
  EXPECT_THAT(result.out, HasSubstr("install equalux again"));
#else
  EXPECT_EQ(result.exit_code, 0);
#endif
}

}  // namespace
}  // namespace equalux::test
