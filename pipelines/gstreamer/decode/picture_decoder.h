#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// A pipeline from a file's packets to an appsink with its pictures.
namespace equalux::gst {

class PacketFeed;

/// Used by one thread; decoding runs in GStreamer's.
class PictureDecoder {
 public:
  virtual ~PictureDecoder() { pipeline_.stop(); }
  PictureDecoder(const PictureDecoder&) = delete;
  PictureDecoder& operator=(const PictureDecoder&) = delete;

  /// Sets where packets come from: a feed, which must outlive this, or the file through GStreamer's
  /// own demuxer. One of them, once, before start().
  void decode_packets(PacketFeed& feed);
  void decode_file();
  void start();

  /// Throws the reason why the stream was not connected, if that is what happened.
  void rethrow_refusal();

  [[nodiscard]] GstElement* pipeline() const { return pipeline_.get(); }
  [[nodiscard]] GstAppSink* sink() const { return sink_; }
  /// What mapping a picture takes beside GST_MAP_READ.
  [[nodiscard]] virtual unsigned map_flags() const { return 0; }

 protected:
  /// `name` starts messages.
  explicit PictureDecoder(std::string name);

  /// Adds what takes the packets, and will have its pictures in the sink.
  virtual GstElement* add_decoder() = 0;
  /// Keeps the first reason.
  void refuse(const Error& error);
  /// Refuses where nothing else would fail: whoever waits for a picture wakes.
  void refuse_at_once(const Error& error);

  std::string name_;
  Pipeline pipeline_;

 private:
  static void on_need_data(GstAppSrc* appsrc, guint length, gpointer feed);

  GstAppSink* sink_ = nullptr;
  std::mutex mutex_;  // GStreamer's threads refuse
  std::optional<Error> refusal_;
};

/// Decodes on a CUDA device into its memory, in the context of the CUDA runtime: H.264, H.265, VP8,
/// VP9 and AV1 of 4:2:0, progressive, whose decoding is defined to the bit. 8 bits are NV12, 10
/// bits P010, which is refused where `accepts` does not take it. Null where GStreamer has no such
/// decoders, a driver is missing, or this build takes no CUDA memory; what it cannot decode it
/// refuses once it runs.
[[nodiscard]] std::unique_ptr<PictureDecoder> make_gpu_decoder(const std::string& name, int device,
                                                               const FormatPredicate& accepts);

}  // namespace equalux::gst
