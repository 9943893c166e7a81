// Which frames an output node takes, against drivers of several tempers.
#include <cerrno>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include "pipelines/v4l2/v4l2_output.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/v4l2/fake_output.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;

v4l2_pix_format pictures(std::uint32_t width, std::uint32_t height, std::uint32_t fourcc) {
  v4l2_pix_format format{};
  format.width = width;
  format.height = height;
  format.pixelformat = fourcc;
  return format;
}

constexpr ImageDesc kFrames{PixelFormat::nv12, 1280, 720};

TEST(V4l2OutputTest, TakesTheFramesOwnFormat) {
  const FakeOutput node;
  const V4l2Output output = set_v4l2_output(node, "/dev/video9", kFrames);
  EXPECT_EQ(output.fourcc, V4L2_PIX_FMT_NV12);
  EXPECT_EQ(output.width, 1280);
  EXPECT_EQ(output.height, 720);
  EXPECT_EQ(size_difference(output, kFrames), "");
  EXPECT_EQ(node.asked, 1);
  EXPECT_EQ(v4l2_launch("/dev/video9", output),
            "videoscale add-borders=true ! videoconvert ! "
            "video/x-raw,format=NV12,width=1280,height=720,pixel-aspect-ratio=1/1 ! "
            "v4l2sink device=\"/dev/video9\"");
}

TEST(V4l2OutputTest, OthersBecomeWhatReadersExpect) {
  const FakeOutput node;
  EXPECT_STREQ(set_v4l2_output(node, "", {PixelFormat::rgb, 640, 480}).format, "YUY2");
  FakeOutput rgb;
  rgb.listed = {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_RGB24};
  EXPECT_STREQ(set_v4l2_output(rgb, "", kFrames).format, "RGB");
}

TEST(V4l2OutputTest, ADriverThatListsNothingIsTriedOut) {
  FakeOutput node;
  node.lists = false;
  node.listed = {V4L2_PIX_FMT_UYVY};
  EXPECT_STREQ(set_v4l2_output(node, "", kFrames).format, "UYVY");
}

TEST(V4l2OutputTest, WhatTheDriverKeepsCounts) {
  // As v4l2loopback does while somebody reads from it: older ones refuse, newer ones agree and
  // change nothing.
  for (const int refusal : {EBUSY, EINVAL, 0}) {
    FakeOutput node;
    node.refusal = refusal;
    node.keeps = true;
    node.now = pictures(640, 480, V4L2_PIX_FMT_YUYV);
    const V4l2Output output = set_v4l2_output(node, "/dev/video9", kFrames);
    EXPECT_STREQ(output.format, "YUY2");
    EXPECT_EQ(output.width, 640);
    EXPECT_EQ(output.height, 480);
    EXPECT_EQ(size_difference(output, kFrames),
              "takes 640x480 YUYV where the frames have 1280x720: they are scaled");
  }
}

TEST(V4l2OutputTest, ASizeThatIsRoundedIsSeen) {
  FakeOutput node;
  node.even_sizes = true;
  const ImageDesc odd{PixelFormat::i420, 641, 481};
  const V4l2Output output = set_v4l2_output(node, "", odd);
  EXPECT_EQ(output.width, 640);
  EXPECT_THAT(size_difference(output, odd), HasSubstr("takes 640x480 YU12 where"));
}

TEST(V4l2OutputTest, WhatCannotTakePicturesIsRefused) {
  const auto refusal = [](const FakeOutput& node) {
    const auto [code, text] =
        error_of([&] { (void)set_v4l2_output(node, "/dev/video9", kFrames); });
    EXPECT_EQ(code, ExitCode::cannot_create);
    EXPECT_TRUE(text.starts_with("/dev/video9: ")) << text;
    return text;
  };
  FakeOutput camera;
  camera.abilities = V4L2_CAP_VIDEO_CAPTURE;
  EXPECT_THAT(refusal(camera), HasSubstr("is no video output device; v4l2loopback makes one: sudo "
                                         "modprobe v4l2loopback exclusive_caps=1 video_nr=9"));
  FakeOutput compressed;
  compressed.keeps = true;
  compressed.now = pictures(640, 480, V4L2_PIX_FMT_MJPEG);
  EXPECT_THAT(refusal(compressed), HasSubstr("takes frames of MJPG only, must take one of YUYV"));
  FakeOutput none;
  none.listed = {V4L2_PIX_FMT_MJPEG};
  EXPECT_THAT(refusal(none), HasSubstr("takes no frames that can be made here"));
  FakeOutput empty;
  empty.keeps = true;
  empty.now = pictures(0, 0, V4L2_PIX_FMT_YUYV);
  EXPECT_THAT(refusal(empty), HasSubstr("is another program using it?"));
}

}  // namespace
}  // namespace equalux::test
