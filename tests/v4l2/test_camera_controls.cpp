#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include "pipelines/v4l2/v4l2_controls.h"
#include "pipelines/v4l2/v4l2_nodes.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;

/// A camera that answers as a driver does.
class FakeNode final : public V4l2Access {
 public:
  struct Entry {
    std::uint32_t id;
    const char* name;
    std::uint32_t type;
    int least, most, usual;
    std::uint32_t flags;
    mutable int value;
  };
  std::vector<Entry> entries{
      {V4L2_CID_BRIGHTNESS, "Brightness", V4L2_CTRL_TYPE_INTEGER, 0, 255, 128, 0, 128},
      {V4L2_CID_GAIN, "Gain", V4L2_CTRL_TYPE_INTEGER, 0, 100, 10, V4L2_CTRL_FLAG_INACTIVE, 50},
      {V4L2_CID_POWER_LINE_FREQUENCY, "Power Line Frequency", V4L2_CTRL_TYPE_MENU, 0, 2, 2, 0, 2},
      {V4L2_CID_EXPOSURE_AUTO, "Exposure, Auto", V4L2_CTRL_TYPE_MENU, 0, 3, 3, 0, 3},
      {V4L2_CID_EXPOSURE_AUTO_PRIORITY, "Exposure Dynamic Framerate", V4L2_CTRL_TYPE_BOOLEAN, 0, 1,
       0, 0, 1},
      {V4L2_CID_EXPOSURE_AUTO_PRIORITY + 1, "Gone", V4L2_CTRL_TYPE_INTEGER, 0, 1, 0,
       V4L2_CTRL_FLAG_DISABLED, 1},
  };
  int refusal = 0;  ///< of VIDIOC_S_CTRL

  int ask(unsigned long request, void* argument) const override {
    switch (request) {
      case VIDIOC_QUERYCTRL:
        return query(*static_cast<v4l2_queryctrl*>(argument));
      case VIDIOC_QUERYMENU:
        return menu(*static_cast<v4l2_querymenu*>(argument));
      case VIDIOC_G_CTRL:
        return with(*static_cast<v4l2_control*>(argument), false);
      case VIDIOC_S_CTRL:
        return refusal != 0 ? refusal : with(*static_cast<v4l2_control*>(argument), true);
      default:
        return ENOTTY;
    }
  }

 private:
  int query(v4l2_queryctrl& to) const {
    const std::uint32_t after = to.id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
    const Entry* next = nullptr;
    for (const Entry& entry : entries) {
      if (entry.id > after && (next == nullptr || entry.id < next->id)) next = &entry;
    }
    if (next == nullptr) return EINVAL;
    to.id = next->id;
    std::snprintf(reinterpret_cast<char*>(to.name), sizeof to.name, "%s", next->name);
    to.type = next->type;
    to.minimum = next->least;
    to.maximum = next->most;
    to.default_value = next->usual;
    to.flags = next->flags;
    return 0;
  }
  static int menu(v4l2_querymenu& to) {
    static constexpr const char* kLines[] = {"Disabled", "50 Hz", "60 Hz"};
    const char* text = nullptr;
    if (to.id == V4L2_CID_POWER_LINE_FREQUENCY) text = kLines[to.index];
    // UVC cameras have these two only.
    if (to.id == V4L2_CID_EXPOSURE_AUTO && to.index == 1) text = "Manual Mode";
    if (to.id == V4L2_CID_EXPOSURE_AUTO && to.index == 3) text = "Aperture Priority Mode";
    if (text == nullptr) return EINVAL;
    std::snprintf(reinterpret_cast<char*>(to.name), sizeof to.name, "%s", text);
    return 0;
  }
  int with(v4l2_control& control, bool set) const {
    for (const Entry& entry : entries) {
      if (entry.id != control.id) continue;
      (set ? entry.value : control.value) = set ? control.value : entry.value;
      return 0;
    }
    return EINVAL;
  }
};

int value_of(const FakeNode& node, const std::string& name) {
  for (const CameraControl& control : list_controls(node)) {
    if (control.name == name) return control.value;
  }
  ADD_FAILURE() << name;
  return -1;
}

TEST(CameraControls, AreListedAsV4l2CtlSpellsThem) {
  const FakeNode node;
  const auto controls = list_controls(node);
  ASSERT_EQ(controls.size(), 5U);
  EXPECT_EQ(describe(controls[0]), "brightness = 128, 0 to 255");
  EXPECT_EQ(controls[0].advice, "");
  EXPECT_EQ(describe(controls[1]), "gain = 50, 0 to 100; overruled at present");
  EXPECT_NE(controls[1].advice, "");
  EXPECT_EQ(describe(controls[2]),
            "power_line_frequency = 2 (60 hz); 0 (disabled), 1 (50 hz) or 2 (60 hz)");
  EXPECT_EQ(describe(controls[3]),
            "exposure_auto = 3 (aperture priority mode); 1 (manual mode) or 3 (aperture priority "
            "mode)");
  EXPECT_EQ(controls[4].name, "exposure_dynamic_framerate");
}

TEST(CameraControls, AreSetByNumberSwitchOrChoice) {
  const FakeNode node;
  set_control(node, "camera:0", "brightness", "7");
  EXPECT_EQ(value_of(node, "brightness"), 7);
  set_control(node, "camera:0", "power_line_frequency", "50 Hz");
  EXPECT_EQ(value_of(node, "power_line_frequency"), 1);
  set_control(node, "camera:0", "exposure_auto", "manual mode");
  EXPECT_EQ(value_of(node, "exposure_auto"), 1);
  set_control(node, "camera:0", "exposure_dynamic_framerate", "off");
  EXPECT_EQ(value_of(node, "exposure_dynamic_framerate"), 0);
}

TEST(CameraControls, MistakesSayWhatWouldBeRight) {
  FakeNode node;
  const auto text = [&](const std::string& name, const std::string& value, ExitCode code) {
    const auto [found, message] = error_of([&] { set_control(node, "camera:0", name, value); });
    EXPECT_EQ(found, code) << message;
    return message;
  };
  EXPECT_EQ(text("brightnes", "1", ExitCode::usage),
            "camera:0: has no control brightnes, must be brightness");
  EXPECT_EQ(text("brightness", "256", ExitCode::usage),
            "camera:0: control brightness is '256', must be 0 to 255");
  EXPECT_EQ(text("brightness", "on", ExitCode::usage),
            "camera:0: control brightness is 'on', must be 0 to 255");
  EXPECT_EQ(text("exposure_auto", "2", ExitCode::usage),
            "camera:0: control exposure_auto is '2', must be 1 (manual mode) or 3 (aperture "
            "priority mode)");
  node.refusal = EBUSY;
  EXPECT_THAT(text("brightness", "1", ExitCode::unavailable), HasSubstr("cannot be set: "));
  EXPECT_THAT(text("gain", "1", ExitCode::unavailable), HasSubstr("another control overrules it"));
}

TEST(CameraMode, TheChoiceIsExplained) {
  constexpr auto kYuyv = fourcc('Y', 'U', 'Y', 'V');
  constexpr auto kMjpg = fourcc('M', 'J', 'P', 'G');
  const std::vector<CameraMode> modes{{kYuyv, 640, 480, 30},
                                      {kYuyv, 1280, 720, 7.5},
                                      {kMjpg, 640, 480, 30},
                                      {kMjpg, 1280, 720, 30}};
  EXPECT_EQ(explain_mode(modes, choose_mode(modes, {})),
            "MJPG 1280x720 at up to 30 fps: compressed, which costs a decode and some detail; YUYV "
            "of that size reaches 7.5 fps only");
  EXPECT_EQ(
      explain_mode(modes, choose_mode(modes, {.width = 640, .height = 480})),
      "YUYV 640x480 at up to 30 fps: uncompressed, so nothing is lost and nothing is decoded, "
      "and as fast as asked for");
  EXPECT_EQ(explain_mode({}, choose_mode({}, {})), "its driver chooses the mode");
}

}  // namespace
}  // namespace equalux::test
