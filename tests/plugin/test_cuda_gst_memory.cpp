#include <array>
#include <set>
#include <utility>

#include <cuda_runtime_api.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_elements.h"
#include "tests/support/device/device_test.h"
#include "tests/support/long_counts.h"

#if !GST_CHECK_VERSION(1, 24, 0)
/// Memory that was waited for.
std::set<GstMemory*> waited_for;

/// Stands for the function of GStreamer 1.24, which the plugin looks for when it is loaded.
extern "C" [[gnu::visibility("default")]] void gst_cuda_memory_sync(GstCudaMemory* memory) {
  waited_for.insert(GST_MEMORY_CAST(memory));
}
#endif

/// The elements over frames in CUDA memory, which stay on the device.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::array kCudaFormats{PixelFormat::nv12, PixelFormat::rgba, PixelFormat::bgra,
                                  PixelFormat::rgbx, PixelFormat::bgrx, PixelFormat::p010_10le};

class CudaGstMemory : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    load_plugin();
    // Elements do so when they first meet a device; here pictures are made before one does.
    ASSERT_TRUE(gst_cuda_load_library());
    gst_cuda_memory_init_once();
  }
};

/// GST_MAP_CUDA is no enumerator: the compiler must not see the sum as a constant.
GstMapFlags map_flags(unsigned flags) {
  return static_cast<GstMapFlags>(flags);
}

/// Pictures in CUDA memory of one context.
class CudaPictures {
 public:
  CudaPictures(GstCudaContext* context, const Stream& stream)
      : stream_(&stream), pool_(gst_cuda_buffer_pool_new(context)) {
    caps_.reset(gst_caps_copy(stream.caps.get()));
    gst_caps_set_features_simple(
        caps_.get(), gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, nullptr));
    GstStructure* config = gst_buffer_pool_get_config(pool_.get());
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_set_params(config, caps_.get(),
                                      static_cast<guint>(GST_VIDEO_INFO_SIZE(&stream.info)), 0, 0);
    gst_buffer_pool_set_config(pool_.get(), config);
    gst_buffer_pool_set_active(pool_.get(), TRUE);
  }
  ~CudaPictures() { gst_buffer_pool_set_active(pool_.get(), FALSE); }
  CudaPictures(const CudaPictures&) = delete;
  CudaPictures& operator=(const CudaPictures&) = delete;

  [[nodiscard]] GstCaps* caps() const { return caps_.get(); }
  /// The picture of a seed, and what equalization makes of it.
  [[nodiscard]] std::pair<BufferPtr, std::vector<std::uint8_t>> make(std::uint32_t seed) const {
    const auto filter = make_cpu_filter(EqualizeParams{}, {1});
    return make(seed, *filter);
  }
  /// The picture of a seed, and what a filter makes of it.
  [[nodiscard]] std::pair<BufferPtr, std::vector<std::uint8_t>> make(std::uint32_t seed,
                                                                     Filter& filter) const {
    const BufferPtr host = picture(*stream_, seed);
    GstBuffer* buffer = nullptr;
    gst_buffer_pool_acquire_buffer(pool_.get(), &buffer, nullptr);
    GstVideoFrame from;
    GstVideoFrame to;
    gst_video_frame_map(&from, &stream_->info, host.get(), GST_MAP_READ);
    gst_video_frame_map(&to, &stream_->info, buffer, GST_MAP_WRITE);
    gst_video_frame_copy(&to, &from);
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
    // Onto the device, so that nothing is left to upload for the element.
    GstMapInfo map;
    gst_buffer_map(buffer, &map, map_flags(GST_MAP_READ | GST_MAP_CUDA));
    gst_buffer_unmap(buffer, &map);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_PTS(host.get());
    return {BufferPtr(buffer), filtered(host.get(), *stream_, filter)};
  }

 private:
  const Stream* stream_;
  gst::BufferPoolPtr pool_;
  gst::CapsPtr caps_;
};

using ContextPtr = std::unique_ptr<GstCudaContext, gst::UnrefObject>;

ContextPtr new_context() {
  return ContextPtr(gst_cuda_context_new(0));
}

GstCudaContext* context_of(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) != FALSE ? GST_CUDA_MEMORY_CAST(memory)->context : nullptr;
}

/// True where the CPU has seen or written the memory since the device wrote it.
bool touched_by_the_cpu(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD) ||
         !GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
}

/// What comes out: those samples, in memory of that context which the CPU has not touched.
void expect_on_device(Harness& harness, GstCudaContext* context, const Stream& stream,
                      const std::vector<std::vector<std::uint8_t>>& expected) {
  for (const auto& each : expected) {
    const BufferPtr out = harness.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(context_of(out.get()), context);
    EXPECT_FALSE(touched_by_the_cpu(out.get()));
    EXPECT_EQ(samples_of(out.get(), stream), each);
  }
}

TEST_F(CudaGstMemory, CudaMemoryHasTheCpusBytesAndStaysOnTheDevice) {
  const ContextPtr context = new_context();
  ASSERT_NE(context, nullptr);
  for (const PixelFormat format : kCudaFormats) {
    for (const auto& [width, height] : {std::pair{2, 2}, {161, 91}, {640, 360}, {1920, 1080}}) {
      for (const int depth : {0, 2}) {
        SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width) + " depth " +
                     std::to_string(depth));
        const Stream stream = stream_of(format, width, height);
        const CudaPictures pictures(context.get(), stream);
        Harness harness("equalux queue-depth=" + std::to_string(depth));
        gst_harness_set_src_caps(harness.get(), gst_caps_ref(pictures.caps()));
        std::vector<std::vector<std::uint8_t>> expected;
        for (std::uint32_t n = 0; n < 4; ++n) {
          auto [buffer, bytes] = pictures.make(n);
          expected.push_back(std::move(bytes));
          // Every other one is not ours to write into.
          const BufferPtr kept(n % 2 == 0 ? nullptr : gst_buffer_ref(buffer.get()));
          ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK)
              << harness.message(GST_MESSAGE_ERROR);
        }
        harness.push_event(gst_event_new_eos());
        expect_on_device(harness, context.get(), stream, expected);
        EXPECT_THAT(harness.device_used(), StartsWith("CUDA memory, "));
      }
    }
  }
}

/// True where this build finds vessels on a GPU; else `auto` finds them on the CPU.
bool finds_vessels_on_device() {
  try {
    static_cast<void>(make_cuda_filter(VesselParams{}));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST_F(CudaGstMemory, VesselsInCudaMemoryAreAnOverlay) {
  if (!finds_vessels_on_device()) GTEST_SKIP() << "this build finds vessels on the CPU only";
  const ContextPtr context = new_context();
  ASSERT_NE(context, nullptr);
  VesselParams params;
  params.output = VesselOutput::overlay;
  const auto filter = make_cpu_filter(params, {1});
  for (const PixelFormat format : kCudaFormats) {
    if (!filter->accepts(format)) continue;
    for (const int depth : {0, 2}) {
      SCOPED_TRACE(std::string(to_string(format)) + " depth " + std::to_string(depth));
      const Stream stream = stream_of(format, 320, 180);
      const CudaPictures pictures(context.get(), stream);
      Harness harness("equaluxvessel queue-depth=" + std::to_string(depth));
      gst_harness_set_src_caps(harness.get(), gst_caps_ref(pictures.caps()));
      std::vector<std::vector<std::uint8_t>> expected;
      for (std::uint32_t n = 0; n < 4; ++n) {
        // A mask of them cannot be: a warning, and the overlay goes on.
        if (n == 2) gst_util_set_object_arg(G_OBJECT(harness.equalux()), "output", "mask");
        auto [buffer, bytes] = pictures.make(n, *filter);
        expected.push_back(std::move(bytes));
        const BufferPtr kept(n % 2 == 0 ? nullptr : gst_buffer_ref(buffer.get()));
        ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK)
            << harness.message(GST_MESSAGE_ERROR);
      }
      harness.push_event(gst_event_new_eos());
      expect_on_device(harness, context.get(), stream, expected);
      EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("system memory only"));
    }
  }
}

TEST_F(CudaGstMemory, ABufferOfAnotherContextIsFollowed) {
  const ContextPtr first = new_context();
  const ContextPtr second = new_context();
  const Stream stream = stream_of(PixelFormat::nv12, 320, 180);
  const CudaPictures of_first(first.get(), stream);
  const CudaPictures of_second(second.get(), stream);
  for (const int depth : {0, 2}) {
    for (const bool writable : {true, false}) {
      Harness harness("equalux queue-depth=" + std::to_string(depth));
      gst_harness_set_src_caps(harness.get(), gst_caps_ref(of_first.caps()));
      std::vector<std::vector<std::uint8_t>> expected;
      for (std::uint32_t n = 0; n < 9; ++n) {
        auto [buffer, bytes] = (n / 3 % 2 == 0 ? of_first : of_second).make(n);
        expected.push_back(std::move(bytes));
        const BufferPtr kept(writable ? nullptr : gst_buffer_ref(buffer.get()));
        ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK)
            << harness.message(GST_MESSAGE_ERROR);
      }
      harness.push_event(gst_event_new_eos());
      for (std::size_t n = 0; n < expected.size(); ++n) {
        const BufferPtr out = harness.pull();
        ASSERT_NE(out, nullptr);
        EXPECT_EQ(context_of(out.get()), (n / 3 % 2 == 0 ? first : second).get());
        EXPECT_EQ(samples_of(out.get(), stream), expected[n]);
      }
    }
  }
}

TEST_F(CudaGstMemory, MemoryThatIsNotCudasIsAnError) {
  const Stream stream = stream_of(PixelFormat::nv12, 64, 48);
  const ContextPtr context = new_context();
  const CudaPictures pictures(context.get(), stream);
  Harness harness("equalux");
  gst_harness_set_src_caps(harness.get(), gst_caps_ref(pictures.caps()));
  EXPECT_EQ(harness.push(picture(stream, 0)), GST_FLOW_ERROR);
  EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr("not one piece of CUDA memory"));
}

/// Notes the contexts of buffers that pass a pad.
GstPadProbeReturn note_context(GstPad*, GstPadProbeInfo* info, gpointer seen) {
  static_cast<std::set<GstCudaContext*>*>(seen)->insert(
      context_of(GST_PAD_PROBE_INFO_BUFFER(info)));
  return GST_PAD_PROBE_OK;
}

TEST_F(CudaGstMemory, ElementsInARowAndSideBySideShareOneContext) {
  if (!gst::has_element("cudaupload")) GTEST_SKIP() << "no cudaupload";
  std::set<GstCudaContext*> seen;
  GstElement* pipeline = gst_parse_launch(
      "videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=320,height=180 ! cudaupload ! "
      "video/x-raw(memory:CUDAMemory) ! tee name=t t. ! queue ! equalux name=a ! equalux name=b ! "
      "cudadownload ! fakesink "
      "t. ! queue ! equalux name=c ! cudadownload ! fakesink",
      nullptr);
  ASSERT_NE(pipeline, nullptr);
  gst_object_ref_sink(pipeline);
  for (const char* name : {"a", "b", "c"}) {
    const gst::ElementPtr element(gst_bin_get_by_name(GST_BIN(pipeline), name));
    const gst::PadPtr pad(gst_element_get_static_pad(element.get(), "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, note_context, &seen, nullptr);
  }
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const gst::BusPtr bus(gst_element_get_bus(pipeline));
  const gst::MessagePtr end(
      gst_bus_timed_pop_filtered(bus.get(), 60 * GST_SECOND,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(GST_MESSAGE_TYPE(end.get()), GST_MESSAGE_EOS);
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen.count(nullptr), 0U);
}

#if !GST_CHECK_VERSION(1, 24, 0)
TEST_F(CudaGstMemory, WhatOthersDoWithTheMemoryIsWaitedFor) {
  const Stream stream = stream_of(PixelFormat::nv12, 64, 48);
  const ContextPtr context = new_context();
  const CudaPictures pictures(context.get(), stream);
  for (const bool in_place : {true, false}) {
    Harness harness("equalux");
    gst_harness_set_src_caps(harness.get(), gst_caps_ref(pictures.caps()));
    BufferPtr in = pictures.make(1).first;
    GstMemory* const from = gst_buffer_peek_memory(in.get(), 0);
    const BufferPtr kept(in_place ? nullptr : gst_buffer_ref(in.get()));
    waited_for.clear();
    ASSERT_EQ(harness.push(std::move(in)), GST_FLOW_OK);
    const BufferPtr out = harness.pull();
    ASSERT_NE(out, nullptr);
    GstMemory* const to = gst_buffer_peek_memory(out.get(), 0);
    EXPECT_EQ(from == to, in_place);
    EXPECT_EQ(waited_for, (std::set<GstMemory*>{from, to}));
  }
}
#endif

TEST_F(CudaGstMemory, StartingAndStoppingLosesNoDeviceMemory) {
  const int cycles = wants_every_count() ? 1000 : 30;
  const ContextPtr context = new_context();
  const Stream stream = stream_of(PixelFormat::nv12, 640, 360);
  const CudaPictures pictures(context.get(), stream);
  std::size_t early = 0;
  std::size_t late = 0;
  std::size_t total = 0;
  for (int i = 0; i < cycles; ++i) {
    for (const bool device_memory : {true, false}) {
      Harness harness("equalux backend=cuda queue-depth=1");
      if (device_memory) {
        gst_harness_set_src_caps(harness.get(), gst_caps_ref(pictures.caps()));
      } else {
        harness.set_caps(stream);
      }
      for (std::uint32_t n = 0; n < 3; ++n)
        harness.push(device_memory ? pictures.make(n).first : picture(stream, n));
    }
    if (i == 10) cudaMemGetInfo(&early, &total);
  }
  cudaMemGetInfo(&late, &total);
  EXPECT_GE(late + (std::size_t{16} << 20), early);
}

}  // namespace
}  // namespace equalux::test
