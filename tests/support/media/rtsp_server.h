#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <gst/rtsp-server/rtsp-server.h>

namespace equalux::test {

/// A server of RTSP at 127.0.0.1 in this process, which runs in a thread of its own as long as it
/// lives.
class RtspServer {
 public:
  RtspServer() : context_(g_main_context_new()), server_(gst_rtsp_server_new()) {
    gst_rtsp_server_set_address(server_, "127.0.0.1");
  }
  /// Hangs up.
  ~RtspServer() {
    gst_rtsp_server_client_filter(
        server_, [](GstRTSPServer*, GstRTSPClient*, gpointer) { return GST_RTSP_FILTER_REMOVE; },
        nullptr);
    stop_ = true;
    g_main_context_wakeup(context_);
    if (thread_.joinable()) thread_.join();
    if (source_ != nullptr) {
      g_source_destroy(source_);
      g_source_unref(source_);
    }
    g_object_unref(server_);
    g_main_context_unref(context_);
  }
  RtspServer(const RtspServer&) = delete;
  RtspServer& operator=(const RtspServer&) = delete;

  /// Serves what `factory` makes at `path`; takes the factory.
  void mount(const char* path, GstRTSPMediaFactory* factory) {
    GstRTSPMountPoints* mounts = gst_rtsp_server_get_mount_points(server_);
    gst_rtsp_mount_points_add_factory(mounts, path, factory);
    g_object_unref(mounts);
  }
  /// Begins to listen. 0 = any port that is free.
  void start(int port) {
    gst_rtsp_server_set_service(server_, std::to_string(port).c_str());
    source_ = gst_rtsp_server_create_source(server_, nullptr, nullptr);
    if (source_ != nullptr) g_source_attach(source_, context_);
    thread_ = std::thread([this] {
      g_main_context_push_thread_default(context_);
      while (!stop_)
        g_main_context_iteration(context_, TRUE);
      g_main_context_pop_thread_default(context_);
    });
  }

  [[nodiscard]] bool listens() const { return source_ != nullptr; }
  [[nodiscard]] int port() const { return gst_rtsp_server_get_bound_port(server_); }
  [[nodiscard]] GstRTSPServer* get() const { return server_; }

 private:
  GMainContext* context_;
  GstRTSPServer* server_;
  GSource* source_ = nullptr;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace equalux::test
