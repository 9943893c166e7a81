#include "pipelines/gstreamer/decode/decode_bin.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <utility>

#include "pipelines/gstreamer/decode/codec_caps.h"
#include "pipelines/gstreamer/decode/picture_tap.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "src/common/log.h"

namespace equalux::gst {

namespace {

/// Returns the number of threads of a decoder on the CPU. libav itself would take one more than
/// there are cores, at most 16; while a filter uses the cores as well, more threads keep more
/// pictures in flight.
int decoder_threads() {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::clamp(cores + 1, 8, 16);
}

bool has_prefix(const GstCaps* caps, const char* prefix) {
  return caps != nullptr && gst_caps_get_size(caps) > 0 &&
         g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), prefix) != FALSE;
}

/// Leaves sound and text undecoded.
gboolean on_autoplug(GstElement*, GstPad*, GstCaps* caps, gpointer) {
  const bool other = has_prefix(caps, "audio/") || has_prefix(caps, "text/") ||
                     has_prefix(caps, "subpicture/") || has_prefix(caps, "application/x-subtitle");
  return other ? FALSE : TRUE;
}

ColorModel model_of(const GstVideoFormatInfo* info) {
  if (GST_VIDEO_FORMAT_INFO_IS_GRAY(info)) return ColorModel::gray;
  return GST_VIDEO_FORMAT_INFO_IS_YUV(info) ? ColorModel::yuv : ColorModel::rgb;
}

/// Return values of a handler of "autoplug-select", from decodebin's documentation.
constexpr int kTry = 0;
constexpr int kSkip = 2;

bool is_libav_decoder(GstElementFactory* factory) {
  return g_str_has_prefix(GST_OBJECT_NAME(factory), "avdec_") != FALSE &&
         gst_element_factory_list_is_type(
             factory, GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO) !=
             FALSE;
}

/// Returns libavcodec's name of a decoder of GStreamer's libav plugin; null for any other element.
const char* libav_name(GstElement* element) {
  constexpr const char* kPrefix = "avdec_";
  const GstElementFactory* factory = gst_element_get_factory(element);
  const char* name = factory == nullptr ? "" : GST_OBJECT_NAME(factory);
  return g_str_has_prefix(name, kPrefix) == FALSE ? nullptr : name + std::strlen(kPrefix);
}

/// Returns true from GStreamer 1.24 on, whose libav decoders identify packets by themselves and not
/// by a number.
bool knows_packets() {
  guint major = 0;
  guint minor = 0;
  guint micro = 0;
  guint nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || minor >= 23;
}

/// Makes a decoder use slice threads. With frame threads, GStreamer's libav decoders may, from 1.24
/// on, lose the last picture of codecs that do not reorder, such as FFV1 and ProRes.
void keep_last_picture(GstElement* element) {
  constexpr const char* kProperty = "thread-type";
  const char* name = libav_name(element);
  if (name == nullptr || !knows_packets() || !keeps_order(name) ||
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), kProperty) == nullptr) {
    return;
  }
  gst_util_set_object_arg(G_OBJECT(element), kProperty, "slice");
}

/// Returns true for codecs that paint over one picture: they allocate only once, unless each
/// picture is to be in GStreamer's memory. GStreamer's libav decoders give a picture without an
/// allocation the first one's time, and from 1.24 on drop it.
bool paints_over_one(GstElement* element) {
  const char* name = libav_name(element);
  return name != nullptr && paints_over(name);
}

/// Ranks avdec_mjpeg first, with the parser that it needs: jpegdec silently turns 4:2:2 pictures
/// into 4:2:0.
void prefer_exact_decoders() {
  for (const char* name : {"jpegparse", "avdec_mjpeg"}) {
    GstPluginFeature* feature = gst_registry_lookup_feature(gst_registry_get(), name);
    if (feature == nullptr) continue;
    gst_plugin_feature_set_rank(feature, GST_RANK_PRIMARY + 64);
    gst_object_unref(feature);
  }
}

/// Returns the RGB layout with the same planes as a 4:4:4 one.
GstVideoFormat as_rgb(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_Y444:
      return GST_VIDEO_FORMAT_GBR;
    case GST_VIDEO_FORMAT_Y444_10LE:
      return GST_VIDEO_FORMAT_GBR_10LE;
    case GST_VIDEO_FORMAT_Y444_12LE:
      return GST_VIDEO_FORMAT_GBR_12LE;
    default:
      return format;
  }
}

/// Describes a stream as GStreamer's decoders will see it. They do not learn the variant of ProRes,
/// and output 10 bits for all.
StreamHint as_decoded(const std::string& name, StreamHint hint) {
  const std::string::size_type bits = hint.pixel_format.find("p12");
  if (hint.codec != "prores" || bits == std::string::npos) return hint;
  hint.pixel_format.replace(bits, 3, "p10");
  logger().warn("{}: GStreamer decodes ProRes of 12 bits to 10", name);
  return hint;
}

}  // namespace

DecodeBin::DecodeBin(const std::string& name, StreamHint hint, FormatPredicate accepts, int threads)
    : PictureDecoder(name),
      hint_(as_decoded(name, std::move(hint))),
      accepts_(std::move(accepts)),
      threads_(threads) {
  g_signal_connect(pipeline(), "deep-element-added", G_CALLBACK(on_element), this);
}

GstElement* DecodeBin::add_decoder() {
  prefer_exact_decoders();
  GstElement* decodebin = add_to(pipeline_.get(), make_element("decodebin"));
  // Decodes in software, which gives the same bytes on every machine.
  g_object_set(decodebin, "force-sw-decoders", TRUE, nullptr);
  g_signal_connect(decodebin, "autoplug-continue", G_CALLBACK(on_autoplug), nullptr);
  g_signal_connect(decodebin, "autoplug-select", G_CALLBACK(on_select), this);
  g_signal_connect(decodebin, "unknown-type", G_CALLBACK(on_unknown), this);
  g_signal_connect(decodebin, "pad-added", G_CALLBACK(on_pad), this);
  g_signal_connect(decodebin, "no-more-pads", G_CALLBACK(on_no_more_pads), this);
  return decodebin;
}

/// Skips libav decoders for streams whose pixel layout they do not output, because they crash on
/// such pictures. Another decoder may take the stream.
int DecodeBin::on_select(GstElement*, GstPad*, GstCaps*, GstElementFactory* factory,
                         gpointer self) {
  auto* bin = static_cast<DecodeBin*>(self);
  const std::string& pixels = bin->hint_.pixel_format;
  const std::string_view name = GST_OBJECT_NAME(factory);
  // Skips elements that take 4:4:4 YCbCr for RGB where the caps do not tell.
  if (bin->hint_.codec == "jpeg2000" && (name == "jpeg2000parse" || name == "openjpegdec")) {
    return kSkip;
  }
  if (pixels.empty() || !is_libav_decoder(factory) || hands_on(factory, pixels)) return kTry;
  logger().debug("{}: {} does not hand on {} pictures", bin->name_, GST_OBJECT_NAME(factory),
                 pixels);
  const std::lock_guard lock(bin->mutex_);
  bin->skipped_ = true;
  return kSkip;
}

void DecodeBin::on_unknown(GstElement*, GstPad*, GstCaps*, gpointer self) {
  auto* bin = static_cast<DecodeBin*>(self);
  bool skipped = false;
  {
    const std::lock_guard lock(bin->mutex_);
    skipped = bin->skipped_;
  }
  if (skipped) bin->refuse_at_once(bin->no_decoder());
}

/// Returns true for codecs whose pictures each declare a layout, which may differ from the
/// stream's; all codecs but the listed ones.
bool DecodeBin::may_change_layout() const {
  static constexpr std::array<std::string_view, 5> kFixed{"h264", "hevc", "mpeg1video",
                                                          "mpeg2video", "mpeg4"};
  return std::find(kFixed.begin(), kFixed.end(), hint_.codec) == kFixed.end();
}

void DecodeBin::on_element(GstBin*, GstBin*, GstElement* element, gpointer self) {
  const auto* bin = static_cast<DecodeBin*>(self);
  const int wanted = bin->threads_;
  GObjectClass* type = G_OBJECT_GET_CLASS(element);
  // Turns off direct rendering: libav's decoders crash where such a picture is to be in GStreamer's
  // memory, whereas a copy fails with an error. The copy is cheap beside decoding.
  if (g_object_class_find_property(type, "direct-rendering") != nullptr &&
      bin->may_change_layout() && !paints_over_one(element)) {
    g_object_set(element, "direct-rendering", FALSE, nullptr);
  }
  keep_last_picture(element);
  const int threads = wanted > 0 ? wanted : decoder_threads();
  for (const char* property : {"max-threads", "n-threads", "threads"}) {
    GParamSpec* spec = g_object_class_find_property(type, property);
    if (spec != nullptr && (spec->flags & G_PARAM_WRITABLE) != 0) {
      gst_util_set_object_arg(G_OBJECT(element), property, std::to_string(threads).c_str());
    }
  }
}

void DecodeBin::on_pad(GstElement*, GstPad* pad, gpointer self) {
  auto* bin = static_cast<DecodeBin*>(self);
  try {
    bin->connect(pad);
  } catch (const Error& error) {
    bin->refuse_at_once(error);
  }
}

void DecodeBin::on_no_more_pads(GstElement*, gpointer self) {
  auto* bin = static_cast<DecodeBin*>(self);
  bool linked = false;
  {
    const std::lock_guard lock(bin->mutex_);
    linked = bin->linked_;
  }
  if (!linked) bin->refuse_at_once(bin->no_decoder());
}

Error DecodeBin::no_decoder() const {
  const std::string what =
      name_ + ": its " + (hint_.codec.empty() ? "" : hint_.codec + " ") + "video cannot be decoded";
  if (hint_.pixel_format.empty()) return {ExitCode::bad_input, what + "; give another file"};
  const std::string nearest = nearest_pixel_format(hint_.pixel_format);
  if (nearest == hint_.pixel_format) return {ExitCode::bad_input, what + "; give a whole file"};
  return {ExitCode::bad_input, what + ": no decoder of GStreamer's here hands on " +
                                   hint_.pixel_format + " pictures; convert it first, best to " +
                                   nearest};
}

/// Refuses another format when a decoder asks whether it would be accepted: the negotiation that
/// then fails has an error that does not name the formats.
GstPadProbeReturn DecodeBin::on_query(GstPad*, GstPadProbeInfo* info, gpointer self) {
  auto* bin = static_cast<DecodeBin*>(self);
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ACCEPT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_query_parse_accept_caps(query, &caps);
  GstVideoInfo video{};
  if (gst_video_info_from_caps(&video, caps) == FALSE) return GST_PAD_PROBE_OK;
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&video);
  if (format != bin->native_) {
    bin->refuse(Error(ExitCode::bad_input, bin->name_ + ": its pictures change from " +
                                               gst_video_format_to_string(bin->native_) + " to " +
                                               gst_video_format_to_string(format) +
                                               "; one stream must keep one format"));
  }
  return GST_PAD_PROBE_OK;
}

/// Corrects the caps of av1dec, which outputs the planes of an RGB stream as YCbCr.
GstPadProbeReturn DecodeBin::on_event(GstPad*, GstPadProbeInfo* info, gpointer self) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const GstVideoFormat rgb = as_rgb(static_cast<DecodeBin*>(self)->native_);
  const CapsPtr named(gst_caps_copy(caps));
  gst_caps_set_simple(named.get(), "format", G_TYPE_STRING, gst_video_format_to_string(rgb),
                      "colorimetry", G_TYPE_STRING, GST_VIDEO_COLORIMETRY_SRGB, nullptr);
  GST_PAD_PROBE_INFO_DATA(info) = gst_event_new_caps(named.get());
  gst_event_unref(event);
  return GST_PAD_PROBE_OK;
}

void DecodeBin::connect(GstPad* pad) {
  const CapsPtr caps(gst_pad_get_current_caps(pad));
  if (!has_prefix(caps.get(), "video/x-raw")) return;
  {
    const std::lock_guard lock(mutex_);
    if (linked_) return;  // the first video stream only
    linked_ = true;
  }
  GstVideoInfo native{};
  if (gst_video_info_from_caps(&native, caps.get()) == FALSE) {
    throw Error(ExitCode::bad_input, name_ + ": its video has no size or format");
  }
  native_ = GST_VIDEO_INFO_FORMAT(&native);
  if (!holds_samples_of(native_, hint_.pixel_format)) throw no_decoder();
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, this, nullptr);
  const GstVideoFormat rgb = as_rgb(native_);
  if (hint_.pixel_format.starts_with("gbr") && rgb != native_) {
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
    native.finfo = gst_video_format_get_info(rgb);
  }
  link(pad, native);
}

void DecodeBin::link(GstPad* pad, const GstVideoInfo& native) {
  const GstVideoFormat from = GST_VIDEO_INFO_FORMAT(&native);
  const auto chosen = choose_format(from, accepts_);
  const auto depth = static_cast<int>(GST_VIDEO_FORMAT_INFO_DEPTH(native.finfo, 0));
  if (!chosen && depth > 8) {
    throw Error(ExitCode::usage, name_ + ": is " + std::to_string(depth) +
                                     "-bit video; the filters take " +
                                     bits_taken_below(model_of(native.finfo), depth, accepts_) +
                                     ", convert it first");
  }
  if (!chosen) {
    throw Error(ExitCode::usage, name_ + ": is " + gst_video_format_to_string(from) +
                                     " video, which the filters do not take" +
                                     (accepts_(PixelFormat::gray8) ? ", must be gray" : ""));
  }
  const bool transparent = GST_VIDEO_FORMAT_INFO_HAS_ALPHA(native.finfo) != FALSE;
  const GstVideoFormat with_plane = transparent ? with_alpha(*chosen) : GST_VIDEO_FORMAT_UNKNOWN;
  const GstVideoFormat to = with_plane == GST_VIDEO_FORMAT_UNKNOWN ? to_gst(*chosen) : with_plane;
  const CapsPtr caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                         gst_video_format_to_string(to), nullptr));
  gst_app_sink_set_caps(sink(), caps.get());
  GstElement* first = GST_ELEMENT(sink());
  if (transparent && !GST_VIDEO_FORMAT_INFO_HAS_ALPHA(gst_video_format_get_info(to))) {
    logger().warn("{}: its transparency is lost, the filters take {} pictures without it", name_,
                  gst_video_format_to_string(to));
  }
  if (to != from) {
    logger().info("{}: {} pictures become {}", name_, gst_video_format_to_string(from),
                  gst_video_format_to_string(to));
    first = add_to(pipeline_.get(), make_element("videoconvert"));
    // No dither where samples only move: their values must not change.
    gst_util_set_object_arg(G_OBJECT(first), "dither", "none");
    gst_element_link(first, GST_ELEMENT(sink()));
    gst_element_sync_state_with_parent(first);
  }
  const PadPtr target(gst_element_get_static_pad(first, "sink"));
  // Links without comparing caps, since av1dec's pads do not list the gray pictures that it
  // outputs.
  if (gst_pad_link_full(pad, target.get(), GST_PAD_LINK_CHECK_HIERARCHY) != GST_PAD_LINK_OK) {
    throw Error(ExitCode::bad_input, name_ + ": its pictures cannot be brought to memory");
  }
}

}  // namespace equalux::gst
