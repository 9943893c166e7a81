#include "pipelines/gstreamer/frame_feed.h"

#include <cstring>
#include <utility>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/picture/paired_chroma.h"

namespace equalux::gst {

namespace {

/// Frames queued in the appsrc; more would only cost memory and latency.
constexpr guint64 kQueued = 2;

/// Copies a gray picture as luma of a 4:2:0 one without colour.
void copy_gray(const ConstImageView& from, GstVideoFrame& to) {
  auto* luma = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&to, 0));
  for (int y = 0; y < from.desc.height; ++y) {
    std::memcpy(luma + std::ptrdiff_t{y} * GST_VIDEO_FRAME_PLANE_STRIDE(&to, 0), from.row(0, y),
                row_bytes(from.desc, 0));
  }
  for (guint plane = 1; plane < GST_VIDEO_FRAME_N_PLANES(&to); ++plane) {
    const auto rows = static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_HEIGHT(&to, plane));
    const auto stride = static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&to, plane));
    std::memset(GST_VIDEO_FRAME_PLANE_DATA(&to, plane), 128, rows * stride);
  }
}

}  // namespace

FrameFeed::FrameFeed(std::string name, GstElement* appsrc, const StreamInfo& info)
    : FrameFeed(std::move(name), appsrc, info, to_gst(info.desc.format)) {}

FrameFeed::FrameFeed(std::string name, GstElement* appsrc, const StreamInfo& info,
                     GstVideoFormat format)
    : name_(std::move(name)), source_(GST_APP_SRC(appsrc)), format_(format) {
  if (format == GST_VIDEO_FORMAT_UNKNOWN) {
    throw Error(ExitCode::usage, name_ + ": takes pictures that GStreamer knows, not " +
                                     std::string(to_string(info.desc.format)));
  }
  const CapsPtr caps = make_caps(info, format);
  g_object_set(appsrc, "format", GST_FORMAT_TIME, "caps", caps.get(), "block", FALSE, "max-bytes",
               guint64{0}, nullptr);
  make_pool(caps.get());
}

void FrameFeed::make_pool(const GstCaps* caps) {
  if (gst_video_info_from_caps(&info_, caps) == FALSE) {
    throw Error(ExitCode::usage, name_ + ": does not take pictures of this size");
  }
  pool_.reset(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool_.get());
  gst_buffer_pool_config_set_params(config, const_cast<GstCaps*>(caps),
                                    static_cast<guint>(GST_VIDEO_INFO_SIZE(&info_)), 2, 0);
  if (gst_buffer_pool_set_config(pool_.get(), config) == FALSE ||
      gst_buffer_pool_set_active(pool_.get(), TRUE) == FALSE) {
    throw Error(ExitCode::unavailable, name_ + ": no memory for pictures of this size");
  }
}

BufferPtr FrameFeed::copy(const Frame& frame) {
  GstBuffer* acquired = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_.get(), &acquired, nullptr) != GST_FLOW_OK) {
    throw Error(ExitCode::write_failed, name_ + ": no memory for a picture");
  }
  BufferPtr buffer(acquired);
  GstVideoFrame mapped{};
  if (gst_video_frame_map(&mapped, &info_, acquired, GST_MAP_WRITE) == FALSE) {
    throw Error(ExitCode::write_failed, name_ + ": no memory for a picture");
  }
  const ImageDesc& desc = frame.image.desc;
  if (desc.format == PixelFormat::gray8 && format_ != GST_VIDEO_FORMAT_GRAY8) {
    copy_gray(frame.image, mapped);
  } else if (picture_format(format_) != desc.format) {
    ImageDesc planes = desc;
    planes.format = planar_form(planes.format);
    copy_as_planes(frame.image, writable_view_of(mapped, planes));
  } else {
    copy_image(frame.image, writable_view_of(mapped, desc));
  }
  const ImageView alpha = writable_alpha_of(mapped, desc);
  if (alpha.data[0] != nullptr) copy_image(frame.alpha, alpha);
  gst_video_frame_unmap(&mapped);
  return buffer;
}

void FrameFeed::push(const Frame& frame, std::int64_t pts_ns, std::int64_t duration_ns) {
  BufferPtr buffer = copy(frame);
  if (pts_ns >= 0) GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(pts_ns);
  if (duration_ns > 0) GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(duration_ns);
  if (frame.field_order != FieldOrder::progressive) {
    GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
    if (frame.field_order == FieldOrder::top_first) {
      GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_TFF);
    }
  }
  // Refused only after an error, which is on the bus.
  gst_app_src_push_buffer(source_, buffer.release());
}

bool FrameFeed::wants_frame() const {
  return gst_app_src_get_current_level_buffers(source_) < kQueued;
}

}  // namespace equalux::gst
