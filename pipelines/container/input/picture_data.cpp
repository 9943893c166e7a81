#include "pipelines/container/input/picture_data.h"

#include <string_view>

#include "pipelines/container/side_data.h"

namespace equalux {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kCaptions = 0;
constexpr std::size_t kFormat = 1;
constexpr std::size_t kHdr10Plus = 2;
constexpr std::size_t kDolbyVision = 3;
constexpr std::array<const char*, 4> kNames{"closed captions", "active format description",
                                            "HDR10+ metadata", "Dolby Vision metadata"};

/// Beginning of a message of user data.
struct Sign {
  std::size_t kind;
  std::string_view bytes;
};

/// Messages of ITU-T T.35 by country and provider, in H.264, H.265 and AV1. None of these bytes
/// needs emulation prevention.
constexpr std::array<Sign, 3> kMessages{{{kCaptions, "\xB5\x00\x31GA94\x03"sv},
                                         {kFormat,
                                          "\xB5\x00\x31"sv
                                          "DTG1"sv},
                                         {kHdr10Plus, "\xB5\x00\x3C\x00\x01\x04"sv}}};
constexpr std::array<Sign, 2> kMpeg2Messages{{{kCaptions, "\x00\x00\x01\xB2GA94\x03"sv},
                                              {kFormat,
                                               "\x00\x00\x01\xB2"
                                               "DTG1"sv}}};

bool has(const AVPacket& packet, AVPacketSideDataType type) {
  return av_packet_get_side_data(&packet, type, nullptr) != nullptr;
}

}  // namespace

bool PictureData::is_possible(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_AV1 ||
         codec == AV_CODEC_ID_MPEG2VIDEO || codec == AV_CODEC_ID_VP9;
}

void PictureData::note(const AVStream& stream) {
  if (!side_data(stream, AV_PKT_DATA_DOVI_CONF).empty()) found_[kDolbyVision] = true;
}

void PictureData::note(const AVPacket& packet) {
  const std::string_view bytes(reinterpret_cast<const char*>(packet.data),
                               static_cast<std::size_t>(packet.size));
  const auto look_for = [&](const auto& signs) {
    for (const Sign& sign : signs)
      found_[sign.kind] = found_[sign.kind] || bytes.find(sign.bytes) != std::string_view::npos;
  };
  look_for(kMessages);
  look_for(kMpeg2Messages);
  found_[kCaptions] = found_[kCaptions] || has(packet, AV_PKT_DATA_A53_CC);
  found_[kFormat] = found_[kFormat] || has(packet, AV_PKT_DATA_AFD);
  found_[kHdr10Plus] = found_[kHdr10Plus] || has(packet, AV_PKT_DATA_DYNAMIC_HDR10_PLUS);
}

std::string PictureData::text() const {
  std::string text;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (found_[kind]) text += (text.empty() ? "" : ", ") + std::string(kNames[kind]);
  }
  return text;
}

}  // namespace equalux
