#include "pipelines/container/input/probe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>

#include <equalux/error.h>

#include "pipelines/container/alpha_packet.h"
#include "pipelines/container/input/iso_file.h"
#include "pipelines/container/input/matroska_file.h"
#include "pipelines/container/input/open_input.h"
#include "pipelines/container/side_data.h"
#include "src/common/formatting.h"
#include "src/common/log.h"

namespace equalux {
namespace {

/// Names what a file really holds that libavformat reads as a video: a picture or a text.
const char* what_instead(std::string_view format) {
  static constexpr std::array<std::string_view, 5> kTexts{"tty", "bin", "xbin", "adf", "idf"};
  if (format.ends_with("_pipe") || format == "image2" || format == "ico") return "a still image";
  if (std::find(kTexts.begin(), kTexts.end(), format) != kTexts.end()) return "a text";
  return nullptr;
}

/// Lists streams but one as in "2 audio streams (aac, opus), 1 subtitle stream (subrip)"; empty
/// where there is none.
std::string list_streams(const AVFormatContext& input, int but) {
  std::map<std::string, std::pair<int, std::string>> kinds;
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& stream = *input.streams[i];
    if (stream.index == but) continue;
    auto& [count, codecs] =
        kinds[is_attached_picture(stream) ? "cover picture" : kind_name(stream)];
    if (count++ > 0) codecs += ", ";
    codecs += codec_name(stream);
  }
  std::string text;
  for (const auto& [kind, entry] : kinds) {
    const auto& [count, codecs] = entry;
    text += (text.empty() ? "" : ", ") +
            counted(static_cast<std::uint64_t>(count), kind + " stream") + " (" + codecs + ")";
  }
  return text;
}

std::optional<std::int64_t> duration_of(const AVFormatContext& input, const AVStream& video) {
  // A duration computed from the bit rate is only a guess.
  if (input.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE) return std::nullopt;
  if (video.duration > 0) return av_rescale_q(video.duration, video.time_base, kNanoseconds);
  if (input.duration > 0) return av_rescale_q(input.duration, kMicroseconds, kNanoseconds);
  return std::nullopt;
}

/// Derives the orientation from the signs of a display matrix, which maps stored columns and rows
/// to shown ones.
std::optional<Orientation> orientation_of(const AVStream& video) {
  const auto bytes = side_data(video, AV_PKT_DATA_DISPLAYMATRIX);
  std::array<std::int32_t, 9> matrix{};
  if (bytes.size() < sizeof matrix) return Orientation::upright;
  std::memcpy(matrix.data(), bytes.data(), sizeof matrix);
  const auto part = [&](std::size_t i) { return static_cast<double>(matrix[i]); };
  const double straight = std::min(std::abs(part(0)), std::abs(part(4)));
  const double swapped = std::min(std::abs(part(1)), std::abs(part(3)));
  if (swapped * 100 < straight) {
    if (part(0) > 0) return part(4) > 0 ? Orientation::upright : Orientation::flipped;
    return part(4) > 0 ? Orientation::mirrored : Orientation::upside_down;
  }
  if (straight * 100 < swapped) {
    if (part(3) > 0) return part(1) > 0 ? Orientation::transposed : Orientation::counter_clockwise;
    return part(1) > 0 ? Orientation::clockwise : Orientation::transverse;
  }
  return std::nullopt;
}

void describe_video(AVFormatContext& input, AVStream& video, ContainerInfo& info) {
  const AVCodecParameters& codec = *video.codecpar;
  info.video_codec = codec_name(video);
  const AVCodecDescriptor* kind = avcodec_descriptor_get(codec.codec_id);
  info.intra_only = kind != nullptr && (kind->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
  info.average_frame_rate = to_rational(video.avg_frame_rate);
  if (info.average_frame_rate.den == 0) info.average_frame_rate = {0, 1};
  const AVRational aspect = av_guess_sample_aspect_ratio(&input, &video, nullptr);
  if (aspect.num > 0 && aspect.den > 0) info.pixel_aspect = to_rational(aspect);
  info.orientation = orientation_of(video);
  if (video.nb_frames > 0) info.video_frames = static_cast<std::uint64_t>(video.nb_frames);
  info.duration_ns = duration_of(input, video);
  if (video.start_time != AV_NOPTS_VALUE) {
    info.video_start_ns = av_rescale_q(video.start_time, video.time_base, kNanoseconds);
  }
  const char* pixels = av_get_pix_fmt_name(static_cast<AVPixelFormat>(codec.format));
  if (pixels != nullptr) info.pixel_format = pixels;
  info.alpha_beside = has_alpha_packets(video);
  if (codec.color_trc != AVCOL_TRC_UNSPECIFIED) {
    const char* name = av_color_transfer_name(codec.color_trc);
    if (name != nullptr) info.transfer = name;
  }
}

/// Adds the part of the pictures that is shown, which libavformat does not report.
void describe_shown_part(const std::string& path, const AVStream& video, ContainerInfo& info) {
  const AVCodecParameters& codec = *video.codecpar;
  if (info.format.starts_with("matroska")) {
    const auto part = matroska_shown_part(path);
    if (!part || !part->is_cropped()) return;
    info.crop = {static_cast<int>(part->left), static_cast<int>(part->top),
                 static_cast<int>(part->right), static_cast<int>(part->bottom)};
    if (part->display_width > 0) {
      info.shown_aspect = Rational{static_cast<std::int64_t>(part->display_width),
                                   static_cast<std::int64_t>(part->display_height)};
    }
  } else if (info.format.starts_with("mov,")) {
    const auto clean = iso_clean_aperture(path);
    if (clean && (clean->width != codec.width || clean->height != codec.height))
      info.clean_aperture = fmt::format("{}x{}", clean->width, clean->height);
  }
}

}  // namespace

ContainerInfo probe_container(const std::string& path, ReadStop* stop) {
  const InputContext input = open_input(path, stop);
  return describe_container(*input, path);
}

ContainerInfo describe_container(AVFormatContext& input, const std::string& path) {
  ContainerInfo info;
  info.format = input.iformat->name;
  info.has_times = !is_elementary(*input.iformat);
  if (const char* other = what_instead(info.format)) {
    throw Error(ExitCode::bad_input,
                path + ": is " + other + " (" + info.format + "), not a video; give a video file");
  }
  if (info.format == "apng") {
    throw Error(ExitCode::bad_input,
                path +
                    ": is an animated PNG, which GStreamer does not decode; make a video of it "
                    "first, as ffmpeg -i IN.png -c:v ffv1 OUT.mkv does");
  }
  info.video_stream = filtered_stream(input);
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    info.sound_streams += input.streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO ? 1 : 0;
  }
  if (info.video_stream < 0) {
    const std::string streams = list_streams(input, -1);
    throw Error(ExitCode::bad_input,
                path + ": holds no video" +
                    (streams.empty() ? ", nor anything else" : " but " + streams) +
                    "; give a file with a video stream");
  }
  AVStream& video = *input.streams[info.video_stream];
  if (video.codecpar->codec_id == AV_CODEC_ID_NONE || video.codecpar->width <= 0 ||
      video.codecpar->height <= 0) {
    throw Error(ExitCode::bad_input, path + ": its video (" + codec_name(video) +
                                         ") is of no known kind or size; give a whole video file");
  }
  info.other_streams = list_streams(input, info.video_stream);
  describe_video(input, video, info);
  describe_shown_part(path, video, info);
  return info;
}

}  // namespace equalux
