#pragma once

#include <cstddef>
#include <span>

#include "pipelines/container/av_handles.h"

/// Transparency of VP8 and VP9 in Matroska and webm: each packet is accompanied by a second one of
/// the same codec, whose luma is the transparency. Matroska calls it a BlockAdditional, with number
/// 1.
namespace equalux {

/// Returns true for a video whose packets are accompanied by packets of transparency.
[[nodiscard]] bool has_alpha_packets(const AVStream& stream);

/// Returns the transparency that accompanies a packet; empty where there is none.
[[nodiscard]] std::span<const std::byte> alpha_packet(const AVPacket& packet);
/// Attaches transparency to a packet. Throws std::bad_alloc.
void set_alpha_packet(AVPacket& packet, std::span<const std::byte> alpha);

}  // namespace equalux
