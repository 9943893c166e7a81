#include "pipelines/gstreamer/decode/picture_decoder.h"

#include <utility>

#include "pipelines/gstreamer/decode/packet_feed.h"
#include "pipelines/gstreamer/decode/picture_tap.h"

namespace equalux::gst {

PictureDecoder::PictureDecoder(std::string name) : name_(std::move(name)) {
  GstElement* sink = add_to(pipeline_.get(), make_element("appsink"));
  set_up_appsink(sink, WhenFull::wait);
  sink_ = GST_APP_SINK(sink);
}

void PictureDecoder::decode_packets(PacketFeed& feed) {
  GstElement* appsrc = add_to(pipeline_.get(), make_element("appsrc"));
  const CapsPtr caps(gst_caps_copy(feed.caps()));
  g_object_set(appsrc, "caps", caps.get(), "format", GST_FORMAT_TIME, "max-bytes",
               static_cast<guint64>(0), nullptr);
  GstAppSrcCallbacks callbacks{};
  callbacks.need_data = on_need_data;
  gst_app_src_set_callbacks(GST_APP_SRC(appsrc), &callbacks, &feed, nullptr);
  gst_element_link(appsrc, add_decoder());
}

void PictureDecoder::decode_file() {
  GstElement* file = add_to(pipeline_.get(), make_element("filesrc"));
  g_object_set(file, "location", name_.c_str(), nullptr);
  gst_element_link(file, add_decoder());
}

void PictureDecoder::start() {
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
}

void PictureDecoder::on_need_data(GstAppSrc* appsrc, guint, gpointer feed) {
  BufferPtr buffer = static_cast<PacketFeed*>(feed)->next();
  if (buffer) {
    gst_app_src_push_buffer(appsrc, buffer.release());
  } else {
    gst_app_src_end_of_stream(appsrc);
  }
}

void PictureDecoder::refuse(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!refusal_) refusal_ = error;
}

void PictureDecoder::refuse_at_once(const Error& error) {
  refuse(error);
  const ErrorPtr reason(
      g_error_new_literal(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, error.what()));
  gst_element_post_message(
      pipeline_.get(),
      gst_message_new_error(GST_OBJECT(pipeline_.get()), reason.get(), "refused by equalux"));
}

void PictureDecoder::rethrow_refusal() {
  const std::lock_guard lock(mutex_);
  if (refusal_) throw Error(*refusal_);
}

}  // namespace equalux::gst
