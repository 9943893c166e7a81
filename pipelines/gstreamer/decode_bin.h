#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "../source.h"
#include "gst_common.h"
#include "packet_feed.h"

/// A pipeline that decodes one video stream into a format that a filter takes.
namespace equalux::gst {

/// Throws Error(bad_input) for more than 8 bits a sample or a PQ or HLG transfer, under any of
/// its names.
void refuse_deep(const std::string& name, int bit_depth, const std::string& transfer);

/// Used by one thread; decoding runs in GStreamer's.
class DecodeBin {
 public:
  /// `name` starts messages; threads as FileSourceOptions.
  DecodeBin(std::string name, FormatPredicate accepts, int threads);
  ~DecodeBin() { pipeline_.stop(); }
  DecodeBin(const DecodeBin&) = delete;
  DecodeBin& operator=(const DecodeBin&) = delete;

  /// Where packets come from: a feed, which must outlive this, or the file through GStreamer's
  /// own demuxer. One of them, once, before start().
  void decode_packets(PacketFeed& feed);
  void decode_file();
  void start();

  /// Throws the reason why the stream was not connected, if that is what happened.
  void rethrow_refusal();

  [[nodiscard]] GstElement* pipeline() const { return pipeline_.get(); }
  [[nodiscard]] GstAppSink* sink() const { return sink_; }

 private:
  static void on_pad(GstElement* decodebin, GstPad* pad, gpointer self);
  static void on_no_more_pads(GstElement* decodebin, gpointer self);
  static GstPadProbeReturn on_query(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static void on_element(GstBin* bin, GstBin* sub_bin, GstElement* element, gpointer self);
  static void on_need_data(GstAppSrc* appsrc, guint length, gpointer feed);
  GstElement* add_decodebin();
  void connect(GstPad* pad);
  void link(GstPad* pad, const GstVideoInfo& native);
  void refuse(const Error& error);

  std::string name_;
  FormatPredicate accepts_;
  int threads_;
  Pipeline pipeline_;
  GstAppSink* sink_ = nullptr;
  mutable std::mutex mutex_;  // GStreamer's threads set what follows
  bool linked_ = false;
  GstVideoFormat native_ = GST_VIDEO_FORMAT_UNKNOWN;
  std::optional<Error> refusal_;
};

}  // namespace equalux::gst
