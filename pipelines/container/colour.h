#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/output/writer.h"

/// Colour tags: from GStreamer's spelling, and from the input's, to libav's.
namespace equalux {

/// libav's four tags.
struct ColourTags {
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
  AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
  friend bool operator==(const ColourTags&, const ColourTags&) = default;
};

/// Reads GStreamer's colorimetry string: a name ("bt709") or "range:matrix:transfer:primaries" in
/// GStreamer's numbers. What it does not say stays unspecified.
[[nodiscard]] ColourTags colour_tags_from(const std::string& colorimetry);

/// The tags of the encoded video: the input's own (`input` may be null) as far as they still hold
/// for what was encoded; what it does not say stays unsaid, unless it was chosen here.
[[nodiscard]] ColourTags encoded_colour(const EncodedVideoFormat& video,
                                        const AVCodecParameters* input);

/// Brings the tags that an encoder wrote into its H.264 or H.265 stream in line with the
/// container's: GStreamer has no names for some, and none for no matrix at all.
class HeadTags {
 public:
  HeadTags() = default;
  /// Rewrites the head (avcC, hvcC) of `codec`, where its tags are not those that the encoder was
  /// told (GStreamer's string; empty = it is left alone).
  HeadTags(AVCodecParameters& codec, const std::string& encoder_colorimetry);
  /// True where a packet, of units behind 4 bytes of length, holds the head once more: `result` is
  /// the packet to write then.
  [[nodiscard]] bool rewrite(std::span<const std::byte> packet,
                             std::vector<std::byte>& result) const;

 private:
  std::vector<std::pair<std::vector<std::uint8_t>, std::vector<std::uint8_t>>> units_;
};

/// Makes tags unspecified whose number no enumerator of libav has: it hands on what a broken header
/// says, and such a number must not even be read as an enumeration.
void forget_unknown_tags(AVCodecParameters& codec);

}  // namespace equalux
