#include "decode_bin.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <log.h>

#include "gst_formats.h"
#include "picture_tap.h"

namespace equalux::gst {

namespace {

/// Threads of a decoder on the CPU. libav's own choice is one more than there are cores, 16 at most;
/// while a filter has the cores as well, more of them keep more pictures under way.
int decoder_threads() {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::clamp(cores + 1, 8, 16);
}

bool has_prefix(const GstCaps* caps, const char* prefix) {
  return caps != nullptr && gst_caps_get_size(caps) > 0 &&
         g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), prefix) != FALSE;
}

/// Sound and text are left as they are.
gboolean on_autoplug(GstElement*, GstPad*, GstCaps* caps, gpointer) {
  const bool other = has_prefix(caps, "audio/") || has_prefix(caps, "text/") ||
                     has_prefix(caps, "subpicture/") || has_prefix(caps, "application/x-subtitle");
  return other ? FALSE : TRUE;
}

/// jpegdec turns 4:2:2 pictures into 4:2:0 without a word; the other one wants parsed pictures.
void prefer_exact_decoders() {
  for (const char* name : {"jpegparse", "avdec_mjpeg"}) {
    GstPluginFeature* feature = gst_registry_lookup_feature(gst_registry_get(), name);
    if (feature == nullptr) continue;
    gst_plugin_feature_set_rank(feature, GST_RANK_PRIMARY + 64);
    gst_object_unref(feature);
  }
}

}  // namespace

DecodeBin::DecodeBin(const std::string& name, FormatPredicate accepts, int threads)
    : PictureDecoder(name), accepts_(std::move(accepts)), threads_(threads) {
  g_signal_connect(pipeline(), "deep-element-added", G_CALLBACK(on_element), this);
}

GstElement* DecodeBin::add_decoder() {
  prefer_exact_decoders();
  GstElement* decodebin = add_to(pipeline_.get(), make_element("decodebin"));
  // By software: the same bytes on every machine.
  g_object_set(decodebin, "force-sw-decoders", TRUE, nullptr);
  g_signal_connect(decodebin, "autoplug-continue", G_CALLBACK(on_autoplug), nullptr);
  g_signal_connect(decodebin, "pad-added", G_CALLBACK(on_pad), this);
  g_signal_connect(decodebin, "no-more-pads", G_CALLBACK(on_no_more_pads), this);
  return decodebin;
}

void DecodeBin::on_element(GstBin*, GstBin*, GstElement* element, gpointer self) {
  const int wanted = static_cast<DecodeBin*>(self)->threads_;
  GObjectClass* type = G_OBJECT_GET_CLASS(element);
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
    bin->refuse(error);
  }
}

void DecodeBin::on_no_more_pads(GstElement*, gpointer self) {
  auto* bin = static_cast<DecodeBin*>(self);
  bool linked = false;
  {
    const std::lock_guard lock(bin->mutex_);
    linked = bin->linked_;
  }
  if (!linked) bin->refuse(Error(ExitCode::bad_input, bin->name_ + ": holds no video"));
}

/// A decoder asks whether a new format is taken before it tells. What follows a refusal is a failed
/// negotiation, which says nothing of the formats.
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
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, this, nullptr);
  link(pad, native);
}

void DecodeBin::link(GstPad* pad, const GstVideoInfo& native) {
  const GstVideoFormat from = GST_VIDEO_INFO_FORMAT(&native);
  const auto chosen = choose_format(from, accepts_);
  const auto depth = static_cast<int>(GST_VIDEO_FORMAT_INFO_DEPTH(native.finfo, 0));
  if (!chosen && depth > 8) {
    throw Error(ExitCode::bad_input, name_ + ": is " + std::to_string(depth) +
                                         "-bit video; the filters take 8 bits, convert it first");
  }
  if (!chosen) {
    throw Error(ExitCode::bad_input, name_ + ": is " + gst_video_format_to_string(from) +
                                         " video, which the filters do not take");
  }
  const GstVideoFormat to = to_gst(*chosen);
  const CapsPtr caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                         gst_video_format_to_string(to), nullptr));
  gst_app_sink_set_caps(sink(), caps.get());
  GstElement* first = GST_ELEMENT(sink());
  if (to != from) {
    logger().info("{}: {} pictures become {}", name_, gst_video_format_to_string(from),
                  gst_video_format_to_string(to));
    first = add_to(pipeline_.get(), make_element("videoconvert"));
    // Samples that only change their place must not change their value.
    gst_util_set_object_arg(G_OBJECT(first), "dither", "none");
    gst_element_link(first, GST_ELEMENT(sink()));
    gst_element_sync_state_with_parent(first);
  }
  const PadPtr target(gst_element_get_static_pad(first, "sink"));
  if (gst_pad_link(pad, target.get()) != GST_PAD_LINK_OK) {
    throw Error(ExitCode::bad_input, name_ + ": its pictures cannot be brought to memory");
  }
}

}  // namespace equalux::gst
