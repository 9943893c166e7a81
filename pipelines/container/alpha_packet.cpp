#include "pipelines/container/alpha_packet.h"

#include <cstdint>
#include <cstring>
#include <new>

extern "C" {
#include <libavutil/intreadwrite.h>
}

namespace equalux {
namespace {

/// Bytes that libavformat puts in front of a BlockAdditional's data, to hold its number.
constexpr std::size_t kNumberBytes = 8;
constexpr std::uint64_t kAlpha = 1;

}  // namespace

bool has_alpha_packets(const AVStream& stream) {
  const AVCodecID codec = stream.codecpar->codec_id;
  // libavformat sets alpha_mode for other codecs, too, whose pictures carry transparency
  // themselves.
  return (codec == AV_CODEC_ID_VP8 || codec == AV_CODEC_ID_VP9) &&
         tag_of(stream.metadata, "alpha_mode") == "1";
}

std::span<const std::byte> alpha_packet(const AVPacket& packet) {
  std::size_t size = 0;
  const std::uint8_t* data =
      av_packet_get_side_data(&packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, &size);
  if (data == nullptr || size <= kNumberBytes || AV_RB64(data) != kAlpha) return {};
  return {reinterpret_cast<const std::byte*>(data + kNumberBytes), size - kNumberBytes};
}

void set_alpha_packet(AVPacket& packet, std::span<const std::byte> alpha) {
  std::uint8_t* data = av_packet_new_side_data(&packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL,
                                               kNumberBytes + alpha.size());
  if (data == nullptr) throw std::bad_alloc();
  AV_WB64(data, kAlpha);
  std::memcpy(data + kNumberBytes, alpha.data(), alpha.size());
}

}  // namespace equalux
