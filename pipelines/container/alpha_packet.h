#pragma once

#include <cstddef>
#include <span>

#include "pipelines/container/av_handles.h"

/// Transparency of VP8 and VP9 in Matroska and webm: beside each packet lies another one of the
/// same codec, whose luma it is. Matroska calls it a BlockAdditional, with number 1.
namespace equalux {

/// True for a video whose packets have such others.
[[nodiscard]] bool has_alpha_packets(const AVStream& stream);

/// The packet beside this one; empty where there is none.
[[nodiscard]] std::span<const std::byte> alpha_packet(const AVPacket& packet);
/// Throws std::bad_alloc.
void set_alpha_packet(AVPacket& packet, std::span<const std::byte> alpha);

}  // namespace equalux
