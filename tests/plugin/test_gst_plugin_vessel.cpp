#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_vessel.h"

/// The element equaluxvessel: the core's bytes in each kind of output.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

std::vector<PixelFormat> vessel_formats() {
  std::vector<PixelFormat> all;
  const auto filter = make_cpu_filter(VesselParams{});
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (filter->accepts(format) && gst::to_gst(format) != GST_VIDEO_FORMAT_UNKNOWN)
      all.push_back(format);
  }
  return all;
}

class GstPluginVesselOutput : public testing::TestWithParam<const char*> {};

TEST_P(GstPluginVesselOutput, EveryFormatAndSizeHasTheCoresBytes) {
  const VesselParams params = with({{"output", GetParam()}, {"min-size", "3"}});
  Harness harness(std::string("equaluxvessel backend=cpu min-size=3 output=") + GetParam());
  for (const PixelFormat format : vessel_formats()) {
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {161, 91}, {320, 180}}) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width) + "x" +
                   std::to_string(height));
      const Stream stream = stream_of(format, width, height);
      harness.set_caps(stream);
      for (const Layout layout : {Layout::usual, Layout::padded})
        expect_filtered(harness, stream, picture(stream, 1, layout), params);
    }
  }
}

TEST_P(GstPluginVesselOutput, FramesHeldBackAndMetadataAreTheirOwn) {
  const VesselParams params = with({{"output", GetParam()}});
  Harness harness(std::string("equaluxvessel backend=cpu queue-depth=2 output=") + GetParam());
  const Stream stream = stream_of(PixelFormat::i420, 161, 91, "colorimetry=bt709");
  harness.set_caps(stream);
  const auto filter = make_cpu_filter(params, {1});
  std::vector<std::vector<std::uint8_t>> expected;
  for (std::uint32_t n = 0; n < 5; ++n) {
    BufferPtr buffer = picture(stream, n);
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", n, 1, 2, 3);
    expected.push_back(filtered(buffer.get(), stream, *filter));
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  }
  harness.push_event(gst_event_new_eos());
  for (std::uint32_t n = 0; n < 5; ++n) {
    const BufferPtr out = harness.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(samples_of(out.get(), output_of(stream, params.output)), expected[n]);
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), n * 40 * GST_MSECOND);
    const auto* region = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(region->x, n);
  }
}

/// Decoders that crop send frames larger than their caps.
TEST_P(GstPluginVesselOutput, AFrameLargerThanItsCapsIsTakenAsItIs) {
  const VesselParams params = with({{"output", GetParam()}});
  Harness harness(std::string("equaluxvessel backend=cpu output=") + GetParam());
  harness.set_caps(stream_of(PixelFormat::nv12, 150, 80));
  const Stream larger = stream_of(PixelFormat::nv12, 162, 92);
  BufferPtr buffer = picture(larger, 1, Layout::padded);
  gst_buffer_add_video_crop_meta(buffer.get())->x = 7;
  const auto filter = make_cpu_filter(params, {1});
  const auto expected = filtered(buffer.get(), larger, *filter);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const BufferPtr out = harness.pull();
  EXPECT_EQ(samples_of(out.get(), output_of(larger, params.output)), expected);
  ASSERT_NE(gst_buffer_get_video_crop_meta(out.get()), nullptr);
  EXPECT_EQ(gst_buffer_get_video_crop_meta(out.get())->x, 7U);
}

TEST_P(GstPluginVesselOutput, InterlacedFramesHaveTheCoresBytes) {
  const VesselParams params = with({{"output", GetParam()}});
  Harness harness(std::string("equaluxvessel backend=cpu output=") + GetParam());
  const Stream stream = stream_of(PixelFormat::i420, 160, 90,
                                  "interlace-mode=interleaved,field-order=top-field-first");
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  const auto filter = make_cpu_filter(params, {1});
  const auto expected = filtered(buffer.get(), stream, *filter, FieldOrder::top_first);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const gst::CapsPtr caps(gst_pad_get_current_caps(harness.get()->sinkpad));
  Stream out = output_of(stream, params.output);
  gst_video_info_from_caps(&out.info, caps.get());
  EXPECT_EQ(GST_VIDEO_INFO_INTERLACE_MODE(&out.info), GST_VIDEO_INTERLACE_MODE_INTERLEAVED);
  EXPECT_EQ(samples_of(harness.pull().get(), out), expected);
}

INSTANTIATE_TEST_SUITE_P(Outputs, GstPluginVesselOutput, testing::Values("overlay", "mask", "heat"),
                         [](const auto& each) { return std::string(each.param); });

TEST(GstPluginVessel, DefaultsAreTheCoresButAnOverlay) {
  Harness harness("equaluxvessel backend=cpu");
  gchar* sigmas = nullptr;
  double low = 0;
  double high = 0;
  double truncate = 0;
  int min_size = 0;
  g_object_get(harness.equalux(), "sigmas", &sigmas, "low", &low, "high", &high, "truncate",
               &truncate, "min-size", &min_size, nullptr);
  const gst::StringPtr owned(sigmas);
  EXPECT_STREQ(sigmas, "2,3,4");
  EXPECT_EQ(low, -1);
  EXPECT_EQ(high, -1);
  EXPECT_EQ(truncate, 4);
  EXPECT_EQ(min_size, 100);
  const Stream stream = stream_of(PixelFormat::rgb, 161, 91);
  harness.set_caps(stream);
  VesselParams params;
  params.output = VesselOutput::overlay;
  expect_filtered(harness, stream, picture(stream, 1), params);
}

TEST(GstPluginVessel, PropertiesAreTheOptions) {
  const std::vector<std::pair<const char*, VesselParams>> cases{
      {"sigmas=1,1.5,6 truncate=3", with({{"sigmas", "1,1.5,6"}, {"truncate", "3"}})},
      {"derivative=gradient channel=green output=heat",
       with({{"derivative", "gradient"}, {"channel", "green"}, {"output", "heat"}})},
      {"polarity=bright mask=none output=mask",
       with({{"polarity", "bright"}, {"mask", "none"}, {"output", "mask"}})},
      {"measure=frangi channel=value", with({{"measure", "frangi"}, {"channel", "value"}})},
      {"measure=frangi low=0.05 min-size=0",
       with({{"measure", "frangi"}, {"low", "0.05"}, {"min-size", "0"}})},
      {"low=0.02 high=0.3 min-size=20",
       with({{"low", "0.02"}, {"high", "0.3"}, {"min-size", "20"}})},
  };
  for (const auto& [properties, params] : cases) {
    SCOPED_TRACE(properties);
    Harness harness(std::string("equaluxvessel ") + properties);
    const Stream stream = stream_of(PixelFormat::bgra, 161, 91);
    harness.set_caps(stream);
    expect_filtered(harness, stream, picture(stream, 3), params);
  }
}

TEST(GstPluginVessel, PropertiesChangeWhileItRuns) {
  Harness harness("equaluxvessel backend=cpu");
  const Stream stream = stream_of(PixelFormat::nv12, 161, 91);
  harness.set_caps(stream);
  expect_filtered(harness, stream, picture(stream, 1), with({}));
  set(harness, "sigmas", "1,2");
  set(harness, "low", "0.03");
  expect_filtered(harness, stream, picture(stream, 2), with({{"sigmas", "1,2"}, {"low", "0.03"}}));
  // What does not go together is told, and the parameters before go on.
  set(harness, "high", "0.01");
  expect_filtered(harness, stream, picture(stream, 3), with({{"sigmas", "1,2"}, {"low", "0.03"}}));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("low is 0.03, must be at most high"));
  set(harness, "high", "-1");
  set(harness, "channel", "red");
  expect_filtered(harness, stream, picture(stream, 4), with({{"sigmas", "1,2"}, {"low", "0.03"}}));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("must be luma"));
  set(harness, "channel", "luma");
  set(harness, "low", "-1");
  expect_filtered(harness, stream, picture(stream, 5), with({{"sigmas", "1,2"}}));
}

TEST(GstPluginVessel, AnOverlayLeavesTheRestAsItWas) {
  const Stream stream = stream_of(PixelFormat::gray8, 160, 90);
  Harness harness("equaluxvessel backend=cpu split=0.5");
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  const auto before = samples_of(buffer.get(), stream);
  const auto filter = make_cpu_filter(with({}));
  const auto whole = filtered(buffer.get(), stream, *filter);
  EXPECT_NE(before, whole);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const auto after = samples_of(harness.pull().get(), stream);
  for (std::size_t i = 0; i < after.size(); ++i)
    ASSERT_EQ(after[i], i % 160 < 80 ? before[i] : whole[i]) << i;
  // The whole frame is tinted in place, and passed on untouched without the filter.
  g_object_set(harness.equalux(), "split", 0.0, nullptr);
  buffer = picture(stream, 1);
  const GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
  harness.push(std::move(buffer));
  BufferPtr out = harness.pull();
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_EQ(samples_of(out.get(), stream), whole);
  g_object_set(harness.equalux(), "enabled", FALSE, nullptr);
  harness.push(picture(stream, 1));
  EXPECT_EQ(samples_of(harness.pull().get(), stream), before);
}

TEST(GstPluginVessel, WhatIsNotFilteredIsBlackInAMask) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::gray8}) {
    const Stream stream = stream_of(format, 160, 90);
    const Stream mask = stream_of(PixelFormat::gray8, 160, 90);
    Harness harness("equaluxvessel backend=cpu output=mask split=0.5");
    harness.set_caps(stream);
    BufferPtr buffer = picture(stream, 1);
    const auto filter = make_cpu_filter(with({{"output", "mask"}}));
    const auto whole = filtered(buffer.get(), stream, *filter);
    EXPECT_THAT(whole, Contains(255));
    harness.push(std::move(buffer));
    const auto after = samples_of(harness.pull().get(), mask);
    for (std::size_t i = 0; i < after.size(); ++i)
      ASSERT_EQ(after[i], i % 160 < 80 ? 0 : whole[i]) << i;

    g_object_set(harness.equalux(), "split", 0.0, "enabled", FALSE, nullptr);
    harness.push(picture(stream, 2));
    EXPECT_THAT(samples_of(harness.pull().get(), mask), Each(0));

    g_object_set(harness.equalux(), "enabled", TRUE, "regions", TRUE, nullptr);
    harness.push(picture(stream, 3));
    EXPECT_THAT(samples_of(harness.pull().get(), mask), Each(0)) << "no region, nothing found";

    // Frames without content have their turn and their format as well.
    g_object_set(harness.equalux(), "regions", FALSE, nullptr);
    buffer = picture(stream, 4);
    GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_GAP);
    expect_filtered(harness, stream, std::move(buffer), with({{"output", "mask"}}));
  }
}

TEST(GstPluginVessel, ARegionIsAPictureOfItsOwn) {
  const Stream stream = stream_of(PixelFormat::bgr, 160, 90);
  Harness harness("equaluxvessel backend=cpu output=heat regions=true");
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "part", 20, 10, 100, 60);
  const Stream part = stream_of(PixelFormat::bgr, 100, 60);
  const auto before = samples_of(buffer.get(), stream);
  Image region(part.desc);
  for (int y = 0; y < 60; ++y) {
    const auto first = before.begin() + ((10 + y) * 160 + 20) * 3;
    std::copy(first, first + 300, region.view().row(0, y));
  }
  const auto filter = make_cpu_filter(with({{"output", "heat"}}));
  Image expected(filter->configure(part.desc));
  FrameContext context;
  filter->submit(std::as_const(region).view(), expected.view(), context);

  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const auto after = samples_of(harness.pull().get(), stream);
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 160 * 3; ++x) {
      const bool inside = y >= 10 && y < 70 && x >= 60 && x < 360;
      ASSERT_EQ(after[static_cast<std::size_t>(y * 480 + x)],
                inside ? expected.view().row(0, y - 10)[x - 60] : 0)
          << x << " " << y;
    }
  }
}

TEST(GstPluginVessel, WhatCannotBeIsOneLine) {
  for (const auto& [properties, says] : {std::pair{"sigmas=\"\"", "sigmas is ''"},
                                         {"sigmas=2,x", "sigmas is 'x'"},
                                         {"sigmas=0.5", "sigmas is 0.5, must be 1 to 16"},
                                         {"sigmas=1,1,1,1,1,1,1,1,1", "sigmas has 9 scales"},
                                         {"sigmas=16 truncate=8", "truncate is 8, must be so"},
                                         {"low=0", "low is 0, must be above 0"},
                                         {"low=0.5", "low is 0.5, must be at most high"}}) {
    Harness harness(std::string("equaluxvessel ") + properties);
    const Stream stream = stream_of(PixelFormat::i420, 64, 48);
    harness.set_caps(stream);
    EXPECT_NE(harness.push(picture(stream, 1)), GST_FLOW_OK);
    EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr(says)) << properties;
  }
}

TEST(GstPluginVessel, StagesAreTimed) {
  Harness harness("equaluxvessel backend=cpu");
  const Stream stream = stream_of(PixelFormat::i420, 64, 48);
  harness.set_caps(stream);
  harness.push(picture(stream, 1));
  GstStructure* timings = nullptr;
  g_object_get(harness.equalux(), "last-timings", &timings, nullptr);
  ASSERT_NE(timings, nullptr);
  const GstStructure* stages = gst_value_get_structure(gst_structure_get_value(timings, "stages"));
  EXPECT_TRUE(gst_structure_has_field(stages, "vesselness"));
  gst_structure_free(timings);
}

}  // namespace
}  // namespace equalux::test
