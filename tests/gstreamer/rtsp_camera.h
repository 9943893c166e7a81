#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gst/rtsp-server/rtsp-server.h>

#include "tests/support/media/rtsp_server.h"

/// A camera of the network in this process, with a camera's faults.
namespace equalux::test {

/// Serves H.264 at rtsp://127.0.0.1:PORT/cam, by UDP and TCP, as long as it lives. Its methods may
/// be called while somebody looks.
class RtspCamera {
 public:
  struct Options {
    int port = 0;  ///< 0 = any that is free
    int width = 96;
    int height = 64;
    bool sound = false;                 ///< a tone beside the pictures
    std::chrono::milliseconds late{0};  ///< from being asked to the first picture
    int loses = 0;                      ///< one of so many packets; 0 = none
  };

  explicit RtspCamera(const Options& options) : faults_(std::make_shared<Faults>()) {
    faults_->late = options.late;
    faults_->loses = options.loses;
    faults_->text = form(options.width, options.height, 25);
    GstRTSPMediaFactory* factory = gst_rtsp_media_factory_new();
    const std::string sound = options.sound ? " audiotestsrc is-live=true freq=1000 ! "
                                              "audio/x-raw,rate=8000,channels=1 ! mulawenc ! "
                                              "rtppcmupay name=pay1 pt=0"
                                            : "";
    gst_rtsp_media_factory_set_launch(
        factory, ("( videotestsrc is-live=true pattern=ball ! capsfilter name=form ! x264enc "
                  "name=encoder tune=zerolatency speed-preset=ultrafast key-int-max=25 ! "
                  "identity name=gate ! rtph264pay name=pay0 pt=96 config-interval=-1" +
                  sound + " )")
                     .c_str());
    gst_rtsp_media_factory_set_shared(factory, TRUE);
    g_signal_connect_data(
        factory, "media-configure", G_CALLBACK(on_media), new SharedFaults(faults_),
        [](gpointer data, GClosure*) { delete static_cast<SharedFaults*>(data); }, GConnectFlags{});
    server_.mount("/cam", factory);
    server_.start(options.port);
  }

  [[nodiscard]] int port() const { return server_.port(); }
  [[nodiscard]] std::string url() const {
    return "rtsp://127.0.0.1:" + std::to_string(port()) + "/cam";
  }
  /// Stays on the line and sends no picture, or does again.
  void set_silent(bool silent) { faults_->silent = silent; }
  /// Encodes from now on with another rate in its parameter sets, and another size where given.
  void change(int width, int height, int fps) {
    const std::lock_guard lock(faults_->mutex);
    faults_->text = form(width, height, fps);
    if (faults_->form != nullptr) faults_->set_form();
  }
  /// Packets that have been left out.
  [[nodiscard]] int lost() const { return faults_->lost; }

 private:
  struct Faults {
    ~Faults() {
      if (form != nullptr) gst_object_unref(form);
    }
    std::chrono::milliseconds late{0};
    int loses = 0;
    std::atomic<bool> silent{false};
    std::atomic<int> packets{0};
    std::atomic<int> lost{0};
    void set_form() const {
      GstCaps* caps = gst_caps_from_string(text.c_str());
      g_object_set(form, "caps", caps, nullptr);
      gst_caps_unref(caps);
    }

    std::mutex mutex;
    std::string text;            // what is encoded
    GstElement* form = nullptr;  // of the pipeline that runs
  };
  using SharedFaults = std::shared_ptr<Faults>;

  static std::string form(int width, int height, int fps) {
    return "video/x-raw,format=I420,width=" + std::to_string(width) +
           ",height=" + std::to_string(height) + ",framerate=" + std::to_string(fps) + "/1";
  }

  static void probe(GstElement* bin, const char* element, const char* pad_name,
                    GstPadProbeCallback callback, const SharedFaults& faults) {
    GstElement* found = gst_bin_get_by_name(GST_BIN(bin), element);
    GstPad* pad = gst_element_get_static_pad(found, pad_name);
    gst_pad_add_probe(
        pad,
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST),
        callback, new SharedFaults(faults),
        [](gpointer data) { delete static_cast<SharedFaults*>(data); });
    gst_object_unref(pad);
    gst_object_unref(found);
  }

  static void on_media(GstRTSPMediaFactory*, GstRTSPMedia* media, gpointer data) {
    const SharedFaults& faults = *static_cast<SharedFaults*>(data);
    GstElement* bin = gst_rtsp_media_get_element(media);
    {
      const std::lock_guard lock(faults->mutex);
      if (faults->form != nullptr) gst_object_unref(faults->form);
      faults->form = gst_bin_get_by_name(GST_BIN(bin), "form");
      faults->set_form();
    }
    probe(
        bin, "gate", "sink",
        [](GstPad*, GstPadProbeInfo*, gpointer shared) {
          Faults& own = **static_cast<SharedFaults*>(shared);
          if (own.packets == 0) std::this_thread::sleep_for(own.late);
          return own.silent ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
        },
        faults);
    probe(
        bin, "pay0", "src",
        [](GstPad*, GstPadProbeInfo*, gpointer shared) {
          Faults& own = **static_cast<SharedFaults*>(shared);
          const int number = ++own.packets;
          // The first ones are what the answer to DESCRIBE is made of.
          if (own.loses == 0 || number < 10 || number % own.loses != 0) return GST_PAD_PROBE_OK;
          ++own.lost;
          return GST_PAD_PROBE_DROP;
        },
        faults);
    gst_object_unref(bin);
  }

  SharedFaults faults_;
  RtspServer server_;
};

}  // namespace equalux::test
