#include "pipelines/gstreamer/encode/encode_bin.h"

#include <algorithm>
#include <utility>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/picture/alpha_plane.h"
#include "pipelines/picture/paired_chroma.h"

namespace equalux::gst {

namespace {

std::int64_t frame_period(const Rational& rate) {
  if (rate.num <= 0 || rate.den <= 0) return 40'000'000;
  return static_cast<std::int64_t>(1e9 / rate.value());
}

/// Returns the distance of key frames in a stream: short, so that losses in transmission are soon
/// repaired.
int key_distance(std::int64_t period_ns) {
  constexpr std::int64_t kSeconds = 2;
  return static_cast<int>(std::clamp<std::int64_t>(kSeconds * 1'000'000'000 / period_ns, 1, 600));
}

}  // namespace

EncodeBin::EncodeBin(const EncoderSpec& spec, const StreamInfo& info,
                     const EncodeSettings& settings)
    : name_(settings.name), messages_(pipeline_.get()), even_stamps_(spec.even_stamps) {
  period_ns_ = frame_period(info.frame_rate);
  build(spec, info, settings);
  if (settings.alpha == AlphaForm::second_stream) add_alpha_encoder(spec, info, settings);
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    messages_.poll();
    if (messages_.failed()) throw messages_.error(name_, Role::output);
    throw Error(ExitCode::unavailable, "--encoder " + std::string(spec.name) + " does not start");
  }
}

void EncodeBin::build(const EncoderSpec& spec, const StreamInfo& info,
                      const EncodeSettings& settings) {
  GstVideoFormat encoded = settings.streamed ? choose_streamed_format(spec, info)
                                             : choose_encoded_format(spec, info, settings.lossless);
  const bool alpha_plane = info.transparent && settings.alpha == AlphaForm::in_picture;
  if (alpha_plane) encoded = with_alpha(info.desc.format);
  encoded_format_ = encoded;
  const bool gray_as_yuv =
      info.desc.format == PixelFormat::gray8 && encoded != GST_VIDEO_FORMAT_GRAY8;
  // We convert P010 to planes ourselves, because videoconvert goes through 16 bits.
  const bool as_planes = alpha_plane || encoded == to_gst(planar_form(info.desc.format));
  const GstVideoFormat fed =
      gray_as_yuv ? GST_VIDEO_FORMAT_I420 : (as_planes ? encoded : to_gst(info.desc.format));
  GstElement* source = add_to(pipeline_.get(), make_element("appsrc"));
  feed_.emplace(name_, source, info, fed);

  StreamInfo target = info;
  if (const auto format = from_gst(encoded)) target.desc.format = *format;
  if (spec.full_range_only) target.desc.range = ColorRange::full;
  if (gray_as_yuv) target.desc.format = PixelFormat::gray8;
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
  std::optional<int> distance;
  if (settings.streamed) distance = key_distance(period_ns_);
  GstElement* encoder =
      add_to(pipeline_.get(),
             make_encoder(spec, info.desc, encoded, settings.quality, settings.lossless, distance));
  GObjectClass* type = G_OBJECT_GET_CLASS(encoder);
  if (info.field_order != FieldOrder::progressive &&
      g_object_class_find_property(type, "interlaced") != nullptr) {
    g_object_set(encoder, "interlaced", TRUE, nullptr);
  }
  gst_element_link(last, encoder);
  last = encoder;
  if (!spec.parser.empty()) {
    GstElement* parser = add_to(pipeline_.get(), make_element(std::string(spec.parser).c_str()));
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

/// Adds an encoder for the alpha plane as luma of 4:2:0 pictures without colour. Its key frames are
/// those of the pictures, since neither encoder looks ahead. Its stream declares the same range as
/// the colours', although its samples are always full range, because players compare the
/// declarations.
void EncodeBin::add_alpha_encoder(const EncoderSpec& spec, const StreamInfo& info,
                                  const EncodeSettings& settings) {
  StreamInfo alpha = info;
  alpha.transparent = false;
  alpha.desc.format = PixelFormat::i420;
  alpha.desc.range =
      encoded_color_.range == GST_VIDEO_COLOR_RANGE_0_255 ? ColorRange::full : ColorRange::limited;
  EncodeSettings plain = settings;
  plain.alpha = AlphaForm::none;
  alpha_ = std::make_unique<EncodeBin>(spec, alpha, plain);
  if (!info.transparent) alpha_plane_ = Image(alpha_desc(info.desc));
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

std::int64_t EncodeBin::stamp_for(const Frame& frame) {
  if (count_ == 0) first_pts_ns_ = frame.pts_ns;
  std::int64_t stamp = frame.pts_ns - first_pts_ns_;
  if (even_stamps_) stamp = static_cast<std::int64_t>(count_) * period_ns_;
  // Makes times rise, which encoders need, whatever the input has.
  return std::max(stamp, last_fed_ns_ + 1);
}

void EncodeBin::push(const Frame& frame) {
  const std::int64_t stamp = stamp_for(frame);
  const std::int64_t duration = frame.duration_ns > 0 ? frame.duration_ns : period_ns_;
  waiting_.push_back({stamp, frame.pts_ns, duration});
  last_fed_ns_ = stamp;
  ++count_;
  feed_->push(frame, stamp, duration);
  if (alpha_) push_alpha(frame);
}

void EncodeBin::force_keyframe() {
  gst_element_send_event(GST_ELEMENT(sink_),
                         gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
}

void EncodeBin::push_alpha(const Frame& frame) {
  Frame plane;
  if (frame.has_alpha_plane()) {
    plane.image = frame.alpha;
  } else {
    take_alpha(frame.image, alpha_plane_.view());
    plane.image = std::as_const(alpha_plane_).view();
  }
  plane.place() = frame;
  alpha_->push(plane);
}

std::optional<EncodedPicture> EncodeBin::pull(std::chrono::milliseconds wait) {
  if (!picture_) picture_ = pull_one(wait);
  if (!alpha_ || !picture_) return std::exchange(picture_, std::nullopt);
  std::optional<EncodedPicture> alpha = alpha_->pull(wait);
  if (!alpha) return std::nullopt;
  // A decoder that starts at a key frame needs one of both streams.
  if (alpha->pts_ns != picture_->pts_ns || (picture_->keyframe && !alpha->keyframe)) {
    throw Error(ExitCode::write_failed,
                name_ + ": the streams of colours and of transparency have other keyframes");
  }
  picture_->alpha = std::move(alpha->sample);
  return std::exchange(picture_, std::nullopt);
}

std::optional<EncodedPicture> EncodeBin::pull_one(std::chrono::milliseconds wait) {
  const auto limit = static_cast<GstClockTime>(std::chrono::nanoseconds(wait).count());
  SamplePtr sample(gst_app_sink_try_pull_sample(sink_, limit));
  if (sample) return restore(std::move(sample));
  messages_.poll();
  if (messages_.failed()) throw messages_.error(name_, Role::output);
  return std::nullopt;
}

EncodedPicture EncodeBin::restore(SamplePtr sample) {
  const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) {
    throw Error(ExitCode::write_failed, name_ + ": the encoder gives a picture without a time");
  }
  const auto pts = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer));
  // Every encoder starts with the first frame, so that its packet tells the shift.
  if (!shift_ns_) shift_ns_ = pts;
  const std::int64_t fed = pts - *shift_ns_;

  auto found =
      std::lower_bound(waiting_.begin(), waiting_.end(), fed,
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
