#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// A pipeline from a file's packets to an appsink that receives its pictures.
namespace equalux::gst {

class PacketFeed;

/// Decodes pictures. Used by one thread; decoding runs in GStreamer's threads.
class PictureDecoder {
 public:
  virtual ~PictureDecoder() { pipeline_.stop(); }
  PictureDecoder(const PictureDecoder&) = delete;
  PictureDecoder& operator=(const PictureDecoder&) = delete;

  /// Sets the source of packets: a feed, which must outlive this object, or the file through
  /// GStreamer's own demuxer. One of them, once, before start().
  void decode_packets(PacketFeed& feed);
  void decode_file();
  void start();

  /// Throws the reason why the stream was not connected, if it was not.
  void rethrow_refusal();

  [[nodiscard]] GstElement* pipeline() const { return pipeline_.get(); }
  [[nodiscard]] GstAppSink* sink() const { return sink_; }
  /// How pictures are mapped for reading.
  [[nodiscard]] virtual MapMode map_mode() const { return {}; }

 protected:
  /// `name` starts messages.
  explicit PictureDecoder(std::string name);

  /// Adds the element that takes the packets and sends its pictures to the sink.
  virtual GstElement* add_decoder() = 0;
  /// Stores the first reason.
  void refuse(const Error& error);
  /// Stores a reason and posts it on the bus, where nothing else would fail, so that a wait for a
  /// picture ends.
  void refuse_at_once(const Error& error);

  std::string name_;
  Pipeline pipeline_;

 private:
  static void on_need_data(GstAppSrc* appsrc, guint length, gpointer feed);

  GstAppSink* sink_ = nullptr;
  std::mutex mutex_;  // GStreamer's threads refuse, too
  std::optional<Error> refusal_;
};

/// Makes a decoder on a CUDA device into its memory, in the context of the CUDA runtime: for
/// progressive H.264, H.265, VP8, VP9 and AV1 of 4:2:0, whose decoding is defined bit-exactly. 8
/// bits become NV12, 10 bits P010, which is refused if `accepts` does not take it. Null where
/// GStreamer has no such decoders, a driver is missing, or this build has no CUDA memory; streams
/// that it cannot decode are refused once it runs.
[[nodiscard]] std::unique_ptr<PictureDecoder> make_gpu_decoder(const std::string& name, int device,
                                                               const FormatPredicate& accepts);

}  // namespace equalux::gst
