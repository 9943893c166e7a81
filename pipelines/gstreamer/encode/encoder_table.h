#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gst/video/video.h>

#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// Table of the encoders: GStreamer element, quality scale, and accepted pictures.
namespace equalux::gst {

/// A quality scale, as `--quality` uses it.
struct QualityScale {
  int best = 0;
  int worst = 0;
  int standard = 0;  ///< the default
};

/// Places in which encoders store transparency.
enum class AlphaForm : std::uint8_t {
  none,           ///< nowhere, or there is none
  in_picture,     ///< in a fourth sample or plane of its pictures
  second_stream,  ///< in the luma of a second stream, packet by packet, in a Matroska file
};

/// A row of the table. Settings are `property=value` pairs; {q} is the quality, {slices} the result
/// of slices_for(), {gop} the number of frames between key frames.
struct EncoderSpec {
  std::string_view name;     ///< our name
  std::string_view element;  ///< GStreamer's name
  std::string_view codec;    ///< libavcodec's name
  std::string_view title;    ///< one line for a list
  std::optional<QualityScale> quality = std::nullopt;
  std::string_view settings{};
  /// Additional settings where the CPU has AVX-512: x264's code for it (r3095) reads memory that it
  /// did not write, so that the same frames give different streams.
  std::string_view settings_with_avx512{};
  /// Additional settings for a stream that is watched while it is made: one packet for each frame
  /// at once.
  std::string_view live{};
  std::string_view lossless{};  ///< in place of `settings` for bit-exact video; empty = cannot
  bool always_lossless = false;
  std::vector<GstVideoFormat> formats;  ///< accepted, in order of preference
  AlphaForm alpha = AlphaForm::none;    ///< what some of the formats allow; see alpha_form()
  std::string_view parser{};            ///< element after it, or empty
  std::string_view stream_caps;         ///< caps that the container wants
  int smallest_side = 1;
  bool even_chroma_only = false;  ///< subsampled pictures must have even sides
  bool full_range_only = false;   ///< its players take every stream for full range
  bool even_stamps = false;       ///< fails at variable rates, so it gets evenly spaced times
};

/// Returns every row, the default first.
[[nodiscard]] const std::vector<EncoderSpec>& encoder_specs();

/// Returns the row of that name. Throws Error(usage) that lists the names.
[[nodiscard]] const EncoderSpec& encoder_spec(std::string_view name);

/// Describes chroma for messages: "4:2:0", "4:2:2 10-bit" and the like.
[[nodiscard]] std::string chroma_name(GstVideoFormat format);

/// Chooses the layout in which pictures of `info` are encoded: the same, or one of the same chroma
/// and depth; RGB if the encoder keeps it, else 4:2:0. Throws Error(usage) where this would lose
/// chroma, bits or, with `lossless`, anything; and for sizes that the encoder cannot take.
[[nodiscard]] GstVideoFormat choose_encoded_format(const EncoderSpec& spec, const StreamInfo& info,
                                                   bool lossless);

/// Returns where an encoder stores the transparency of pictures of `info`.
[[nodiscard]] AlphaForm alpha_form(const EncoderSpec& spec, const StreamInfo& info);

/// Returns the row of the GPU's encoder if it exists here and takes such pictures without losing
/// anything that the default encoder keeps; else null.
[[nodiscard]] const EncoderSpec* gpu_encoder(const StreamInfo& info);

/// Returns the number of slices in which libav's FFV1 encoder takes a picture of such chroma: four,
/// or the next number that its size allows, one for sides below 16; 0 = the encoder has to choose.
[[nodiscard]] int slices_for(int width, int height, int chroma_shift_x, int chroma_shift_y);

/// Chooses the layout in which pictures of `info` are streamed: 8-bit 4:2:0, which every player
/// takes. Throws Error(usage) for sizes that the encoder cannot take.
[[nodiscard]] GstVideoFormat choose_streamed_format(const EncoderSpec& spec,
                                                    const StreamInfo& info);

/// Makes the element, set up for pictures of that size, encoded in `format`; with `key_distance`,
/// the number of frames between key frames, for a stream that is watched while it is made. Throws
/// Error(unavailable).
[[nodiscard]] ElementPtr make_encoder(const EncoderSpec& spec, const ImageDesc& desc,
                                      GstVideoFormat format, std::optional<int> quality,
                                      bool lossless, std::optional<int> key_distance = {});

}  // namespace equalux::gst
