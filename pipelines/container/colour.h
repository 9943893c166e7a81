#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/output/writer.h"

/// Translation of colour tags from GStreamer's spelling, and from the input's tags, to libav's.
namespace equalux {

/// The four colour tags of libav.
struct ColourTags {
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
  AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
  friend bool operator==(const ColourTags&, const ColourTags&) = default;
};

/// Parses GStreamer's colorimetry string: a name ("bt709") or "range:matrix:transfer:primaries" in
/// GStreamer's numbers. Tags that it does not give stay unspecified.
[[nodiscard]] ColourTags colour_tags_from(const std::string& colorimetry);

/// Returns the tags of the encoded video: the input's own (`input` may be null) as far as they
/// still hold after encoding. Tags that the input leaves unspecified stay so, unless they were
/// chosen here.
[[nodiscard]] ColourTags encoded_colour(const EncodedVideoFormat& video,
                                        const AVCodecParameters* input);

/// Corrects the colour tags that an encoder wrote into its H.264, H.265 or VP9 stream, so that they
/// agree with the container's: GStreamer has no names for some of them, nor for an unspecified
/// matrix, and its VP9 encoder knows a matrix only beside primaries and a transfer of the same
/// standard.
class HeadTags {
 public:
  HeadTags() = default;
  /// Rewrites the head (avcC, hvcC) of `codec` if its tags differ from those given to the encoder
  /// (`encoder_colorimetry`, GStreamer's string; empty = leave the head alone). VP9 has no head.
  HeadTags(AVCodecParameters& codec, const std::string& encoder_colorimetry);
  /// Returns true where a packet, in H.264 and H.265 made of units with 4-byte lengths, repeats the
  /// head or has tags of its own: then `result` is the packet to write instead.
  [[nodiscard]] bool rewrite(std::span<const std::byte> packet,
                             std::vector<std::byte>& result) const;

 private:
  std::vector<std::pair<std::vector<std::uint8_t>, std::vector<std::uint8_t>>> units_;
  std::optional<unsigned> vp9_matrix_;  // color_space of VP9's key frames
};

/// Sets tags to unspecified whose number no enumerator of libav has. libav passes on what a broken
/// header holds, and reading such a number as an enumeration is undefined.
void forget_unknown_tags(AVCodecParameters& codec);

}  // namespace equalux
