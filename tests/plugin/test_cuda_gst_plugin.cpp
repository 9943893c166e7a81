#include <chrono>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_elements.h"
#include "tests/support/device/device_test.h"

/// The elements on a GPU: frames in system memory, caps, and changes while playing.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::StartsWith;

class CudaGstPlugin : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) load_plugin();
  }
};

TEST_F(CudaGstPlugin, SystemMemoryHasTheCpusBytes) {
  for (const int depth : {0, 1, 3}) {
    Harness harness("equalux backend=cuda queue-depth=" + std::to_string(depth));
    for (int i = 0; i < kPixelFormatCount; ++i) {
      const auto format = static_cast<PixelFormat>(i);
      if (gst::to_gst(format) == GST_VIDEO_FORMAT_UNKNOWN) continue;
      for (const auto& [width, height] : {std::pair{1, 1}, {161, 91}, {640, 360}}) {
        SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width));
        const Stream stream = stream_of(format, width, height);
        harness.set_caps(stream);
        std::vector<std::vector<std::uint8_t>> expected;
        for (std::uint32_t n = 0; n < 5; ++n) {
          BufferPtr buffer = picture(stream, n, n % 2 == 0 ? Layout::usual : Layout::padded);
          expected.push_back(filtered(buffer.get(), stream));
          ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK)
              << harness.message(GST_MESSAGE_ERROR);
        }
        GstSegment segment;
        gst_segment_init(&segment, GST_FORMAT_TIME);
        harness.push_event(gst_event_new_segment(&segment));
        for (const auto& each : expected) {
          const BufferPtr out = harness.pull();
          ASSERT_NE(out, nullptr);
          EXPECT_EQ(samples_of(out.get(), stream), each);
        }
      }
    }
    EXPECT_THAT(harness.device_used(), StartsWith("CUDA, "));
  }
}

TEST_F(CudaGstPlugin, AreasOfSystemMemory) {
  for (const char* areas : {"split=0.3", "regions=true"}) {
    Harness gpu(std::string("equalux backend=cuda ") + areas);
    Harness cpu(std::string("equalux backend=cpu ") + areas);
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuy2, PixelFormat::rgb}) {
      const Stream stream = stream_of(format, 163, 77);
      gpu.set_caps(stream);
      cpu.set_caps(stream);
      for (guint n = 0; n < 4; ++n) {
        const BufferPtr buffer = picture(stream, n);
        gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 3 * n, 5, 50 + n, 30);
        gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 40, 20, 999, 999);
        gpu.push(BufferPtr(gst_buffer_ref(buffer.get())));
        cpu.push(BufferPtr(gst_buffer_ref(buffer.get())));
        EXPECT_EQ(samples_of(gpu.pull().get(), stream), samples_of(cpu.pull().get(), stream));
      }
    }
  }
}

TEST_F(CudaGstPlugin, StagedVariantsThatOnlyAGpuHas) {
  Harness harness("equalux chain=staged scan=cub histogram=shared block=128");
  const Stream stream = stream_of(PixelFormat::bgr, 161, 91);
  harness.set_caps(stream);
  EqualizeParams params;
  params.chain = Chain::staged;
  BufferPtr buffer = picture(stream, 1);
  const auto expected = filtered(buffer.get(), stream, params);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(samples_of(harness.pull().get(), stream), expected);
}

TEST_F(CudaGstPlugin, VesselsInSystemMemoryHaveTheCpusBytes) {
  for (const char* output : {"overlay", "mask", "heat"}) {
    for (const char* areas : {"", " split=0.3", " regions=true", " enabled=false"}) {
      const std::string launch = std::string("equaluxvessel output=") + output + areas;
      Harness gpu(launch + " queue-depth=1");
      Harness cpu(launch + " backend=cpu");
      for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::gray8, PixelFormat::rgb}) {
        SCOPED_TRACE(launch + " " + std::string(to_string(format)));
        const Stream stream = stream_of(format, 163, 77);
        gpu.set_caps(stream);
        cpu.set_caps(stream);
        for (guint n = 0; n < 4; ++n) {
          const BufferPtr buffer = picture(stream, n);
          gst_buffer_add_video_region_of_interest_meta(buffer.get(), "part", 3 * n, 5, 50 + n, 30);
          gpu.push(BufferPtr(gst_buffer_ref(buffer.get())));
          cpu.push(BufferPtr(gst_buffer_ref(buffer.get())));
        }
        GstSegment segment;
        gst_segment_init(&segment, GST_FORMAT_TIME);
        gpu.push_event(gst_event_new_segment(&segment));
        const Stream out = stream_of(output == std::string("mask")   ? PixelFormat::gray8
                                     : output == std::string("heat") ? PixelFormat::bgr
                                                                     : format,
                                     163, 77);
        for (guint n = 0; n < 4; ++n) {
          const BufferPtr got = gpu.pull();
          ASSERT_NE(got, nullptr) << gpu.message(GST_MESSAGE_ERROR);
          EXPECT_EQ(samples_of(got.get(), out), samples_of(cpu.pull().get(), out));
        }
      }
    }
  }
}

TEST_F(CudaGstPlugin, TheCpuBackendHasNoCudaMemoryInItsCaps) {
  for (const char* backend : {"cpu", "auto"}) {
    const gst::ElementPtr element(GST_ELEMENT(gst_object_ref_sink(
        gst_parse_launch((std::string("equalux backend=") + backend).c_str(), nullptr))));
    const gst::PadPtr pad(gst_element_get_static_pad(element.get(), "sink"));
    const gst::CapsPtr caps(gst_pad_query_caps(pad.get(), nullptr));
    const gst::StringPtr text(gst_caps_to_string(caps.get()));
    const bool has = std::string(text.get()).find("CUDAMemory") != std::string::npos;
    EXPECT_EQ(has, std::string(backend) == "auto") << text.get();
  }
}

TEST_F(CudaGstPlugin, PropertiesChangeWhilePlaying) {
  const char* launches[] = {
      "videotestsrc num-buffers=300 ! video/x-raw,format=RGBA,width=320,height=180 ! cudaupload ! "
      "video/x-raw(memory:CUDAMemory) ! equalux name=e queue-depth=1 ! cudadownload ! fakesink",
      "videotestsrc num-buffers=300 ! video/x-raw,format=RGBA,width=320,height=180 ! "
      "equalux name=e backend=cuda queue-depth=2 ! fakesink"};
  for (const char* launch : launches) {
    if (std::string(launch).find("cudaupload") != std::string::npos &&
        !gst::has_element("cudaupload")) {
      continue;
    }
    const PipelineEnd end = run_pipeline(launch, [](GstElement* pipeline) {
      const gst::ElementPtr e(gst_bin_get_by_name(GST_BIN(pipeline), "e"));
      for (int i = 0; i < 50; ++i) {
        gst_util_set_object_arg(G_OBJECT(e.get()), "scaler", i % 2 == 0 ? "min-max" : "max-abs");
        gst_util_set_object_arg(G_OBJECT(e.get()), "chain", i % 3 == 0 ? "staged" : "fused");
        g_object_set(e.get(), "bins", 2 + 37 * i, "split", 0.01 * i, "enabled", i % 5 != 0,
                     nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
    EXPECT_TRUE(end.eos) << end.error;
  }
}

}  // namespace
}  // namespace equalux::test
