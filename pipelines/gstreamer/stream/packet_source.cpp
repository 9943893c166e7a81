#include "pipelines/gstreamer/stream/packet_source.h"

#include <algorithm>
#include <utility>

namespace equalux::gst {
namespace {

/// Distance between timestamps and the clock from which timestamps are set anew: after a gap in the
/// input, or where a camera's clock runs at another rate.
constexpr std::int64_t kMostAhead = 50'000'000;
constexpr std::int64_t kMostBehind = 250'000'000;

void set_up(GstElement* appsrc) {
  g_object_set(appsrc, "format", GST_FORMAT_TIME, "is-live", TRUE, "block", FALSE, "max-bytes",
               guint64{0}, "max-buffers", guint64{0}, nullptr);
}

/// Returns the running time; 0 before the pipeline plays. A pipeline that begins to play gives its
/// elements the clock first and the base time later: in between, the difference of both is the
/// time since the machine's start.
std::int64_t running_time(GstElement* appsrc) {
  GstState state = GST_STATE_NULL;
  gst_element_get_state(appsrc, &state, nullptr, 0);
  if (state != GST_STATE_PLAYING) return 0;
  const GstClockTime time = gst_element_get_current_running_time(appsrc);
  return GST_CLOCK_TIME_IS_VALID(time) ? static_cast<std::int64_t>(time) : 0;
}

}  // namespace

std::int64_t StreamStamps::at(std::int64_t pts_ns, std::int64_t now_ns) {
  std::int64_t stamp = pts_ns + shift_ns_;
  if (!started_ || stamp > now_ns + kMostAhead || stamp < now_ns - kMostBehind) {
    shift_ns_ = now_ns - pts_ns;
    stamp = now_ns;
  }
  if (std::exchange(started_, true)) stamp = std::max(stamp, last_ns_ + 1);
  last_ns_ = stamp;
  return stamp;
}

PacketSource::PacketSource(GstElement* appsrc) : element_(GST_ELEMENT(gst_object_ref(appsrc))) {
  set_up(appsrc);
}

bool PacketSource::push(const EncodedPicture& picture) {
  if (is_full() || (broken_ && !picture.keyframe)) {
    broken_ = true;
    return false;
  }
  broken_ = false;
  GstCaps* caps = gst_sample_get_caps(picture.sample.get());
  if (!caps_ || gst_caps_is_equal(caps_.get(), caps) == FALSE) {
    caps_.reset(gst_caps_ref(caps));
    gst_app_src_set_caps(source(), caps);
  }
  BufferPtr buffer(gst_buffer_copy(gst_sample_get_buffer(picture.sample.get())));
  GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(picture.duration_ns);
  const std::int64_t pts = stamps_.at(picture.pts_ns, running_time(element_.get()));
  const std::int64_t dts = std::max<std::int64_t>(pts + picture.dts_ns - picture.pts_ns, 0);
  GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(pts);
  GST_BUFFER_DTS(buffer.get()) = static_cast<GstClockTime>(dts);
  return gst_app_src_push_buffer(source(), buffer.release()) == GST_FLOW_OK;
}

SoundSource::SoundSource(GstElement* appsrc) : element_(GST_ELEMENT(gst_object_ref(appsrc))) {
  set_up(appsrc);
}

bool SoundSource::push(const EncodedSound& sound, const StreamStamps& stamps) {
  if (gst_app_src_get_current_level_buffers(source()) >= kMostWaiting) return false;
  const std::optional<std::int64_t> stamp = stamps.beside(sound.pts_ns);
  if (!stamp || *stamp < 0 || *stamp <= last_ns_) return false;
  last_ns_ = *stamp;
  if (!std::exchange(has_caps_, true)) {
    gst_app_src_set_caps(source(), gst_sample_get_caps(sound.sample.get()));
  }
  BufferPtr buffer(gst_buffer_copy(gst_sample_get_buffer(sound.sample.get())));
  GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(*stamp);
  GST_BUFFER_DTS(buffer.get()) = GST_CLOCK_TIME_NONE;
  return gst_app_src_push_buffer(source(), buffer.release()) == GST_FLOW_OK;
}

}  // namespace equalux::gst
