#include "encode_bin.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gst_formats.h"

namespace equalux::gst {

namespace {

/// Frames between us and the encoder; more would only be memory.
constexpr guint64 kQueued = 2;

std::int64_t frame_period(const Rational& rate) {
  if (rate.num <= 0 || rate.den <= 0) return 40'000'000;
  return static_cast<std::int64_t>(1e9 / rate.value());
}

/// A gray picture as the luma of a 4:2:0 one without colour.
void copy_gray(const ConstImageView& from, GstVideoFrame& to) {
  for (int y = 0; y < from.desc.height; ++y) {
    std::memcpy(static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&to, 0)) +
                    static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&to, 0),
                from.row(0, y), row_bytes(from.desc, 0));
  }
  for (guint plane = 1; plane < GST_VIDEO_FRAME_N_PLANES(&to); ++plane) {
    const auto rows = static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_HEIGHT(&to, plane));
    const auto stride = static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&to, plane));
    std::memset(GST_VIDEO_FRAME_PLANE_DATA(&to, plane), 128, rows * stride);
  }
}

}  // namespace

EncodeBin::EncodeBin(const EncoderSpec& spec, const StreamInfo& info,
                     const EncodeSettings& settings)
    : name_(settings.name), messages_(pipeline_.get()), even_stamps_(spec.even_stamps) {
  period_ns_ = frame_period(info.frame_rate);
  build(spec, info, settings);
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    messages_.poll();
    if (messages_.failed()) throw messages_.error(name_, Role::output);
    throw Error(ExitCode::unavailable, "--encoder " + std::string(spec.name) + " does not start");
  }
}

void EncodeBin::build(const EncoderSpec& spec, const StreamInfo& info,
                      const EncodeSettings& settings) {
  const GstVideoFormat encoded = choose_encoded_format(spec, info, settings.lossless);
  gray_as_yuv_ = info.desc.format == PixelFormat::gray8 && encoded != GST_VIDEO_FORMAT_GRAY8;
  const GstVideoFormat fed = gray_as_yuv_ ? GST_VIDEO_FORMAT_I420 : to_gst(info.desc.format);
  const CapsPtr caps = make_caps(info, fed);

  GstElement* source = add_to(pipeline_.get(), make_element("appsrc"));
  source_ = GST_APP_SRC(source);
  g_object_set(source, "format", GST_FORMAT_TIME, "caps", caps.get(), "block", FALSE, "max-bytes",
               static_cast<guint64>(0), nullptr);
  make_pool(caps.get());

  StreamInfo target = info;
  if (const auto format = from_gst(encoded)) target.desc.format = *format;
  if (spec.full_range_only) target.desc.range = ColorRange::full;
  if (gray_as_yuv_) target.desc.format = PixelFormat::gray8;
  encoded_color_ = colorimetry_of(target);
  if (spec.full_range_only) encoded_color_.range = GST_VIDEO_COLOR_RANGE_0_255;

  GstElement* last = source;
  const bool recolor = encoded_color_.range != colorimetry_of(info).range;
  if (encoded != fed || recolor) {
    GstElement* convert = add_to(pipeline_.get(), make_element("videoconvert"));
    GstElement* filter = add_conversion(target, encoded);
    gst_element_link_many(last, convert, filter, nullptr);
    last = filter;
  }
  GstElement* encoder =
      add_to(pipeline_.get(), make_encoder(spec, settings.quality, settings.lossless));
  GObjectClass* type = G_OBJECT_GET_CLASS(encoder);
  if (info.field_order != FieldOrder::progressive &&
      g_object_class_find_property(type, "interlaced") != nullptr) {
    g_object_set(encoder, "interlaced", TRUE, nullptr);
  }
  gst_element_link(last, encoder);
  last = encoder;
  if (!spec.parser.empty()) {
    GstElement* parser =
        add_to(pipeline_.get(), make_element(std::string(spec.parser).c_str()));
    gst_element_link(last, parser);
    last = parser;
  }
  GstElement* sink = add_to(pipeline_.get(), make_element("appsink"));
  sink_ = GST_APP_SINK(sink);
  const CapsPtr stream(gst_caps_from_string(std::string(spec.stream_caps).c_str()));
  g_object_set(sink, "sync", FALSE, "qos", FALSE, "enable-last-sample", FALSE, "max-buffers", 0U,
               "caps", stream.get(), "wait-on-eos", FALSE, nullptr);
  gst_element_link(last, sink);
}

GstElement* EncodeBin::add_conversion(const StreamInfo& info, GstVideoFormat format) {
  GstElement* filter = add_to(pipeline_.get(), make_element("capsfilter"));
  const CapsPtr caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                         gst_video_format_to_string(format), nullptr));
  const std::string colorimetry = colorimetry_text(encoded_color_);
  if (traits(info.desc.format).model == ColorModel::yuv && !colorimetry.empty()) {
    gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
  }
  g_object_set(filter, "caps", caps.get(), nullptr);
  return filter;
}

void EncodeBin::make_pool(const GstCaps* caps) {
  if (gst_video_info_from_caps(&fed_info_, caps) == FALSE) {
    throw Error(ExitCode::usage, name_ + ": pictures of this size cannot be encoded");
  }
  pool_.reset(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool_.get());
  gst_buffer_pool_config_set_params(config, gst_caps_copy(caps),
                                    static_cast<guint>(GST_VIDEO_INFO_SIZE(&fed_info_)), 2, 0);
  if (gst_buffer_pool_set_config(pool_.get(), config) == FALSE ||
      gst_buffer_pool_set_active(pool_.get(), TRUE) == FALSE) {
    throw Error(ExitCode::unavailable, name_ + ": no memory for pictures of this size");
  }
}

BufferPtr EncodeBin::copy(const Frame& frame) {
  GstBuffer* acquired = nullptr;
  GstVideoFrame mapped{};
  if (gst_buffer_pool_acquire_buffer(pool_.get(), &acquired, nullptr) != GST_FLOW_OK ||
      gst_video_frame_map(&mapped, &fed_info_, acquired, GST_MAP_WRITE) == FALSE) {
    throw Error(ExitCode::write_failed, name_ + ": no memory for a picture");
  }
  BufferPtr buffer(acquired);
  if (gray_as_yuv_) {
    copy_gray(frame.image, mapped);
  } else {
    copy_image(frame.image, writable_view_of(mapped, frame.image.desc));
  }
  gst_video_frame_unmap(&mapped);
  return buffer;
}

std::int64_t EncodeBin::stamp_for(const Frame& frame) {
  if (count_ == 0) first_pts_ns_ = frame.pts_ns;
  std::int64_t stamp = frame.pts_ns - first_pts_ns_;
  if (even_stamps_) stamp = static_cast<std::int64_t>(count_) * period_ns_;
  // Encoders want rising times, whatever the input holds.
  return std::max(stamp, last_fed_ns_ + 1);
}

void EncodeBin::push(const Frame& frame) {
  BufferPtr buffer = copy(frame);
  const std::int64_t stamp = stamp_for(frame);
  const std::int64_t duration = frame.duration_ns > 0 ? frame.duration_ns : period_ns_;
  waiting_.push_back({stamp, frame.pts_ns, duration});
  last_fed_ns_ = stamp;
  ++count_;
  GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(stamp);
  GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(duration);
  if (frame.field_order != FieldOrder::progressive) {
    GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
    if (frame.field_order == FieldOrder::top_first) {
      GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_TFF);
    }
  }
  // Refused only while stopping or after an error, which pull() reports.
  gst_app_src_push_buffer(source_, buffer.release());
}

bool EncodeBin::wants_frame() const {
  return gst_app_src_get_current_level_buffers(source_) < kQueued;
}

void EncodeBin::end() { gst_app_src_end_of_stream(source_); }

std::optional<EncodedPicture> EncodeBin::pull(std::chrono::milliseconds wait) {
  const auto limit = static_cast<GstClockTime>(std::chrono::nanoseconds(wait).count());
  SamplePtr sample(gst_app_sink_try_pull_sample(sink_, limit));
  if (sample) return restore(std::move(sample));
  messages_.poll();
  if (messages_.failed()) throw messages_.error(name_, Role::output);
  return std::nullopt;
}

EncodedPicture EncodeBin::restore(SamplePtr sample) {
  const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  const auto pts = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer));
  // Every encoder starts with the first frame, so that its packet tells the shift.
  if (!shift_ns_) shift_ns_ = pts;
  const std::int64_t fed = pts - *shift_ns_;

  auto found = std::lower_bound(waiting_.begin(), waiting_.end(), fed,
                                [](const Fed& entry, std::int64_t at) { return entry.fed_ns < at; });
  if (found == waiting_.end() && !waiting_.empty()) found = std::prev(found);
  if (found != waiting_.begin() && found != waiting_.end()) {
    const auto before = std::prev(found);
    if (fed - before->fed_ns < found->fed_ns - fed) found = before;
  }
  EncodedPicture picture;
  picture.keyframe = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  picture.pts_ns = fed + first_pts_ns_;
  if (found != waiting_.end()) {
    picture.pts_ns = found->pts_ns;
    picture.duration_ns = found->duration_ns;
    waiting_.erase(found);
  }
  picture.dts_ns = picture.pts_ns;
  if (!even_stamps_ && GST_BUFFER_DTS_IS_VALID(buffer)) {
    const auto dts = static_cast<std::int64_t>(GST_BUFFER_DTS(buffer)) - *shift_ns_;
    picture.dts_ns = std::min(dts + first_pts_ns_, picture.pts_ns);
  }
  picture.sample = std::move(sample);
  return picture;
}

}  // namespace equalux::gst
