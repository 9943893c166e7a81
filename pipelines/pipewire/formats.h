#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/image.h>
#include <spa/param/video/raw.h>
#include <spa/pod/builder.h>

#include "pipelines/core/source.h"

/// Frames in the terms of PipeWire.
namespace equalux::pipewire {

/// Raw video as two ends agree on it.
struct VideoFormat {
  ImageDesc desc;
  Rational rate;  ///< 0/1 = as frames come
};

[[nodiscard]] spa_video_format spa_format_of(PixelFormat format);
[[nodiscard]] std::optional<PixelFormat> pixel_format_of(spa_video_format format);

/// How frames lie in one block of memory: planes behind one another, rows of multiples of four
/// bytes, as programs take it that are told the size alone.
[[nodiscard]] ImageLayout block_layout(const ImageDesc& desc);

/// The formats in which a camera offers frames of `desc`: their own, where programs know it, then
/// NV12, I420, YUY2, RGB and BGRx. Empty for what is no picture.
[[nodiscard]] std::vector<ImageDesc> offered_formats(const ImageDesc& desc);

/// Parameters of a stream, in the builder's memory; `id` is SPA_PARAM_EnumFormat or
/// SPA_PARAM_Format. The rate is offered up to at least 30 a second: programs ask for that.
[[nodiscard]] const spa_pod* build_format(spa_pod_builder& builder, std::uint32_t id,
                                          const VideoFormat& format);
/// Buffers of one block for frames of `desc`.
[[nodiscard]] const spa_pod* build_buffers(spa_pod_builder& builder, const ImageDesc& desc);
/// The header that has a frame's time.
[[nodiscard]] const spa_pod* build_header(spa_pod_builder& builder);

/// What was agreed on, of a parameter SPA_PARAM_Format; nothing where it is no raw video that is
/// known. Matrix and range where it names none are those of `usual`.
[[nodiscard]] std::optional<VideoFormat> parse_format(const spa_pod* format,
                                                      const ImageDesc& usual);

}  // namespace equalux::pipewire
