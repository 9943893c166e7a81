#pragma once

#include <string>
#include <string_view>

#include "pipelines/core/source.h"

/// The text parts of YUV4MPEG2: the stream header and the line before each frame. Chroma tags are
/// passed on in StreamInfo::chroma_site: C420jpeg as "jpeg", C420mpeg2 as "mpeg2", C420paldv as
/// "dv", plain C420 as none.
namespace equalux {

/// Longest line that is read; real ones have less than 100 characters.
inline constexpr std::size_t kY4mHeaderLimit = 4096;
inline constexpr std::size_t kY4mFrameLineLimit = 1024;

/// Parses a stream header (without its newline). `name` is for messages. An unknown frame rate
/// becomes 25, as in other readers; a stream without a colour range is limited, mono is full. Sizes
/// are checked here, before memory is allocated. Throws Error(bad_input).
[[nodiscard]] StreamInfo parse_y4m_header(std::string_view line, const std::string& name);

/// Parses the line before a frame. In a stream of mixed fields (`Im`) it may have the frame's own
/// field order; otherwise that is `stream_order`. Throws Error(bad_input) where it is no such line.
[[nodiscard]] FieldOrder parse_y4m_frame_line(std::string_view line, FieldOrder stream_order,
                                              const std::string& name);

/// Builds the stream header, with its newline. NV12 is written as C420, packed 4:2:2 as C422, P010
/// as C420p10. Throws Error(usage) for formats that YUV4MPEG2 cannot store; `name` is for messages.
[[nodiscard]] std::string format_y4m_header(const StreamInfo& info, const std::string& name);

}  // namespace equalux
