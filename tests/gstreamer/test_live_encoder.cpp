#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/gstreamer/encode/encoder_table.h"
#include "pipelines/gstreamer/stream/live_encoder.h"
#include "pipelines/gstreamer/stream/packet_source.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"

/// An encoder that nobody waits for, and the times of its packets.
namespace equalux::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMs = 1'000'000;

class LiveEncoder : public ::testing::Test {
 protected:
  void SetUp() override {
    gst::start_up();
    if (!gst::has_element("x264enc")) GTEST_SKIP() << "GStreamer has no x264enc";
    info_.desc = {.format = PixelFormat::i420, .width = 64, .height = 48};
    info_.frame_rate = {25, 1};
    settings_.name = "stream";
    settings_.streamed = true;
    image_ = Image(info_.desc);
    fill(image_.view(), Content::natural, 1);
    frame_.image = std::as_const(image_).view();
  }
  /// Offers the frame of that number.
  void offer(gst::LiveEncoder& encoder, int number) {
    frame_.pts_ns = number * 40 * kMs;
    encoder.offer(frame_);
  }
  /// Offers it and waits for its packet.
  void encode(gst::LiveEncoder& encoder, int number) {
    const std::size_t before = packets_;
    offer(encoder, number);
    while (packets_ == before)
      std::this_thread::sleep_for(1ms);
  }
  void take(const gst::EncodedPicture& picture) {
    times_.push_back(picture.pts_ns);
    if (picture.keyframe) keyframes_.push_back(picture.pts_ns / (40 * kMs));
    ++packets_;
  }

  Watchdog watchdog_;
  StreamInfo info_;
  gst::EncodeSettings settings_;
  Image image_;
  Frame frame_;
  std::atomic<std::size_t> packets_{0};
  std::vector<std::int64_t> times_;  // read once the encoder has stopped
  std::vector<std::int64_t> keyframes_;
};

TEST_F(LiveEncoder, TheNewestFrameWins) {
  gst::LiveEncoder encoder(gst::encoder_spec("x264"), info_, settings_,
                           [&](const gst::EncodedPicture& picture) {
                             std::this_thread::sleep_for(60ms);
                             take(picture);
                           });
  encoder.set_wanted(true);
  constexpr int kOffered = 50;
  const auto start = Clock::now();
  for (int i = 0; i < kOffered; ++i) {
    offer(encoder, i);
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_LT(milliseconds(Clock::now() - start), 60.0 * kOffered / 2);
  std::this_thread::sleep_for(300ms);
  encoder.stop();
  const gst::StreamCounts counts = encoder.counts();
  EXPECT_GT(counts.dropped, 10U);
  EXPECT_EQ(counts.frames + counts.dropped, kOffered);
  EXPECT_EQ(times_.size(), counts.frames);
  EXPECT_TRUE(std::is_sorted(times_.begin(), times_.end()));
  EXPECT_EQ(times_.back(), (kOffered - 1) * 40 * kMs);
}

TEST_F(LiveEncoder, NothingIsDoneForNobody) {
  gst::LiveEncoder encoder(gst::encoder_spec("x264"), info_, settings_,
                           [&](const gst::EncodedPicture& picture) { take(picture); });
  for (int i = 0; i < 10; ++i)
    offer(encoder, i);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(encoder.counts().frames, 0U);
  EXPECT_EQ(encoder.counts().dropped, 0U);
}

TEST_F(LiveEncoder, KeyFramesComeWhenTheyAreAskedForAndBehindAPause) {
  gst::LiveEncoder encoder(gst::encoder_spec("x264"), info_, settings_,
                           [&](const gst::EncodedPicture& picture) { take(picture); });
  encoder.set_wanted(true);
  for (int i = 0; i < 4; ++i)
    encode(encoder, i);
  encoder.force_keyframe();
  for (int i = 4; i < 8; ++i)
    encode(encoder, i);
  encoder.set_wanted(false);
  offer(encoder, 8);
  encoder.set_wanted(true);
  for (int i = 9; i < 12; ++i)
    encode(encoder, i);
  encoder.stop();
  EXPECT_THAT(keyframes_, ::testing::ElementsAre(0, 4, 9));
}

TEST(StreamStamps, FollowTheFramesTimesNearTheClock) {
  gst::StreamStamps stamps;
  EXPECT_EQ(stamps.at(1000 * kMs, 50 * kMs), 50 * kMs);
  EXPECT_EQ(stamps.at(1040 * kMs, 97 * kMs), 90 * kMs);  // Late by 7 ms: evenly all the same.
  EXPECT_EQ(stamps.at(1080 * kMs, 128 * kMs), 130 * kMs);
  EXPECT_EQ(stamps.at(9000 * kMs, 170 * kMs), 170 * kMs);      // A gap in the input is none here.
  EXPECT_EQ(stamps.at(9040 * kMs, 900 * kMs), 900 * kMs);      // A pause is one.
  EXPECT_EQ(stamps.at(9000 * kMs, 901 * kMs), 900 * kMs + 1);  // Never back.
}

/// A pipeline of an appsrc and an appsink that does not play yet, with a clock far from zero.
class PacketsBeforeTheStart : public ::testing::Test {
 protected:
  void SetUp() override {
    gst::start_up();
    const std::string launch = "appsrc name=packets ! appsink name=sink sync=false";
    pipeline_ = gst::parse_launch(launch, launch, {});
    source_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "packets"));
    sink_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "sink"));
    clock_.reset(GST_CLOCK(gst_object_ref_sink(
        g_object_new(GST_TYPE_SYSTEM_CLOCK, "clock-type", GST_CLOCK_TYPE_REALTIME, nullptr))));
    gst_pipeline_use_clock(GST_PIPELINE(pipeline_.get()), clock_.get());
  }
  void TearDown() override { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  static gst::EncodedPicture picture(std::int64_t pts_ns) {
    const gst::BufferPtr buffer(gst_buffer_new_allocate(nullptr, 16, nullptr));
    const gst::CapsPtr caps(gst_caps_new_empty_simple("video/x-h264"));
    return {.sample = gst::SamplePtr(gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr)),
            .alpha = nullptr,
            .pts_ns = pts_ns,
            .dts_ns = pts_ns,
            .duration_ns = 40 * kMs,
            .keyframe = true};
  }
  /// Returns the next packet's time; the greatest one where none comes.
  std::uint64_t next_time() {
    const gst::SamplePtr sample(
        gst_app_sink_try_pull_sample(GST_APP_SINK(sink_.get()), 20 * GST_SECOND));
    return sample ? GST_BUFFER_PTS(gst_sample_get_buffer(sample.get())) : GST_CLOCK_TIME_NONE;
  }

  Watchdog watchdog_;
  gst::ElementPtr pipeline_;
  gst::ElementPtr source_;
  gst::ElementPtr sink_;
  std::unique_ptr<GstClock, gst::UnrefObject> clock_;
};

// A pipeline gives its elements the clock before the base time. Timestamps of that moment were
// those of the clock, and no later ones go back: sinks waited for ever.
TEST_F(PacketsBeforeTheStart, AreNotStampedByAClockWithoutABaseTime) {
  gst::PacketSource packets(source_.get());
  gst_element_set_clock(source_.get(), clock_.get());
  EXPECT_TRUE(packets.push(picture(0)));
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  const std::uint64_t first = next_time();
  EXPECT_LT(first, 60 * GST_SECOND);
  ASSERT_EQ(gst_element_get_state(source_.get(), nullptr, nullptr, 20 * GST_SECOND),
            GST_STATE_CHANGE_SUCCESS);
  EXPECT_TRUE(packets.push(picture(40 * kMs)));
  const std::uint64_t second = next_time();
  EXPECT_GT(second, first);
  EXPECT_LT(second, 60 * GST_SECOND);
}

}  // namespace
}  // namespace equalux::test
