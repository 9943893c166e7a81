#include "pipelines/plugin/element_caps.h"

#include <array>
#include <span>

#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/plugin/cuda_memory.h"

namespace equalux::gst {

namespace {

// In the order in which a source that has the choice should take them: those without conversion of
// chroma and of little memory first.
constexpr std::array kSystemFormats{
    PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2, PixelFormat::uyvy, PixelFormat::y42b,
    PixelFormat::y444, PixelFormat::bgrx, PixelFormat::rgbx, PixelFormat::xrgb, PixelFormat::xbgr,
    PixelFormat::bgra, PixelFormat::rgba, PixelFormat::argb, PixelFormat::abgr, PixelFormat::bgr,
    PixelFormat::rgb,  PixelFormat::gray8};
// More than 8 bits, in a list of their own: a source that has the choice takes 8.
constexpr std::array kDeepFormats{
    PixelFormat::p010_10le, PixelFormat::i420_10le, PixelFormat::i422_10le, PixelFormat::y444_10le,
    PixelFormat::p012_le,   PixelFormat::i420_12le, PixelFormat::i422_12le, PixelFormat::y444_12le,
    PixelFormat::p016_le,   PixelFormat::y444_16le, PixelFormat::rgba64_le, PixelFormat::bgra64_le,
    PixelFormat::argb64_le, PixelFormat::abgr64_le, PixelFormat::gray16_le};
// What NVIDIA's decoders, encoders and converters have in common; their allocator has no gray.
constexpr std::array kCudaFormats{PixelFormat::nv12, PixelFormat::rgba, PixelFormat::bgra,
                                  PixelFormat::rgbx, PixelFormat::bgrx, PixelFormat::p010_10le};

void append(GstCaps* caps, std::span<const PixelFormat> formats,
            const std::function<bool(PixelFormat)>& accepts, const char* feature) {
  GValue names = G_VALUE_INIT;
  g_value_init(&names, GST_TYPE_LIST);
  for (const PixelFormat format : formats) {
    if (!accepts(format)) continue;
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_static_string(&name, gst_video_format_to_string(to_gst(format)));
    gst_value_list_append_and_take_value(&names, &name);
  }
  if (gst_value_list_get_size(&names) > 0) {
    GstStructure* structure = gst_structure_new(
        "video/x-raw", "width", GST_TYPE_INT_RANGE, 1, kMaxSide, "height", GST_TYPE_INT_RANGE, 1,
        kMaxSide, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
    gst_structure_set_value(structure, "format", &names);
    gst_caps_append_structure_full(
        caps, structure, feature == nullptr ? nullptr : gst_caps_features_new(feature, nullptr));
  }
  g_value_unset(&names);
}

}  // namespace

CapsPtr element_caps(const std::function<bool(PixelFormat)>& accepts, bool with_cuda_memory) {
  CapsPtr caps(gst_caps_new_empty());
  if (with_cuda_memory) append(caps.get(), kCudaFormats, accepts, cuda_memory_feature());
  append(caps.get(), kSystemFormats, accepts, nullptr);
  append(caps.get(), kDeepFormats, accepts, nullptr);
  return caps;
}

CapsPtr without_format(const CapsPtr& caps) {
  CapsPtr result(gst_caps_copy(caps.get()));
  for (guint i = 0; i < gst_caps_get_size(result.get()); ++i) {
    gst_structure_remove_fields(gst_caps_get_structure(result.get(), i), "format", "colorimetry",
                                "chroma-site", nullptr);
  }
  return result;
}

}  // namespace equalux::gst
