#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/plugin/gst_elements.h"

/// The element in programs of others: what they leave behind, and the recipes.
namespace equalux::test {
namespace {

/// A command's output, and how it ended.
std::pair<std::string, int> output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part{};
  while (const std::size_t n = fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  const int status = pclose(pipe);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

bool has_program(const char* name) {
  return std::system((std::string("command -v ") + name + " >/dev/null").c_str()) == 0;
}

/// Tests that Linux lists a feature of the processor, which a virtual machine may hide.
bool processor_has(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find(" " + flag + " ") != std::string::npos;
}

/// Why no program from elsewhere can load the plugin here; null where gst-launch-1.0 can.
const char* no_launch() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "what the sanitizers instrument loads into instrumented programs only";
#else
  return has_program("gst-launch-1.0") ? nullptr : "gst-launch-1.0 is not installed";
#endif
}

const std::string kLaunch =
    " gst-launch-1.0 -q videotestsrc num-buffers=8 ! video/x-raw,format=I420,width=66,height=50 ! "
    "equalux backend=cpu threads=1 queue-depth=1 split=0.5 ! tee name=t ! queue ! "
    "equalux backend=cpu threads=1 ! fakesink t. ! queue ! equalux chain=fused ! fakesink "
    "t. ! queue ! equaluxvessel backend=cpu threads=1 output=mask ! fakesink "
    "t. ! queue ! equaluxconvolve backend=cpu threads=1 ! fakesink";

TEST(GstPluginPrograms, LeavesNoObjectsBehind) {
  if (const char* reason = no_launch()) GTEST_SKIP() << reason;
  const auto [text, status] =
      output_of("GST_PLUGIN_PATH=" + plugin_folder() +
                " GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1" + kLaunch);
  EXPECT_EQ(status, 0) << text;
  // The tracer says at the start how it will write of an object: "type-name=(string)%s".
  const std::string alive = "object-alive, type-name=(string)";
  const std::size_t first = text.find(alive);
  ASSERT_NE(first, std::string::npos) << "the tracer did not run: " << text;
  EXPECT_EQ(text.find(alive, first + 1), std::string::npos) << text;
}

TEST(GstPluginPrograms, MemcheckFindsNothing) {
  if (const char* reason = no_launch()) GTEST_SKIP() << reason;
  if (!has_program("valgrind")) GTEST_SKIP() << "valgrind is not installed";
#if defined(__x86_64__)
  // Highway reads the clock by it as it is loaded, and valgrind knows what the processor admits to.
  if (!processor_has("rdtscp")) GTEST_SKIP() << "valgrind runs no rdtscp on this processor";
#endif
  const auto [text, status] =
      output_of("GST_PLUGIN_PATH=" + plugin_folder() +
                " G_SLICE=always-malloc GST_REGISTRY_FORK=no valgrind -q --error-exitcode=9 "
                "--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite "
                "--suppressions=" EQUALUX_SOURCE_FOLDER "/tests/support/gstreamer.supp" +
                kLaunch);
  EXPECT_EQ(status, 0) << text;
}

TEST(GstPluginPrograms, RecipesRunAsWritten) {
  if (const char* reason = no_launch()) GTEST_SKIP() << reason;
  const std::string folder = EQUALUX_SOURCE_FOLDER "/samples/gst/";
  const std::string path = "GST_PLUGIN_PATH=" + plugin_folder() + " ";
  const std::string ends = path + "SOURCE='videotestsrc num-buffers=10' SINK=fakesink ";
  const std::string live = " 'videotestsrc num-buffers=10 ! equalux name=e ! fakesink'";
  std::vector<std::string> commands;
  for (const char* recipe :
       {"webcam_to_window.sh", "webcam_to_virtual_camera.sh", "rtsp_to_window.sh rtsp://localhost/",
        "before_after.sh", "vessels_overlay.sh"}) {
    std::string command = ends;
    commands.push_back(command.append(folder).append(recipe));
  }
  commands.push_back(path + plugin_folder() + "/../../bin/sample_live_property" + live);
  if (std::system("/usr/bin/python3 -c 'import gi' 2>/dev/null") == 0) {
    commands.push_back(path + folder + "live_property.py" + live);
  }
  for (const std::string& command : commands) {
    const auto [text, status] = output_of("timeout 60 " + ("env " + command));
    EXPECT_EQ(status, 0) << command << "\n" << text;
  }
}

}  // namespace
}  // namespace equalux::test
