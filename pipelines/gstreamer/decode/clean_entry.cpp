#include "pipelines/gstreamer/decode/clean_entry.h"

#include <cstddef>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "pipelines/container/alpha_packet.h"

namespace equalux::gst {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// Types of NAL units, ITU-T H.264 table 7-1 and H.265 table 7-1.
constexpr int kLastH264Slice = 5;  // the slice of an IDR picture
constexpr int kLastH265Slice = 31;
constexpr int kFirstH265Entry = 16;
constexpr int kLastH265Entry = 21;

/// Returns the type of a slice's first unit; -1 where there is none.
int kind_of(Bytes unit, bool h265) {
  if (unit.empty()) return -1;
  const int kind = h265 ? unit[0] >> 1 & 0x3F : unit[0] & 0x1F;
  const bool slice = h265 ? kind <= kLastH265Slice : kind >= 1 && kind <= kLastH264Slice;
  return slice ? kind : -1;
}

/// Returns the type of the first slice among units with length prefixes, as in mp4 and Matroska.
int first_slice_by_length(Bytes data, std::size_t length_bytes, bool h265) {
  while (data.size() > length_bytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i)
      length = length << 8U | data[i];
    data = data.subspan(length_bytes);
    if (length > data.size()) return -1;
    if (const int kind = kind_of(data.first(length), h265); kind >= 0) return kind;
    data = data.subspan(length);
  }
  return -1;
}

/// Returns the type of the first slice among units with start codes.
int first_slice_by_code(Bytes data, bool h265) {
  for (std::size_t i = 0; i + 3 < data.size(); ++i) {
    if (data[i] != 0 || data[i + 1] != 0 || data[i + 2] != 1) continue;
    if (const int kind = kind_of(data.subspan(i + 3), h265); kind >= 0) return kind;
  }
  return -1;
}

bool enters_h26x(const AVCodecParameters& codec, Bytes data, bool h265) {
  const Bytes head(codec.extradata, static_cast<std::size_t>(codec.extradata_size));
  const std::size_t at = h265 ? 21 : 4;  // byte of hvcC and avcC with the size of length prefixes
  const bool by_length = head.size() > at && head[0] == 1;
  const int kind = by_length ? first_slice_by_length(data, (head[at] & 3U) + 1U, h265)
                             : first_slice_by_code(data, h265);
  return h265 ? kind >= kFirstH265Entry && kind <= kLastH265Entry : kind == kLastH264Slice;
}

bool enters_vp9(Bytes data) {
  if (data.empty() || data[0] >> 6 != 2) return false;
  // Fields of the head: the profile's bits, low one first, one more bit in profile 3; then a flag
  // for showing an earlier picture again; then the frame type.
  const unsigned profile = (data[0] >> 5 & 1U) | (data[0] >> 3 & 2U);
  const unsigned bits = profile == 3 ? data[0] >> 1 & 3U : data[0] >> 2 & 3U;
  return bits == 0;
}

bool enters_vp8(Bytes data) {
  return !data.empty() && (data[0] & 1U) == 0;
}

/// Returns the packet of transparency, which has key frames of its own.
Bytes alpha_of(const AVPacket& packet) {
  const std::span<const std::byte> alpha = alpha_packet(packet);
  return {reinterpret_cast<const std::uint8_t*>(alpha.data()), alpha.size()};
}

}  // namespace

Entry entry_of(const AVCodecParameters& codec) {
  switch (codec.codec_id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
      return Entry::after_one;
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_FFV1:
      return Entry::packet;
    default: {
      const AVCodecDescriptor* kind = avcodec_descriptor_get(codec.codec_id);
      const bool alone = kind != nullptr && (kind->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
      return alone ? Entry::packet : Entry::none;
    }
  }
}

bool is_clean_entry(const AVCodecParameters& codec, const AVPacket& packet) {
  if ((packet.flags & AV_PKT_FLAG_KEY) == 0 || packet.size <= 0) return false;
  const Bytes data(packet.data, static_cast<std::size_t>(packet.size));
  const Bytes alpha = alpha_of(packet);
  switch (codec.codec_id) {
    case AV_CODEC_ID_H264:
      return enters_h26x(codec, data, false);
    case AV_CODEC_ID_HEVC:
      return enters_h26x(codec, data, true);
    case AV_CODEC_ID_VP8:
      return enters_vp8(data) && (alpha.empty() || enters_vp8(alpha));
    case AV_CODEC_ID_VP9:
      return enters_vp9(data) && (alpha.empty() || enters_vp9(alpha));
    default:
      return entry_of(codec) == Entry::packet;
  }
}

}  // namespace equalux::gst
