#include "pipelines/container/output/video_stream.h"

#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include <equalux/error.h>

#include "pipelines/container/colour.h"
#include "pipelines/container/side_data.h"

namespace equalux {
namespace {

AVFieldOrder field_order_of(FieldOrder order) {
  switch (order) {
    case FieldOrder::progressive:
      return AV_FIELD_PROGRESSIVE;
    case FieldOrder::top_first:
      return AV_FIELD_TT;
    case FieldOrder::bottom_first:
      return AV_FIELD_BB;
  }
  return AV_FIELD_UNKNOWN;
}

/// Tags that told of the input's own encoding.
bool is_stale(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kStale{
      "BPS", "DURATION", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES", "ENCODER", "encoder"};
  // Tells of a second picture of transparency beside each packet, which ours may not have.
  if (key == "alpha_mode" || key == "ALPHA_MODE") return true;
  if (key.starts_with("_STATISTICS_")) return true;
  for (const std::string_view stale : kStale) {
    if (key == stale || (key.starts_with(stale) && key[stale.size()] == '-')) return true;
  }
  return false;
}

void copy_tags(AVStream& out, const AVStream& in) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(in.metadata, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (!is_stale(entry->key)) av_dict_set(&out.metadata, entry->key, entry->value, 0);
  }
}

void set_codec_data(AVCodecParameters& codec, const std::vector<std::byte>& data) {
  if (data.empty()) return;
  codec.extradata =
      static_cast<std::uint8_t*>(av_mallocz(data.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  if (codec.extradata == nullptr) throw std::bad_alloc();
  std::memcpy(codec.extradata, data.data(), data.size());
  codec.extradata_size = static_cast<int>(data.size());
}

/// Players of Apple's play HEVC under this name only, which an hvcC head allows.
unsigned tag_for(const AVCodecParameters& codec, ContainerKind kind) {
  const bool has_head = codec.extradata_size > 0 && codec.extradata[0] == 1;
  return is_iso(kind) && codec.codec_id == AV_CODEC_ID_HEVC && has_head ? MKTAG('h', 'v', 'c', '1')
                                                                        : 0;
}

}  // namespace

AVStream& add_encoded_stream(AVFormatContext& muxer, ContainerKind kind,
                             const EncodedVideoFormat& video, const AVStream* input) {
  const AVCodecDescriptor* descriptor = avcodec_descriptor_get_by_name(video.codec.c_str());
  if (descriptor == nullptr) {
    throw Error(ExitCode::usage, "'" + video.codec + "' is no video codec that libavformat knows");
  }
  AVStream* stream = avformat_new_stream(&muxer, nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  AVCodecParameters& codec = *stream->codecpar;
  codec.codec_type = AVMEDIA_TYPE_VIDEO;
  codec.codec_id = descriptor->id;
  codec.width = video.width;
  codec.height = video.height;
  // The muxer takes this one for the sign that transparency lies beside the packets.
  const std::string usual = video.alpha_beside ? "yuva420p" : "yuv420p";
  codec.format =
      av_get_pix_fmt(video.pixel_format.empty() ? usual.c_str() : video.pixel_format.c_str());
  codec.field_order = field_order_of(video.field_order);
  codec.sample_aspect_ratio = stream->sample_aspect_ratio = to_av(video.pixel_aspect);
  set_codec_data(codec, video.codec_data);
  codec.codec_tag = tag_for(codec, kind);
  const ColourTags colour = encoded_colour(video, input != nullptr ? input->codecpar : nullptr);
  codec.color_range = colour.range;
  codec.color_space = colour.matrix;
  codec.color_trc = colour.transfer;
  codec.color_primaries = colour.primaries;
  stream->avg_frame_rate = stream->r_frame_rate = to_av(video.frame_rate);
  if (input == nullptr) {
    stream->disposition = AV_DISPOSITION_DEFAULT;
    return *stream;
  }
  // For webm the pictures were turned, and their chroma with them.
  const bool turned =
      kind == ContainerKind::webm && !side_data(*input, AV_PKT_DATA_DISPLAYMATRIX).empty();
  if (!turned) codec.chroma_location = input->codecpar->chroma_location;
  stream->disposition = input->disposition;
  if (input->avg_frame_rate.num > 0) stream->avg_frame_rate = input->avg_frame_rate;
  if (input->r_frame_rate.num > 0) stream->r_frame_rate = input->r_frame_rate;
  copy_tags(*stream, *input);
  std::vector<AVPacketSideDataType> left_out;
  if (kind == ContainerKind::webm) left_out.push_back(AV_PKT_DATA_DISPLAYMATRIX);
  if (!keeps_stereo_layout(*input, kind)) {
    left_out.push_back(AV_PKT_DATA_STEREO3D);
    av_dict_set(&stream->metadata, "stereo_mode", nullptr, 0);  // The muxer reads this, too.
  }
  copy_picture_side_data(*stream, *input, left_out);
  return *stream;
}

}  // namespace equalux
