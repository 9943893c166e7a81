#include "pipelines/container/output/stream_plan.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

extern "C" {
#include <libavutil/stereo3d.h>
}

#include <equalux/error.h>

#include "pipelines/container/input/open_input.h"
#include "pipelines/container/side_data.h"
#include "pipelines/files/file_names.h"

namespace equalux {
namespace {

/// Containers that an error message suggests, in this order. What webm holds, Matroska holds, too.
constexpr std::array<ContainerKind, 3> kKinds{ContainerKind::matroska, ContainerKind::mp4,
                                              ContainerKind::mov};

/// An attached file, as which Matroska stores pictures; it needs a name and a media type.
struct PictureFile {
  AVCodecID codec;
  const char* extension;
  const char* media_type;
};
constexpr std::array<PictureFile, 5> kPictureFiles{{
    {AV_CODEC_ID_MJPEG, "jpg", "image/jpeg"},
    {AV_CODEC_ID_PNG, "png", "image/png"},
    {AV_CODEC_ID_GIF, "gif", "image/gif"},
    {AV_CODEC_ID_BMP, "bmp", "image/bmp"},
    {AV_CODEC_ID_WEBP, "webp", "image/webp"},
}};

const PictureFile* picture_file(AVCodecID codec) {
  for (const auto& file : kPictureFiles) {
    if (file.codec == codec) return &file;
  }
  return nullptr;
}

bool is_chapter_text(const AVFormatContext& input, const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_DATA &&
         stream.codecpar->codec_id == AV_CODEC_ID_BIN_DATA && stream.discard == AVDISCARD_ALL &&
         input.nb_chapters > 0 && std::string_view(input.iformat->name).starts_with("mov,");
}

bool is_timecode(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_DATA &&
         stream.codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd');
}

/// Returns true for the navigation of a DVD, which names places in the file and on the disc.
bool is_navigation(const AVStream& stream) {
  return stream.codecpar->codec_id == AV_CODEC_ID_DVD_NAV;
}

/// Keeps the input's codec tag where the output's format knows it for the codec.
void choose_tag(const AVOutputFormat& format, AVCodecParameters& codec) {
  unsigned any = 0;
  if (format.codec_tag != nullptr &&
      av_codec_get_id(format.codec_tag, codec.codec_tag) != codec.codec_id &&
      av_codec_get_tag2(format.codec_tag, codec.codec_id, &any) != 0) {
    codec.codec_tag = 0;
  }
}

void make_attachment(AVStream& out, const AVStream& in) {
  AVCodecParameters& codec = *out.codecpar;
  const AVPacket& picture = in.attached_pic;
  const PictureFile* file = picture_file(codec.codec_id);
  set_extradata(codec, {picture.data, static_cast<std::size_t>(picture.size)});
  codec.codec_type = AVMEDIA_TYPE_ATTACHMENT;
  codec.codec_tag = 0;
  out.disposition = 0;
  if (file == nullptr) return;
  if (tag_of(out.metadata, "filename").empty()) {
    av_dict_set(&out.metadata, "filename", (std::string("cover.") + file->extension).c_str(), 0);
  }
  av_dict_set(&out.metadata, "mimetype", file->media_type, 0);
}

/// Returns true where the muxer can write a head for a file of this one stream, which is more
/// reliable than any table.
bool head_can_be_written(const AVStream& in, ContainerKind kind) {
  AVFormatContext* raw = nullptr;
  if (avformat_alloc_output_context2(&raw, nullptr, muxer_name(kind), nullptr) < 0) {
    throw std::bad_alloc();
  }
  const MuxerContext muxer(raw);
  muxer->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  AVStream& out = add_copied_stream(*muxer, kind, in);
  out.time_base = in.time_base;
  if (avio_open_dyn_buf(&muxer->pb) < 0) throw std::bad_alloc();
  const bool fits = avformat_write_header(muxer.get(), nullptr) >= 0;
  std::uint8_t* bytes = nullptr;
  avio_close_dyn_buf(muxer->pb, &bytes);
  muxer->pb = nullptr;
  av_free(bytes);
  return fits;
}

bool holds(const AVStream& in, ContainerKind kind) {
  const AVCodecID codec = in.codecpar->codec_id;
  const bool is_file =
      is_attached_picture(in) || in.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT;
  if (kind == ContainerKind::webm && is_file) return false;
  if (is_attached_picture(in)) {
    if (!is_iso(kind)) return picture_file(codec) != nullptr;
    return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_BMP;
  }
  if (in.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT) {
    return !is_iso(kind) && head_can_be_written(in, kind);
  }
  return codec != AV_CODEC_ID_NONE && head_can_be_written(in, kind);
}

StreamRole role_of(const AVFormatContext& input, const AVStream& stream, ContainerKind kind) {
  if (stream.index == filtered_stream(input)) return StreamRole::filtered;
  if (is_chapter_text(input, stream) || is_timecode(stream)) return StreamRole::remade;
  if (is_navigation(stream)) return StreamRole::of_container;
  if (!holds(stream, kind)) return StreamRole::dropped;
  if (is_attached_picture(stream)) {
    return is_iso(kind) ? StreamRole::cover : StreamRole::attachment;
  }
  return stream.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT ? StreamRole::attachment
                                                                : StreamRole::copied;
}

/// Returns true for data that no container here holds: refusing it would leave its owner no choice.
/// Phones and cameras record such tracks.
bool fits_nowhere(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_DATA &&
         std::none_of(kKinds.begin(), kKinds.end(),
                      [&](ContainerKind kind) { return holds(stream, kind); });
}

std::string name_of(const AVStream& stream) {
  return "stream " + std::to_string(stream.index) + " (" +
         (is_attached_picture(stream) ? "cover picture" : kind_name(stream)) + ", " +
         codec_name(stream) + ")";
}

/// Advises as in "; use .mkv, or --drop-streams": a container that holds every stream, or at least
/// this one.
std::string advice(const AVFormatContext& input, const AVStream& unfit, ContainerKind kind) {
  const char* holds_this = nullptr;
  for (const ContainerKind other : kKinds) {
    if (other == kind) continue;
    bool all = true;
    for (unsigned i = 0; i < input.nb_streams && all; ++i) {
      const AVStream& stream = *input.streams[i];
      all = role_of(input, stream, other) != StreamRole::dropped || fits_nowhere(stream);
    }
    if (all) return std::string("; use ") + extension_of(other) + ", or --drop-streams";
    if (holds_this == nullptr && holds(unfit, other)) holds_this = extension_of(other);
  }
  if (holds_this == nullptr) return ", nor in any other output; use --drop-streams";
  return std::string("; ") + holds_this +
         " holds it, but not all other streams; use --drop-streams";
}

}  // namespace

ContainerKind container_kind(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == "mp4" || extension == "m4v") return ContainerKind::mp4;
  if (extension == "mov") return ContainerKind::mov;
  if (extension == "mkv") return ContainerKind::matroska;
  if (extension == "webm") return ContainerKind::webm;
  throw Error(ExitCode::usage, path + ": no video container has the extension '" +
                                   (extension.empty() ? "" : "." + extension) +
                                   "'; use .mp4, .m4v, .mov, .mkv or .webm");
}

const char* extension_of(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::mp4:
      return ".mp4";
    case ContainerKind::mov:
      return ".mov";
    case ContainerKind::webm:
      return ".webm";
    case ContainerKind::matroska:
      break;
  }
  return ".mkv";
}

const char* muxer_name(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::mp4:
      return "mp4";
    case ContainerKind::mov:
      return "mov";
    case ContainerKind::webm:
      return "webm";
    case ContainerKind::matroska:
      break;
  }
  return "matroska";
}

bool keeps_stereo_layout(const AVStream& in, ContainerKind kind) {
  const auto bytes = side_data(in, AV_PKT_DATA_STEREO3D);
  if (kind != ContainerKind::webm || bytes.size() < sizeof(AVStereo3D)) return true;
  if (!side_data(in, AV_PKT_DATA_DISPLAYMATRIX).empty()) return false;
  const AVStereo3DType type = reinterpret_cast<const AVStereo3D*>(bytes.data())->type;
  return type == AV_STEREO3D_2D || type == AV_STEREO3D_SIDEBYSIDE || type == AV_STEREO3D_TOPBOTTOM;
}

StreamPlan plan_streams(const AVFormatContext& input, ContainerKind kind, bool drop_streams) {
  StreamPlan plan;
  plan.kind = kind;
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& stream = *input.streams[i];
    plan.roles.push_back(role_of(input, stream, kind));
    if (plan.roles.back() == StreamRole::filtered && !keeps_stereo_layout(stream, kind)) {
      plan.dropped.push_back("the stereo layout of " + name_of(stream));
    }
    const bool video = stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
    if (plan.roles.back() == StreamRole::copied && video) plan.videos.push_back(name_of(stream));
    if (plan.roles.back() != StreamRole::dropped) continue;
    if (!drop_streams && !fits_nowhere(stream)) {
      throw Error(ExitCode::usage, name_of(stream) + " does not fit in " +
                                       (extension_of(kind) + 1) + advice(input, stream, kind));
    }
    plan.dropped.push_back(name_of(stream));
  }
  return plan;
}

void check_video_codec(const std::string& codec, ContainerKind kind) {
  const AVCodecDescriptor* descriptor = avcodec_descriptor_get_by_name(codec.c_str());
  if (descriptor == nullptr || descriptor->type != AVMEDIA_TYPE_VIDEO) {
    throw Error(ExitCode::usage, "'" + codec + "' is no video codec that libavformat knows");
  }
  const auto fits = [&](ContainerKind other) {
    // Codecs that are in libavformat's tables and are refused later all the same.
    const bool vpx = descriptor->id == AV_CODEC_ID_VP8 || descriptor->id == AV_CODEC_ID_VP9 ||
                     descriptor->id == AV_CODEC_ID_AV1;
    if (vpx && other == ContainerKind::mov) return false;
    if (descriptor->id == AV_CODEC_ID_VP8 && other == ContainerKind::mp4) return false;
    const AVOutputFormat* format = av_guess_format(muxer_name(other), nullptr, nullptr);
    return format != nullptr &&
           avformat_query_codec(format, descriptor->id, FF_COMPLIANCE_EXPERIMENTAL) == 1;
  };
  if (fits(kind)) return;
  std::string others;
  for (const ContainerKind other : kKinds) {
    if (fits(other)) others += (others.empty() ? "" : " or ") + std::string(extension_of(other));
  }
  throw Error(ExitCode::usage, "a " + codec + " video does not fit in " + (extension_of(kind) + 1) +
                                   "; use " + (others.empty() ? "another --encoder" : others));
}

AVStream& add_copied_stream(AVFormatContext& muxer, ContainerKind kind, const AVStream& in) {
  AVStream* out = avformat_new_stream(&muxer, nullptr);
  if (out == nullptr || avcodec_parameters_copy(out->codecpar, in.codecpar) < 0) {
    throw std::bad_alloc();
  }
  choose_tag(*muxer.oformat, *out->codecpar);
  out->disposition = in.disposition;
  out->sample_aspect_ratio = in.sample_aspect_ratio;
  out->avg_frame_rate = in.avg_frame_rate;
  out->r_frame_rate = in.r_frame_rate;
  av_dict_copy(&out->metadata, in.metadata, 0);
  copy_side_data(*out, in);
  if (is_attached_picture(in) && !is_iso(kind)) make_attachment(*out, in);
  return *out;
}

}  // namespace equalux
