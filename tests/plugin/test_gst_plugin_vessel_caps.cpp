#include <array>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_vessel.h"

/// The caps of the element equaluxvessel, which follow its properties.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::HasSubstr;

std::string format_out(const Harness& harness) {
  const gst::CapsPtr caps(gst_pad_get_current_caps(harness.get()->sinkpad));
  const char* format =
      caps ? gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format") : nullptr;
  return format == nullptr ? "" : format;
}

TEST(GstPluginVesselCaps, AChangeOfOutputIsNegotiatedBeforeTheNextFrame) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::gray8, PixelFormat::bgr}) {
    for (const char* depth : {"0", "2"}) {
      SCOPED_TRACE(to_string(format));
      Harness harness(std::string("equaluxvessel backend=cpu queue-depth=") + depth);
      const Stream stream = stream_of(format, 161, 91);
      harness.set_caps(stream);
      std::vector<std::pair<Stream, std::vector<std::uint8_t>>> expected;
      std::uint32_t n = 0;
      for (const char* output : {"overlay", "mask", "heat", "mask", "overlay", "heat", "overlay"}) {
        set(harness, "output", output);
        const VesselParams params = with({{"output", output}});
        const auto filter = make_cpu_filter(params, {1});
        for (int i = 0; i < 3; ++i) {
          BufferPtr buffer = picture(stream, ++n);
          expected.emplace_back(output_of(stream, params.output),
                                filtered(buffer.get(), stream, *filter));
          ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK)
              << harness.message(GST_MESSAGE_ERROR);
        }
      }
      harness.push_event(gst_event_new_eos());
      for (const auto& [out, samples] : expected)
        EXPECT_EQ(samples_of(harness.pull().get(), out), samples);
      EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
    }
  }
}

TEST(GstPluginVesselCaps, AnOutputThatDownstreamDoesNotTakeIsAWarning) {
  Harness harness(
      "equaluxvessel backend=cpu ! capsfilter caps=\"video/x-raw,format=(string){NV12,BGR}\"");
  const Stream stream = stream_of(PixelFormat::nv12, 161, 91);
  harness.set_caps(stream);
  expect_filtered(harness, stream, picture(stream, 1), with({}));
  set(harness, "output", "mask");
  for (std::uint32_t n = 2; n < 4; ++n)
    expect_filtered(harness, stream, picture(stream, n), with({}));
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "downstream does not take GRAY8");
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once for each change";
  set(harness, "output", "heat");
  expect_filtered(harness, stream, picture(stream, 4), with({{"output", "heat"}}));
  EXPECT_EQ(format_out(harness), "BGR");
  // Wrong in another way too: nothing is negotiated for it.
  set(harness, "output", "overlay");
  set(harness, "sigmas", "99");
  expect_filtered(harness, stream, picture(stream, 5), with({{"output", "heat"}}));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("sigmas is 99, must be 1 to 16"));
  set(harness, "sigmas", "2");
  set(harness, "channel", "blue");
  expect_filtered(harness, stream, picture(stream, 6), with({{"output", "heat"}}));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("frames of format NV12"));
}

/// Formats on a pad that a bin's element offers while nothing flows.
std::string formats_offered(const char* launch, const char* pad_name) {
  load_plugin();
  const gst::ElementPtr element(
      GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(launch, nullptr))));
  const gst::PadPtr pad(gst_element_get_static_pad(element.get(), pad_name));
  const gst::CapsPtr caps(gst_pad_query_caps(pad.get(), nullptr));
  if (gst_caps_get_size(caps.get()) != 1) return "";
  const GValue* value = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), "format");
  const gst::StringPtr text(gst_value_serialize(value));
  return text.get();
}

TEST(GstPluginVesselCaps, CapsFollowOutputAndChannel) {
  EXPECT_EQ(formats_offered("equaluxvessel backend=cpu output=mask", "src"), "GRAY8");
  EXPECT_EQ(formats_offered("equaluxvessel backend=cpu output=heat", "src"), "BGR");
  const std::string overlay = formats_offered("equaluxvessel backend=cpu", "src");
  for (const char* output : {"overlay", "mask", "heat"}) {
    EXPECT_EQ(formats_offered((std::string("equaluxvessel backend=cpu output=") + output).c_str(),
                              "sink"),
              overlay);
  }
  EXPECT_THAT(overlay, HasSubstr("NV12"));
  EXPECT_THAT(overlay, ::testing::Not(HasSubstr("YUY2")));
  EXPECT_THAT(formats_offered("equaluxvessel backend=cpu channel=green", "sink"),
              ::testing::AllOf(HasSubstr("GRAY8"), ::testing::Not(HasSubstr("NV12"))));
}

TEST(GstPluginVesselCaps, PipelinesNegotiateOrFailCleanly) {
  const std::string source = "videotestsrc num-buffers=3 ! ";
  for (const char* rest :
       {"video/x-raw,format=NV12 ! equaluxvessel ! video/x-raw,format=NV12 ! fakesink",
        "video/x-raw,format=NV12 ! equaluxvessel output=mask ! video/x-raw,format=GRAY8 ! fakesink",
        "equaluxvessel output=mask channel=green ! videoconvert ! video/x-raw,format=I420 ! "
        "fakesink",
        "video/x-raw,format=I420,colorimetry=bt709 ! equaluxvessel output=heat ! "
        "video/x-raw,format=BGR ! fakesink",
        "equaluxvessel ! equaluxvessel output=heat ! equalux ! equaluxvessel output=mask ! "
        "fakesink",
        "videoconvert ! equaluxvessel channel=green ! videoconvert ! fakesink"}) {
    const PipelineEnd end = run_pipeline(source + rest);
    EXPECT_TRUE(end.eos) << rest << ": " << end.error;
  }
  for (const char* rest :
       {"video/x-raw,format=NV12 ! equaluxvessel output=mask ! video/x-raw,format=NV12 ! fakesink",
        "video/x-raw,format=NV12 ! equaluxvessel ! video/x-raw,format=GRAY8 ! fakesink",
        "video/x-raw,format=NV12 ! equaluxvessel channel=green ! fakesink",
        "video/x-raw,format=YUY2 ! equaluxvessel ! fakesink"}) {
    const PipelineEnd end = run_pipeline(source + rest);
    EXPECT_FALSE(end.eos) << rest;
    EXPECT_NE(end.error, "") << rest;
  }
}

TEST(GstPluginVesselCaps, OutputChangesWhilePlaying) {
  const PipelineEnd end = run_pipeline(
      "videotestsrc num-buffers=200 ! video/x-raw,width=160,height=120 ! "
      "equaluxvessel name=e backend=cpu queue-depth=1 ! videoconvert ! fakesink",
      [](GstElement* pipeline) {
        const gst::ElementPtr e(gst_bin_get_by_name(GST_BIN(pipeline), "e"));
        constexpr std::array kOutputs{"mask", "overlay", "heat"};
        for (std::size_t i = 0; i < 60; ++i) {
          gst_util_set_object_arg(G_OBJECT(e.get()), "output", kOutputs[i % kOutputs.size()]);
          g_object_set(e.get(), "enabled", i % 5 != 0, "split", 0.01 * static_cast<double>(i),
                       "regions", i % 7 == 0, "min-size", static_cast<int>(i), nullptr);
          g_usleep(3000);
        }
      });
  EXPECT_TRUE(end.eos) << end.error;
}

}  // namespace
}  // namespace equalux::test
