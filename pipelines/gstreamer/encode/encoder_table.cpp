#include "pipelines/gstreamer/encode/encoder_table.h"

#include <algorithm>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux::gst {

namespace {

// clang-format off
const std::vector<EncoderSpec>& table() {
  static const std::vector<EncoderSpec> specs{
    {.name = "x264", .element = "x264enc", .codec = "h264", .title = "H.264 by x264",
     .quality = QualityScale{0, 50, 20},
     .settings = "speed-preset=veryfast pass=qual quantizer={q} qp-min=0 vbv-buf-capacity=0",
     .settings_with_avx512 = "option-string=asm=AVX2",
     .live = "tune=zerolatency key-int-max={gop}",
     .lossless = "speed-preset=veryfast pass=quant quantizer=0 qp-min=0 vbv-buf-capacity=0",
     .formats = {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_Y42B,
                 GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_10LE,
                 GST_VIDEO_FORMAT_Y444_10LE},
     .parser = "h264parse", .stream_caps = "video/x-h264, stream-format=avc, alignment=au",
     .smallest_side = 2, .even_chroma_only = true},
    {.name = "x265", .element = "x265enc", .codec = "hevc", .title = "H.265 by x265",
     .quality = QualityScale{0, 51, 24},
     .settings = "speed-preset=veryfast option-string=crf={q}",
     .lossless = "speed-preset=veryfast option-string=lossless=1",
     .formats = {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
                 GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_10LE,
                 GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_I420_12LE,
                 GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y444_12LE},
     .parser = "h265parse", .stream_caps = "video/x-h265, stream-format=hvc1, alignment=au",
     .smallest_side = 16, .even_chroma_only = true},
    {.name = "vp9", .element = "vp9enc", .codec = "vp9",
     .title = "VP9 by libvpx, the default for .webm; keeps transparency of 8-bit 4:2:0 and RGB",
     .quality = QualityScale{0, 63, 24},
     .settings = "end-usage=cq cq-level={q} min-quantizer=0 max-quantizer=63 "
                 "target-bitrate=200000000 deadline=1 cpu-used=6 row-mt=true "
                 "lag-in-frames=0 auto-alt-ref=false "
                 "timebase=1/90000",
     .lossless = "min-quantizer=0 max-quantizer=0 target-bitrate=200000000 deadline=1 "
                 "cpu-used=6 row-mt=true lag-in-frames=0 auto-alt-ref=false timebase=1/90000",
     .formats = {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_I420_10LE,
                 GST_VIDEO_FORMAT_I420_12LE, GST_VIDEO_FORMAT_I422_10LE,
                 GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y444_10LE,
                 GST_VIDEO_FORMAT_Y444_12LE},
     .alpha = AlphaForm::second_stream, .stream_caps = "video/x-vp9"},
    {.name = "ffv1", .element = "avenc_ffv1", .codec = "ffv1",
     .title = "FFV1, always lossless, for archives; keeps transparency",
     .settings = "gop-size=1 slices={slices} slicecrc={crc} threads=auto",
     .always_lossless = true,
     .formats = {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
                 GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_BGRA,
                 GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_10LE,
                 GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_I420_12LE,
                 GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y444_12LE,
                 GST_VIDEO_FORMAT_GRAY16_LE},
     .alpha = AlphaForm::in_picture, .stream_caps = "video/x-ffv", .even_stamps = true},
    {.name = "mjpeg", .element = "avenc_mjpeg", .codec = "mjpeg",
     .title = "Motion JPEG, every picture by itself",
     .quality = QualityScale{1, 31, 3},
     .settings = "pass=quant quantizer={q} huffman=default",
     .formats = {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444},
     .stream_caps = "image/jpeg", .full_range_only = true, .even_stamps = true},
    {.name = "nvh264", .element = "nvh264enc", .codec = "h264", .title = "H.264 by an NVIDIA GPU",
     .quality = QualityScale{0, 51, 22},
     .settings = "rc-mode=constqp qp-const={q}",
     .live = "zerolatency=true bframes=0 gop-size={gop}",
     .formats = {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444},
     .parser = "h264parse", .stream_caps = "video/x-h264, stream-format=avc, alignment=au",
     .smallest_side = 160, .even_chroma_only = true},
    {.name = "nvh265", .element = "nvh265enc", .codec = "hevc", .title = "H.265 by an NVIDIA GPU",
     .quality = QualityScale{0, 51, 24},
     .settings = "rc-mode=constqp qp-const={q}",
     .formats = {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444},
     .parser = "h265parse", .stream_caps = "video/x-h265, stream-format=hvc1, alignment=au",
     .smallest_side = 160, .even_chroma_only = true},
    {.name = "vah264", .element = "vah264enc", .codec = "h264",
     .title = "H.264 by an Intel or AMD GPU (VA-API)",
     .quality = QualityScale{0, 51, 22},
     .settings = "rate-control=cqp qpi={q} qpp={q} qpb={q}",
     .live = "b-frames=0 key-int-max={gop}",
     .formats = {GST_VIDEO_FORMAT_NV12},
     .parser = "h264parse", .stream_caps = "video/x-h264, stream-format=avc, alignment=au",
     .smallest_side = 16, .even_chroma_only = true},
    {.name = "v4l2h264", .element = "v4l2h264enc", .codec = "h264",
     .title = "H.264 by a V4L2 encoder (embedded boards)",
     .formats = {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420},
     .parser = "h264parse", .stream_caps = "video/x-h264, stream-format=avc, alignment=au",
     .smallest_side = 16, .even_chroma_only = true},
  };
  return specs;
}
// clang-format on

bool cpu_has_avx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

bool has_format(const EncoderSpec& spec, GstVideoFormat format) {
  return std::find(spec.formats.begin(), spec.formats.end(), format) != spec.formats.end();
}

/// Lists the encoders that take a format, for messages.
std::string takers(GstVideoFormat format) {
  std::string names;
  for (const EncoderSpec& spec : table()) {
    const bool takes = std::any_of(
        spec.formats.begin(), spec.formats.end(),
        [&](GstVideoFormat taken) { return taken == format || same_samples(taken, format); });
    if (takes && has_element(std::string(spec.element).c_str())) {
      names += (names.empty() ? "" : ", ") + std::string(spec.name);
    }
  }
  return names;
}

std::string who_takes(GstVideoFormat format) {
  const std::string names = takers(format);
  if (!names.empty()) return "these do: " + names;
  return "no encoder here does, write images such as frames/%05d.png";
}

/// Refuses gray and RGB pictures of 16 bits, which would lose some.
[[noreturn]] void refuse_deep(const EncoderSpec& spec, PixelFormat format) {
  throw Error(ExitCode::usage, "--encoder " + std::string(spec.name) + " does not take " +
                                   std::string(to_string(format)) + " pictures; " +
                                   who_takes(to_gst(format)));
}

GstVideoFormat choose_for_rgb(const EncoderSpec& spec, GstVideoFormat format, bool lossless) {
  const bool alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA(gst_video_format_get_info(format)) != FALSE;
  const GstVideoFormat kept = alpha ? GST_VIDEO_FORMAT_BGRA : GST_VIDEO_FORMAT_BGRx;
  if (has_format(spec, kept)) return kept;
  if (lossless) {
    throw Error(ExitCode::usage, "--lossless: " + std::string(spec.name) +
                                     " does not keep RGB pictures; --encoder ffv1 does");
  }
  return spec.formats.front();
}

/// Returns true where the element's pads accept such pictures.
bool takes(const EncoderSpec& spec, GstVideoFormat format, const ImageDesc& desc) {
  const std::unique_ptr<GstElementFactory, UnrefObject> factory(
      gst_element_factory_find(std::string(spec.element).c_str()));
  if (!factory || format == GST_VIDEO_FORMAT_UNKNOWN) return false;
  const CapsPtr pictures(gst_caps_new_simple(
      "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(format), "width",
      G_TYPE_INT, desc.width, "height", G_TYPE_INT, desc.height, nullptr));
  return gst_element_factory_can_sink_any_caps(factory.get(), pictures.get()) != FALSE;
}

void check_size(const EncoderSpec& spec, GstVideoFormat format, const ImageDesc& desc) {
  const std::string size = size_text(desc);
  const std::string name(spec.name);
  if (std::min(desc.width, desc.height) < spec.smallest_side) {
    throw Error(ExitCode::usage, "--encoder " + name + " takes sides of at least " +
                                     std::to_string(spec.smallest_side) + ", the pictures are " +
                                     size + "; --encoder ffv1 takes them");
  }
  if (!spec.even_chroma_only) return;
  const GstVideoFormatInfo* info = gst_video_format_get_info(format);
  const bool odd_x = GST_VIDEO_FORMAT_INFO_W_SUB(info, 1) > 0 && desc.width % 2 != 0;
  const bool odd_y = GST_VIDEO_FORMAT_INFO_H_SUB(info, 1) > 0 && desc.height % 2 != 0;
  if (odd_x || odd_y) {
    throw Error(ExitCode::usage, "--encoder " + name + " takes " + chroma_name(format) +
                                     " pictures of even sides only, these are " + size +
                                     "; --encoder vp9 or ffv1 takes them");
  }
}

}  // namespace

std::string chroma_name(GstVideoFormat format) {
  const GstVideoFormatInfo* info = gst_video_format_get_info(format);
  if (!GST_VIDEO_FORMAT_INFO_IS_YUV(info)) return gst_video_format_to_string(format);
  const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH(info, 0);
  const std::string bits = depth > 8 ? std::string(" ") + std::to_string(depth) + "-bit" : "";
  if (GST_VIDEO_FORMAT_INFO_W_SUB(info, 1) == 0) return "4:4:4" + bits;
  return (GST_VIDEO_FORMAT_INFO_H_SUB(info, 1) == 0 ? "4:2:2" : "4:2:0") + bits;
}

const std::vector<EncoderSpec>& encoder_specs() {
  return table();
}

AlphaForm alpha_form(const EncoderSpec& spec, const StreamInfo& info) {
  const PixelFormat format = info.desc.format;
  if (!info.transparent && !has_alpha(format)) return AlphaForm::none;
  if (spec.alpha == AlphaForm::second_stream) {
    const bool fits = info.transparent ? format == PixelFormat::i420 : has_byte_samples(format);
    return fits ? spec.alpha : AlphaForm::none;
  }
  if (spec.alpha == AlphaForm::none) return AlphaForm::none;
  if (!info.transparent) {
    const bool fits = has_byte_samples(format) && has_format(spec, GST_VIDEO_FORMAT_BGRA);
    return fits ? spec.alpha : AlphaForm::none;
  }
  // Asks the pads, since the accepted formats differ between versions of GStreamer.
  return takes(spec, with_alpha(format), info.desc) ? spec.alpha : AlphaForm::none;
}

const EncoderSpec* gpu_encoder(const StreamInfo& info) {
  const EncoderSpec& spec = encoder_spec("nvh264");
  const std::string element(spec.element);
  const FormatTraits& t = traits(info.desc.format);
  const bool loses_chroma =
      t.model == ColorModel::yuv && !same_samples(to_gst(info.desc.format), spec.formats.front());
  if (!has_element(element.c_str()) || has_deep_samples(info.desc.format) || loses_chroma ||
      info.field_order != FieldOrder::progressive) {
    return nullptr;
  }
  try {
    check_size(spec, spec.formats.front(), info.desc);
  } catch (const Error&) {
    return nullptr;
  }
  // The pads tell the largest size that this device encodes.
  return takes(spec, spec.formats.front(), info.desc) ? &spec : nullptr;
}

const EncoderSpec& encoder_spec(std::string_view name) {
  std::string names;
  for (const EncoderSpec& spec : table()) {
    if (spec.name == name) return spec;
    names += (names.empty() ? "" : ", ") + std::string(spec.name);
  }
  throw Error(ExitCode::usage,
              "--encoder '" + std::string(name) + "' is not known, must be one of " + names);
}

GstVideoFormat choose_encoded_format(const EncoderSpec& spec, const StreamInfo& info,
                                     bool lossless) {
  const GstVideoFormat from = to_gst(info.desc.format);
  GstVideoFormat chosen = GST_VIDEO_FORMAT_UNKNOWN;
  const ColorModel model = traits(info.desc.format).model;
  if (has_format(spec, from)) {
    chosen = from;
  } else if (model != ColorModel::yuv && has_deep_samples(info.desc.format)) {
    refuse_deep(spec, info.desc.format);
  } else if (model == ColorModel::rgb) {
    chosen = choose_for_rgb(spec, from, lossless || spec.always_lossless);
  } else if (model == ColorModel::gray) {
    chosen = spec.formats.front();  // its chroma position is unspecified
  } else if (model == ColorModel::yuv) {
    const auto same = std::find_if(spec.formats.begin(), spec.formats.end(),
                                   [&](auto format) { return same_samples(format, from); });
    if (same != spec.formats.end()) chosen = *same;
  }
  if (chosen == GST_VIDEO_FORMAT_UNKNOWN) {
    throw Error(ExitCode::usage, "--encoder " + std::string(spec.name) + " does not take " +
                                     (model == ColorModel::real
                                          ? "float pictures; no encoder here does, write arrays "
                                            "such as frames/%05d.npy"
                                          : chroma_name(from) + " pictures; " + who_takes(from)));
  }
  check_size(spec, chosen, info.desc);
  return chosen;
}

GstVideoFormat choose_streamed_format(const EncoderSpec& spec, const StreamInfo& info) {
  const GstVideoFormat from = to_gst(info.desc.format);
  const auto is_plain = [](GstVideoFormat format) {
    return format == GST_VIDEO_FORMAT_I420 || format == GST_VIDEO_FORMAT_NV12;
  };
  const GstVideoFormat chosen =
      is_plain(from) && has_format(spec, from)
          ? from
          : *std::find_if(spec.formats.begin(), spec.formats.end(), is_plain);
  const ImageDesc& desc = info.desc;
  const std::string size = size_text(desc);
  const bool odd = desc.width % 2 != 0 || desc.height % 2 != 0;
  if (odd || std::min(desc.width, desc.height) < spec.smallest_side) {
    throw Error(ExitCode::usage, "--encoder " + std::string(spec.name) +
                                     " streams pictures of even sides of at least " +
                                     std::to_string(spec.smallest_side) + ", these are " + size);
  }
  return chosen;
}

namespace {

/// Returns true where the last of `count` parts of a side would have another number of chroma
/// samples than encoder and decoder expect.
bool parts_differ(int side, int count, int shift) {
  const int unit = 1 << shift;
  const int start = static_cast<int>(static_cast<std::int64_t>(side) * (count - 1) / count);
  return side % unit != 0 && (side - start) % unit == 0;
}

void fill_in(std::string& value, std::string_view mark, int number) {
  if (const auto at = value.find(mark); at != std::string::npos) {
    value.replace(at, mark.size(), std::to_string(number));
  }
}

/// Values for {q}, {slices}, {gop} and {crc} in settings.
struct SettingNumbers {
  int quality = 0;
  int slices = 0;
  int key_distance = 0;
  int slice_checks = 1;  ///< 0 = none
};

/// Sets "property=value" pairs.
void set_all(GstElement* encoder, const EncoderSpec& spec, std::string_view settings,
             const SettingNumbers& numbers) {
  while (!settings.empty()) {
    const std::string pair(settings.substr(0, settings.find(' ')));
    settings.remove_prefix(std::min(settings.size(), pair.size() + 1));
    const std::string property = pair.substr(0, pair.find('='));
    std::string value = pair.substr(property.size() + 1);
    fill_in(value, "{q}", numbers.quality);
    fill_in(value, "{slices}", numbers.slices);
    fill_in(value, "{gop}", numbers.key_distance);
    fill_in(value, "{crc}", numbers.slice_checks);
    // Some versions of GStreamer lack a property; what it tunes then stays at its default.
    GObjectClass* type = G_OBJECT_GET_CLASS(encoder);
    if (g_object_class_find_property(type, property.c_str()) != nullptr) {
      gst_util_set_object_arg(G_OBJECT(encoder), property.c_str(), value.c_str());
    } else {
      logger().debug("{} has no property {}", spec.element, property);
    }
  }
}

}  // namespace

int slices_for(int width, int height, int chroma_shift_x, int chroma_shift_y) {
  constexpr int kSmallestSide = 16;
  constexpr int kUsual = 4;
  constexpr int kMost = 64;
  if (std::min(width, height) < kSmallestSide) return 1;
  // libav tries rows of slices, and for each from as many columns to twice as many.
  for (int rows = 2; rows * rows <= kMost; ++rows) {
    if (parts_differ(height, rows, chroma_shift_y)) continue;
    for (int columns = rows; columns <= 2 * rows && rows * columns <= kMost; ++columns) {
      const bool fits = !parts_differ(width, columns, chroma_shift_x);
      if (fits && rows * columns >= kUsual) return rows * columns;
    }
  }
  return 0;
}

ElementPtr make_encoder(const EncoderSpec& spec, const ImageDesc& desc, GstVideoFormat format,
                        std::optional<int> quality, bool lossless,
                        std::optional<int> key_distance) {
  ElementPtr encoder = make_element(std::string(spec.element).c_str());
  const GstVideoFormatInfo* info = gst_video_format_get_info(format);
  const bool chroma = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info) > 1;
  const auto shift = [&](auto of) { return chroma ? static_cast<int>(of) : 0; };
  SettingNumbers numbers;
  numbers.quality = quality.value_or(spec.quality ? spec.quality->standard : 0);
  numbers.slices =
      slices_for(desc.width, desc.height, shift(info->w_sub[1]), shift(info->h_sub[1]));
  // Leaves out checksums for a single row or column. They need version 3 of the stream, which
  // libavcodec writes wrong for those: such a frame reads as all zeros.
  numbers.slice_checks = std::min(desc.width, desc.height) > 1 ? 1 : 0;
  set_all(encoder.get(), spec, lossless && !spec.always_lossless ? spec.lossless : spec.settings,
          numbers);
  if (cpu_has_avx512()) set_all(encoder.get(), spec, spec.settings_with_avx512, numbers);
  if (key_distance) {
    numbers.key_distance = *key_distance;
    set_all(encoder.get(), spec, spec.live, numbers);
  }
  return encoder;
}

}  // namespace equalux::gst
