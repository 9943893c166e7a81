#pragma once

#include "av_handles.h"
#include "container.h"

/// Colour tags: from GStreamer's spelling, and from the input's, to libav's.
namespace equalux {

/// libav's four tags.
struct ColourTags {
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
  AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
};

/// From GStreamer's colorimetry string: a name ("bt709") or "range:matrix:transfer:primaries" in
/// GStreamer's numbers. What it does not say stays unspecified.
[[nodiscard]] ColourTags colour_tags_from(const std::string& colorimetry);

/// The tags of the encoded video: the input's own (`input` may be null) as far as they still
/// hold for what was encoded, otherwise the encoder's.
[[nodiscard]] ColourTags encoded_colour(const EncodedVideoFormat& video,
                                        const AVCodecParameters* input);

/// Makes tags unspecified whose number no enumerator of libav has: it hands on what a broken header
/// says, and such a number must not even be read as an enumeration.
void forget_unknown_tags(AVCodecParameters& codec);

}  // namespace equalux
