#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <gst/rtsp-server/rtsp-server.h>

#include "tests/support/media/rtsp_server.h"

/// A server of RTSP in this process that takes what somebody announces.
namespace equalux::test {

/// Listens at 127.0.0.1 for /in, of user ann with the password "open sesame".
class RecordServer {
 public:
  explicit RecordServer(int port) {
    GstRTSPMediaFactory* factory = gst_rtsp_media_factory_new();
    gst_rtsp_media_factory_set_transport_mode(factory, GST_RTSP_TRANSPORT_MODE_RECORD);
    gst_rtsp_media_factory_set_launch(
        factory,
        "( rtph264depay name=depay0 ! h264parse ! identity name=seen ! fakesink sync=false )");
    gst_rtsp_media_factory_set_latency(factory, 50);
    g_signal_connect(factory, "media-configure", G_CALLBACK(on_media), this);
    gst_rtsp_media_factory_add_role(factory, "sender", GST_RTSP_PERM_MEDIA_FACTORY_ACCESS,
                                    G_TYPE_BOOLEAN, TRUE, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT,
                                    G_TYPE_BOOLEAN, TRUE, nullptr);
    server_.mount("/in", factory);
    GstRTSPAuth* auth = gst_rtsp_auth_new();
    gst_rtsp_auth_set_supported_methods(auth, GST_RTSP_AUTH_DIGEST);
    GstRTSPToken* token =
        gst_rtsp_token_new(GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, "sender", nullptr);
    gst_rtsp_auth_add_digest(auth, "ann", "open sesame", token);
    gst_rtsp_token_unref(token);
    gst_rtsp_server_set_auth(server_.get(), auth);
    g_object_unref(auth);
    server_.start(port);
  }

  [[nodiscard]] bool listens() const { return server_.listens(); }
  /// Pictures that have come.
  [[nodiscard]] int pictures() const { return *pictures_; }

 private:
  using Count = std::shared_ptr<std::atomic<int>>;
  static void on_media(GstRTSPMediaFactory*, GstRTSPMedia* media, gpointer self) {
    GstElement* bin = gst_rtsp_media_get_element(media);
    GstElement* seen = gst_bin_get_by_name(GST_BIN(bin), "seen");
    using Handler = void (*)(GstElement*, GstBuffer*, gpointer);
    const Handler count = [](GstElement*, GstBuffer*, gpointer data) {
      ++**static_cast<Count*>(data);
    };
    g_signal_connect_data(
        seen, "handoff", G_CALLBACK(count), new Count(static_cast<RecordServer*>(self)->pictures_),
        [](gpointer data, GClosure*) { delete static_cast<Count*>(data); }, GConnectFlags{});
    gst_object_unref(seen);
    gst_object_unref(bin);
  }

  Count pictures_ = std::make_shared<std::atomic<int>>(0);
  RtspServer server_;
};

}  // namespace equalux::test
