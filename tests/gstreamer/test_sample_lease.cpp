#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "pipelines/core/frame.h"
#include "pipelines/gstreamer/decode/sample_lease.h"
#include "pipelines/gstreamer/gst_formats.h"

namespace equalux::gst {
namespace {

GstBuffer* settled = nullptr;

TEST(SampleLease, WaitsForWhatOthersDoWithTheMemoryOnceItIsMapped) {
  start_up();
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, 8, 4);
  StreamInfo stream;
  read_video_info(info, stream);
  const BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  const auto leases = SampleLeases::make(1, {0, [](GstBuffer* mapped) { settled = mapped; }});
  Frame frame;
  ASSERT_TRUE(leases->lend(buffer.get(), info, stream.desc, frame));
  EXPECT_EQ(settled, buffer.get());
  frame.release(frame.lease);
  settled = nullptr;
  const auto usual = SampleLeases::make(1);
  ASSERT_TRUE(usual->lend(buffer.get(), info, stream.desc, frame));
  EXPECT_EQ(settled, nullptr);
  frame.release(frame.lease);
}

}  // namespace
}  // namespace equalux::gst
