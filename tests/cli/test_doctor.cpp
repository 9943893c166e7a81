#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "src/cli/commands/doctor_checks.h"
#include "src/common/json_text.h"
#include "tests/support/program.h"

/// `equalux doctor` on machines made of files.
namespace equalux::test {
namespace {

namespace fs = std::filesystem;
using cli::Finding;
using cli::Health;
using ::testing::HasSubstr;

class Doctor : public ::testing::Test {
 protected:
  [[nodiscard]] cli::KernelFolders folders() const {
    return {folder_ / "dev", folder_ / "class", folder_ / "module", folder_ / "driver"};
  }
  void loopback(int number, const std::string& format) const {
    const std::string node = "class/video" + std::to_string(number) + "/";
    folder_.write(node + "max_openers", "10\n");
    folder_.write(node + "name", "Dummy video device\n");
    folder_.write(node + "format", format + "\n");
    folder_.write("dev/video" + std::to_string(number), "");
  }
  void exclusive(const std::string& options) const {
    folder_.write("module/v4l2loopback/parameters/exclusive_caps", options + "\n");
  }
  TempFolder folder_;
};

TEST_F(Doctor, LoopbackThatIsNotLoadedIsAbsent) {
  const auto findings = cli::check_loopback(folders());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].health, Health::absent);
  EXPECT_THAT(findings[0].advice, HasSubstr("modprobe v4l2loopback exclusive_caps=1"));
}

TEST_F(Doctor, LoopbackWithoutADeviceIsAFault) {
  exclusive("Y");
  const auto findings = cli::check_loopback(folders());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].health, Health::fault);
}

TEST_F(Doctor, LoopbacksOptionsAreReadForEachDevice) {
  exclusive("Y,N,1,Y");
  loopback(4, "");
  loopback(9, "YU12:640x480@30/1");
  loopback(10, "YUYV:640x480@30/1");
  loopback(11, "YU12:641x480@30/1");
  const auto findings = cli::check_loopback(folders());
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0].health, Health::good) << findings[0].found;
  EXPECT_EQ(findings[0].advice, "");
  EXPECT_EQ(findings[1].health, Health::fault);
  EXPECT_THAT(findings[1].found, HasSubstr("exclusive_caps is off"));
  EXPECT_EQ(findings[2].health, Health::good) << findings[2].found;
  EXPECT_EQ(findings[3].health, Health::fault);
  EXPECT_THAT(findings[3].found, HasSubstr("641x480"));
  EXPECT_THAT(findings[3].advice, HasSubstr("even"));
}

TEST_F(Doctor, LoopbackWithoutItsNodeIsAFault) {
  exclusive("Y");
  loopback(4, "");
  fs::remove(folder_ / "dev/video4");
  const auto findings = cli::check_loopback(folders());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].found, HasSubstr("node is missing"));
}

#ifdef EQUALUX_HAVE_OPENCV
TEST_F(Doctor, CameraThatMayNotBeOpenedNamesTheGroup) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may open everything";
  folder_.write("dev/video0", "");
  fs::permissions(folder_ / "dev/video0", fs::perms::none);
  const auto findings = cli::check_cameras(folders());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].health, Health::fault);
  EXPECT_THAT(findings[0].advice, HasSubstr("usermod -aG video"));
}

TEST_F(Doctor, NoCameraIsNoFault) {
  const auto findings = cli::check_cameras(folders());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].health, Health::absent);
}
#endif

/// What `equalux doctor --json` says of one subject.
nlohmann::json check_of(const std::string& subject, const ProgramOptions& options,
                        ProgramResult& result) {
  result = run_program({"doctor", "--json"}, options);
  const auto json = parse_json(result.out);
  EXPECT_EQ(json["sound"], result.exit_code == 0);
  for (const auto& check : json["checks"]) {
    if (check["subject"] == subject) return check;
  }
  return {{"health", "missing"}, {"found", ""}};
}

#ifdef EQUALUX_HAVE_PIPEWIRE
TEST_F(Doctor, APipewireWithoutPluginsIsNoFault) {
  ProgramOptions options;
  options.environment = {{"DISPLAY", ""},
                         {"WAYLAND_DISPLAY", ""},
                         {"CUDA_VISIBLE_DEVICES", "-1"},
                         {"PIPEWIRE_MODULE_DIR", folder_.path().string()},
                         {"PIPEWIRE_CONFIG_DIR", folder_.path().string()}};
  ProgramResult result;
  const nlohmann::json pipewire = check_of("pipewire", options, result);
  EXPECT_EQ(pipewire["health"], "absent") << result.out;
  EXPECT_THAT(pipewire.dump(), HasSubstr("its plugins are not"));
  EXPECT_THAT(pipewire.dump(), HasSubstr("sudo apt install pipewire wireplumber"));
}
#endif

TEST_F(Doctor, ADisplayThatIsDeadIsAFaultAndNoneIsNot) {
  ProgramOptions options;
  options.environment = {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"CUDA_VISIBLE_DEVICES", "-1"}};
  const auto health_of_display = [&](ProgramResult& result) {
    return check_of("display", options, result)["health"].get<std::string>();
  };
  ProgramResult result;
  EXPECT_EQ(health_of_display(result), "absent");
#ifdef EQUALUX_HAVE_OPENCV
  options.environment[0].second = ":4711";
  EXPECT_EQ(health_of_display(result), "fault");
  EXPECT_EQ(result.exit_code, 69);
  const ProgramResult text = run_program({"doctor"}, options);
  EXPECT_EQ(text.exit_code, 69);
  EXPECT_THAT(text.out, HasSubstr("fault   display"));
  EXPECT_THAT(text.out, HasSubstr("-> log in to the desktop"));
#endif
}

}  // namespace
}  // namespace equalux::test
