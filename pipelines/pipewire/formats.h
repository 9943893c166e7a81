#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <equalux/image.h>
#include <spa/param/video/raw.h>
#include <spa/pod/builder.h>

#include "pipelines/core/source.h"
#include "pipelines/live/camera_mode.h"

/// Frame formats as PipeWire describes them.
namespace equalux::pipewire {

/// A video format that two ends have negotiated.
struct VideoFormat {
  ImageDesc desc;      ///< of frames that are JPEGs: bgr, as they are decoded
  Rational rate;       ///< 0/1 = as frames come
  bool jpegs = false;  ///< each frame is a JPEG
  Rational pixel_aspect{1, 1};
};

[[nodiscard]] spa_video_format spa_format_of(PixelFormat format);
[[nodiscard]] std::optional<PixelFormat> pixel_format_of(spa_video_format format);

/// Formats by V4L2's codes.
inline constexpr std::uint32_t kJpegFourcc = fourcc('M', 'J', 'P', 'G');
[[nodiscard]] std::optional<PixelFormat> pixel_format_of_fourcc(std::uint32_t code);
/// Returns all known raw formats, those of cameras first.
[[nodiscard]] std::vector<PixelFormat> known_formats();

/// Returns the layout of frames in one block of memory: planes one after another, rows of multiples
/// of four bytes, as programs assume it that know only the size.
[[nodiscard]] ImageLayout block_layout(const ImageDesc& desc);

/// A block of memory with one plane, or with all planes one after another.
struct Block {
  const std::uint8_t* first = nullptr;
  std::size_t bytes = 0;
  std::ptrdiff_t stride = 0;  ///< bytes; of the first plane in it; 0 = as in block_layout()
};
/// Describes the frame of `desc` in one block, or in as many as it has planes. If one block has all
/// planes and its rows have another pitch, all three planes are assumed to have that pitch, without
/// gaps between them, as with cameras of the kernel. Nothing where it does not fit.
[[nodiscard]] std::optional<ConstImageView> view_in(std::span<const Block> blocks,
                                                    const ImageDesc& desc);

/// Returns the formats in which a camera offers frames of `desc`: their own, if programs know it,
/// then NV12, I420, YUY2, RGB and BGRx. Empty for float planes.
[[nodiscard]] std::vector<ImageDesc> offered_formats(const ImageDesc& desc);

/// Builds parameters of a stream, in the builder's memory; `id` is SPA_PARAM_EnumFormat or
/// SPA_PARAM_Format. The rate is offered up to at least 30 per second, which programs ask for.
[[nodiscard]] const spa_pod* build_format(spa_pod_builder& builder, std::uint32_t id,
                                          const VideoFormat& format);
/// Format that a reader asks for.
struct FormatWish {
  std::optional<PixelFormat> format;  ///< nothing = JPEGs
  int width = 0;                      ///< pixels
  int height = 0;                     ///< pixels
  bool any_size = false;              ///< the size is only preferred
  Rational rate;                      ///< frames per second; 0/1 = any
  bool any_rate = false;              ///< the rate is only preferred
};
/// Builds a parameter SPA_PARAM_EnumFormat, in the builder's memory.
[[nodiscard]] const spa_pod* build_wish(spa_pod_builder& builder, const FormatWish& wish);
/// Adds the modes that such a parameter of a camera offers: each size with its fastest rate.
void add_modes(const spa_pod* format, std::vector<CameraMode>& modes);

/// Builds a reader's buffer parameters: of any size, in memory that can be mapped.
[[nodiscard]] const spa_pod* build_readers_buffers(spa_pod_builder& builder);
/// Builds buffer parameters of one block for frames of `desc`.
[[nodiscard]] const spa_pod* build_buffers(spa_pod_builder& builder, const ImageDesc& desc);
/// Builds the parameter of the header that has a frame's time.
[[nodiscard]] const spa_pod* build_header(spa_pod_builder& builder);

/// Parses the negotiated format from a parameter SPA_PARAM_Format; nothing where it is no known
/// video. Matrix and range default to those of `usual`.
[[nodiscard]] std::optional<VideoFormat> parse_format(const spa_pod* format,
                                                      const ImageDesc& usual);

}  // namespace equalux::pipewire
