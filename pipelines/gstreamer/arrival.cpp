#include "pipelines/gstreamer/arrival.h"

namespace equalux::gst {
namespace {

/// The time stands in the meta's timestamp, the number in its duration.
GstCaps* reference() {
  static GstStaticCaps caps = GST_STATIC_CAPS("timestamp/x-equalux-arrival");
  return gst_static_caps_get(&caps);
}

GstPadProbeReturn mark(GstPad*, GstPadProbeInfo* info, gpointer count) {
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  const auto now =
      static_cast<GstClockTime>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
  const CapsPtr caps(reference());
  gst_buffer_add_reference_timestamp_meta(buffer, caps.get(), now,
                                          (*static_cast<std::uint64_t*>(count))++);
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  return GST_PAD_PROBE_OK;
}

}  // namespace

void mark_arrivals(GstElement* element) {
  const PadPtr pad(gst_element_get_static_pad(element, "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, mark, new std::uint64_t(0),
                    [](gpointer count) { delete static_cast<std::uint64_t*>(count); });
}

std::optional<Arrival> arrival_of(GstBuffer* buffer) {
  const CapsPtr caps(reference());
  const GstReferenceTimestampMeta* meta =
      gst_buffer_get_reference_timestamp_meta(buffer, caps.get());
  if (meta == nullptr) return std::nullopt;
  const std::chrono::nanoseconds since_epoch(static_cast<std::int64_t>(meta->timestamp));
  return Arrival{Clock::time_point(std::chrono::duration_cast<Clock::duration>(since_epoch)),
                 meta->duration};
}

}  // namespace equalux::gst
