#pragma once

#include <mutex>
#include <string>

#include <gst/video/video.h>

#include "pipelines/gstreamer/decode/picture_decoder.h"

/// Decoding by any decoder that GStreamer finds, into a format that a filter takes.
namespace equalux::gst {

/// Properties of a stream that are known before it is decoded: libav's names, empty = unknown.
struct StreamHint {
  std::string codec;
  std::string pixel_format;
};

class DecodeBin final : public PictureDecoder {
 public:
  /// `name` starts messages; `threads` as in FileSourceOptions.
  DecodeBin(const std::string& name, StreamHint hint, FormatPredicate accepts, int threads);
  ~DecodeBin() override { pipeline_.stop(); }

 protected:
  GstElement* add_decoder() override;

 private:
  static GstPadProbeReturn on_event(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static void on_unknown(GstElement* decodebin, GstPad* pad, GstCaps* caps, gpointer self);
  static void on_pad(GstElement* decodebin, GstPad* pad, gpointer self);
  static void on_no_more_pads(GstElement* decodebin, gpointer self);
  static GstPadProbeReturn on_query(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static int on_select(GstElement* decodebin, GstPad* pad, GstCaps* caps,
                       GstElementFactory* factory, gpointer self);
  static void on_element(GstBin* bin, GstBin* sub_bin, GstElement* element, gpointer self);
  void connect(GstPad* pad);
  void link(GstPad* pad, const GstVideoInfo& native);
  [[nodiscard]] Error no_decoder() const;
  [[nodiscard]] bool may_change_layout() const;

  StreamHint hint_;
  FormatPredicate accepts_;
  int threads_;
  std::mutex mutex_;  // guards linked_, skipped_ and native_, which GStreamer's threads set
  bool linked_ = false;
  bool skipped_ = false;  // a decoder that would crash was skipped
  GstVideoFormat native_ = GST_VIDEO_FORMAT_UNKNOWN;
};

}  // namespace equalux::gst
