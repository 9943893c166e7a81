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

/// Frames in the terms of PipeWire.
namespace equalux::pipewire {

/// Video as two ends agree on it.
struct VideoFormat {
  ImageDesc desc;      ///< of frames that are JPEGs: bgr, as they are decoded
  Rational rate;       ///< 0/1 = as frames come
  bool jpegs = false;  ///< each frame is a JPEG
  Rational pixel_aspect{1, 1};
};

[[nodiscard]] spa_video_format spa_format_of(PixelFormat format);
[[nodiscard]] std::optional<PixelFormat> pixel_format_of(spa_video_format format);

/// Formats as V4L2 names them.
inline constexpr std::uint32_t kJpegFourcc = fourcc('M', 'J', 'P', 'G');
[[nodiscard]] std::optional<PixelFormat> pixel_format_of_fourcc(std::uint32_t code);
/// All raw formats that are known, those that cameras have first.
[[nodiscard]] std::vector<PixelFormat> known_formats();

/// How frames lie in one block of memory: planes behind one another, rows of multiples of four
/// bytes, as programs take it that are told the size alone.
[[nodiscard]] ImageLayout block_layout(const ImageDesc& desc);

/// Memory that came, of one plane or of all behind one another.
struct Block {
  const std::uint8_t* first = nullptr;
  std::size_t bytes = 0;
  std::ptrdiff_t stride = 0;  ///< bytes; of the first plane in it; 0 = as block_layout() has it
};
/// The frame of `desc` in one block, or in as many as it has planes. Where one block has them all
/// and rows with gaps of its own, the rows of three planes are taken to be of one pitch, and
/// nothing to lie between planes, as with cameras of the kernel's. Nothing where it does not fit.
[[nodiscard]] std::optional<ConstImageView> view_in(std::span<const Block> blocks,
                                                    const ImageDesc& desc);

/// The formats in which a camera offers frames of `desc`: their own, where programs know it, then
/// NV12, I420, YUY2, RGB and BGRx. Empty for what is no picture.
[[nodiscard]] std::vector<ImageDesc> offered_formats(const ImageDesc& desc);

/// Parameters of a stream, in the builder's memory; `id` is SPA_PARAM_EnumFormat or
/// SPA_PARAM_Format. The rate is offered up to at least 30 a second: programs ask for that.
[[nodiscard]] const spa_pod* build_format(spa_pod_builder& builder, std::uint32_t id,
                                          const VideoFormat& format);
/// What a reader asks for.
struct FormatWish {
  std::optional<PixelFormat> format;  ///< nothing = JPEGs
  int width = 0;                      ///< pixels
  int height = 0;                     ///< pixels
  bool any_size = false;              ///< the size is what is liked best
  Rational rate;                      ///< frames a second; 0/1 = whatever there is
  bool any_rate = false;              ///< the rate is what is liked best
};
/// A parameter SPA_PARAM_EnumFormat, in the builder's memory.
[[nodiscard]] const spa_pod* build_wish(spa_pod_builder& builder, const FormatWish& wish);
/// Adds what a camera offers by such a parameter: each size with its fastest rate.
void add_modes(const spa_pod* format, std::vector<CameraMode>& modes);

/// Buffers as a reader takes them: of whatever size, in memory that can be mapped.
[[nodiscard]] const spa_pod* build_readers_buffers(spa_pod_builder& builder);
/// Buffers of one block for frames of `desc`.
[[nodiscard]] const spa_pod* build_buffers(spa_pod_builder& builder, const ImageDesc& desc);
/// The header that has a frame's time.
[[nodiscard]] const spa_pod* build_header(spa_pod_builder& builder);

/// What was agreed on, of a parameter SPA_PARAM_Format; nothing where it is no video that is known.
/// Matrix and range where it names none are those of `usual`.
[[nodiscard]] std::optional<VideoFormat> parse_format(const spa_pod* format,
                                                      const ImageDesc& usual);

}  // namespace equalux::pipewire
