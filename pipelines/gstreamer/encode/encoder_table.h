#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gst/video/video.h>

#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// What we know of each encoder: its element, its scale of quality, and the pictures it takes.
namespace equalux::gst {

/// A scale of quality, as `--quality` reads it.
struct QualityScale {
  int best = 0;
  int worst = 0;
  int standard = 0;  ///< the default
};

/// Where an encoder puts transparency.
enum class AlphaForm : std::uint8_t {
  none,           ///< it loses it, or there is none
  in_picture,     ///< a fourth sample or plane of its pictures
  second_stream,  ///< the luma of a second stream, packet for packet, in a Matroska file
};

/// One row of the table. Settings are `property=value` pairs; {q} is the quality, {slices} what
/// slices_for() says, {gop} how many frames there are from one key frame to the next.
struct EncoderSpec {
  std::string_view name;     ///< ours
  std::string_view element;  ///< GStreamer's
  std::string_view codec;    ///< libavcodec's
  std::string_view title;    ///< one line for a list
  std::optional<QualityScale> quality = std::nullopt;
  std::string_view settings{};
  /// Settings on top of these where the CPU has AVX-512: x264's code for it (r3095) reads memory
  /// that it did not write, and the same frames become other streams.
  std::string_view settings_with_avx512{};
  /// Settings on top of these for a stream that is watched as it is made: a packet for each frame
  /// at once.
  std::string_view live{};
  std::string_view lossless{};  ///< settings in place of those; empty = cannot
  bool always_lossless = false;
  std::vector<GstVideoFormat> formats;  ///< it takes, in order of preference
  AlphaForm alpha = AlphaForm::none;    ///< what it has for some formats; see alpha_form()
  std::string_view parser{};            ///< element behind it, or empty
  std::string_view stream_caps;         ///< what the container wants
  int smallest_side = 1;
  bool even_chroma_only = false;  ///< subsampled pictures must have even sides
  bool full_range_only = false;   ///< its players take every stream for full range
  bool even_stamps = false;       ///< stumbles over variable rates: is fed with even ones
};

/// Every row, the default first.
[[nodiscard]] const std::vector<EncoderSpec>& encoder_specs();

/// The row of that name. Throws Error(usage) that lists the names.
[[nodiscard]] const EncoderSpec& encoder_spec(std::string_view name);

/// The layout that pictures of `info` are encoded in: the same one, or one of the same
/// subsampling and depth; RGB where the encoder keeps it, else 4:2:0. Throws Error(usage) where
/// this would cost chroma, bits or, with `lossless`, anything; and for sizes that the encoder
/// cannot take.
[[nodiscard]] GstVideoFormat choose_encoded_format(const EncoderSpec& spec, const StreamInfo& info,
                                                   bool lossless);

/// Where an encoder puts the transparency of pictures of `info`.
[[nodiscard]] AlphaForm alpha_form(const EncoderSpec& spec, const StreamInfo& info);

/// The row of the GPU's encoder where it is there and takes such pictures with nothing lost that
/// the default encoder keeps; else null.
[[nodiscard]] const EncoderSpec* gpu_encoder(const StreamInfo& info);

/// The number of slices in which libav's FFV1 encoder takes a picture of such chroma: four, or the
/// next number that its size allows, one for sides below 16; 0 = it has to find one by itself.
[[nodiscard]] int slices_for(int width, int height, int chroma_shift_x, int chroma_shift_y);

/// The layout that pictures of `info` are streamed in: 8-bit 4:2:0, which every player takes.
/// Throws Error(usage) for sizes that the encoder cannot take.
[[nodiscard]] GstVideoFormat choose_streamed_format(const EncoderSpec& spec,
                                                    const StreamInfo& info);

/// The element, set up for pictures of that size, encoded in `format`; with `key_distance`, frames
/// between key frames, for a stream that is watched as it is made. Throws Error(unavailable).
[[nodiscard]] ElementPtr make_encoder(const EncoderSpec& spec, const ImageDesc& desc,
                                      GstVideoFormat format, std::optional<int> quality,
                                      bool lossless, std::optional<int> key_distance = {});

}  // namespace equalux::gst
