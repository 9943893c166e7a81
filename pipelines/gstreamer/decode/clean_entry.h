#pragma once

#include <cstdint>
#include <span>

#include "pipelines/container/av_handles.h"

/// Places in a stream where decoding may begin and give exactly the pictures that it gives from the
/// stream's start.
namespace equalux::gst {

/// Ways in which decoding may enter a codec's streams.
enum class Entry : std::uint8_t {
  none,       ///< only at their start, since nothing is known about later places
  packet,     ///< at any key packet; earlier packets have no influence
  after_one,  ///< at a key packet, if the decoder has first seen as many packets as lie between two
              ///< of them: before that it may not know how many pictures are reordered
};
[[nodiscard]] Entry entry_of(const AVCodecParameters& codec);

/// Returns true where all pictures shown after this packet's refer to nothing before it. Containers
/// also mark other packets as key packets: pictures of open GOPs in H.264, and the beginning of an
/// intra refresh.
[[nodiscard]] bool is_clean_entry(const AVCodecParameters& codec, const AVPacket& packet);

}  // namespace equalux::gst
