#pragma once

#include <cstdint>
#include <span>

#include "pipelines/container/av_handles.h"

/// Where decoding may begin in the middle of a stream and give the very pictures that it gives from
/// the stream's start on.
namespace equalux::gst {

/// How a codec's streams are entered.
enum class Entry : std::uint8_t {
  none,       ///< nobody knows: from their start alone
  packet,     ///< by any key packet, which says nothing but itself
  after_one,  ///< by a key packet, once a decoder has seen as much as between two of them: until
              ///< then it may not know how far pictures change their order
};
[[nodiscard]] Entry entry_of(const AVCodecParameters& codec);

/// Whether pictures that are shown behind this packet's refer to nothing before it. Containers mark
/// more as key packets: pictures of open groups in H.264, and where an intra refresh begins.
[[nodiscard]] bool is_clean_entry(const AVCodecParameters& codec, const AVPacket& packet);

}  // namespace equalux::gst
