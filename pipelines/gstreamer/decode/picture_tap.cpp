#include "pipelines/gstreamer/decode/picture_tap.h"

#include <utility>

#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux::gst {

namespace {

using namespace std::chrono_literals;

/// Interval at which a waiting pull checks cancel() and the bus.
constexpr auto kTapLook = 20ms;
/// Buffers between the decoder and the reader.
constexpr guint kBuffers = 3;

/// Answers the allocation query for appsink, which does not announce that it accepts pictures with
/// padded strides; without that, decoders copy each picture into a tight one.
GstPadProbeReturn offer_video_meta(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return GST_PAD_PROBE_HANDLED;
}

std::string seconds_text(std::chrono::milliseconds limit) {
  const auto tenths = limit.count() / 100;
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text.append(".").append(std::to_string(tenths % 10));
  return text.append(" s");
}

}  // namespace

void set_up_appsink(GstElement* appsink, WhenFull when_full) {
  g_object_set(appsink, "sync", FALSE, "qos", FALSE, "enable-last-sample", FALSE, "max-buffers",
               when_full == WhenFull::drop ? 1U : kBuffers, "drop",
               when_full == WhenFull::drop ? TRUE : FALSE, "wait-on-eos", FALSE, nullptr);
  const PadPtr pad(gst_element_get_static_pad(appsink, "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_video_meta, nullptr,
                    nullptr);
}

PictureTap::PictureTap(std::string name, GstElement* pipeline, GstAppSink* sink, MapMode mode)
    : name_(std::move(name)),
      sink_(sink),
      messages_(pipeline),
      leases_(SampleLeases::make(16, mode)) {}

SamplePtr PictureTap::pull(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  constexpr auto kWait = static_cast<GstClockTime>(std::chrono::nanoseconds(kTapLook).count());
  while (!cancelled_) {
    SamplePtr sample(gst_app_sink_try_pull_sample(sink_, kWait));
    if (sample) return sample;
    messages_.poll();
    if (messages_.failed()) throw messages_.error(name_, Role::input);
    if (gst_app_sink_is_eos(sink_) != FALSE) return nullptr;
    if (Clock::now() > deadline) {
      throw Error(ExitCode::bad_input, name_ + ": no picture for " + seconds_text(limit));
    }
  }
  return nullptr;
}

GstVideoInfo PictureTap::first(std::chrono::milliseconds limit) {
  first_ = pull(limit);
  if (!first_) throw Error(ExitCode::bad_input, name_ + ": holds no picture that can be decoded");
  learn(first_.get());
  return info_;
}

void PictureTap::learn(GstSample* sample) {
  GstCaps* caps = gst_sample_get_caps(sample);
  if (caps == nullptr || gst_video_info_from_caps(&info_, caps) == FALSE) {
    throw Error(ExitCode::bad_input, name_ + ": the pipeline delivers no raw video");
  }
  caps_.reset(gst_caps_ref(caps));
}

/// Warns, once, where the colorimetry changes: filters keep that of the stream's description.
void PictureTap::warn_of_colours(const GstVideoColorimetry& before) {
  const GstVideoColorimetry& now = info_.colorimetry;
  if (now.matrix == before.matrix && now.range == before.range) return;
  if (GST_VIDEO_INFO_IS_RGB(&info_) || std::exchange(warned_of_colours_, true)) return;
  logger().warn(
      "{}: from picture {} on the colorimetry is {}, before it {}; all are read as {}, {} range",
      name_, pictures_, colorimetry_text(now), colorimetry_text(before), to_string(desc_.matrix),
      to_string(desc_.range));
}

SamplePtr PictureTap::next() {
  SamplePtr sample = first_ ? std::move(first_) : pull(stall_);
  if (!sample) return nullptr;
  if (gst_sample_get_caps(sample.get()) != caps_.get()) {
    const GstVideoColorimetry before = info_.colorimetry;
    learn(sample.get());
    warn_of_colours(before);
  }
  const int width = GST_VIDEO_INFO_WIDTH(&info_);
  const int height = GST_VIDEO_INFO_HEIGHT(&info_);
  if (width != desc_.width || height != desc_.height ||
      picture_format(GST_VIDEO_INFO_FORMAT(&info_)) != desc_.format) {
    throw Error(ExitCode::bad_input, name_ + ": picture " + std::to_string(pictures_) + " is " +
                                         size_text(width, height) + " " +
                                         gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info_)) +
                                         ", those before it are " +
                                         size_text(desc_.width, desc_.height) + " " +
                                         gst_video_format_to_string(to_gst(desc_.format)) +
                                         "; one stream must keep one size and format");
  }
  ++pictures_;
  return sample;
}

void PictureTap::lend(GstSample* sample, Frame& frame) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (buffer == nullptr || !leases_->lend(buffer, info_, desc_, frame)) {
    throw Error(ExitCode::bad_input, name_ + ": a decoded picture cannot be read from memory");
  }
  frame.field_order = field_order_of(info_, buffer);
}

}  // namespace equalux::gst
