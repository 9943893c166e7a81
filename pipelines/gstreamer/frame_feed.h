#pragma once

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "pipelines/core/frame.h"
#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// The start of a pipeline that takes our frames: an appsrc, and the buffers that it gets.
namespace equalux::gst {

/// Feeds an appsrc. One thread at a time. The appsrc never blocks: ask wants_frame() first.
class FrameFeed {
 public:
  /// Sets an appsrc up for frames of `info`. `name` starts messages. Throws Error(usage) for frames
  /// for which GStreamer has no format.
  FrameFeed(std::string name, GstElement* appsrc, const StreamInfo& info);
  /// Sets an appsrc up for an encoder: gray pictures go in as 4:2:0 without colour, P010 as planes,
  /// and pictures with their plane of transparency.
  FrameFeed(std::string name, GstElement* appsrc, const StreamInfo& info, GstVideoFormat format);

  /// Copies a frame and passes it on. It is not lent, because encoders keep buffers for dozens of
  /// frames, which would empty the frame's pool.
  void push(const Frame& frame, std::int64_t pts_ns, std::int64_t duration_ns);
  [[nodiscard]] bool wants_frame() const;
  void end() { gst_app_src_end_of_stream(source_); }

 private:
  void make_pool(const GstCaps* caps);
  BufferPtr copy(const Frame& frame);

  std::string name_;
  GstAppSrc* source_;
  GstVideoInfo info_{};
  BufferPoolPtr pool_;
  GstVideoFormat format_;
};

}  // namespace equalux::gst
