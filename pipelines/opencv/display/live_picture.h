#pragma once

#include <cstdint>
#include <vector>

#include "pipelines/live/live_monitor.h"

/// Frames in forms that a browser can show.
namespace equalux {

/// Encodes frames of any format as a JPEG, at most `form.width` pixels wide and never enlarged; of
/// both views side by side, before on the left, scaled to the size of after where they differ.
[[nodiscard]] std::vector<std::uint8_t> jpeg_of(const PicturePair& pair, const PictureForm& form);

/// Returns {"before":[256],"after":[256],"curve":[256]}: number of pixels of each V before and
/// after the filters, and the mean V after of the pixels whose V before is the index, null where
/// there are none. Empty arrays where the two differ in size.
[[nodiscard]] nlohmann::json tones_of(const PicturePair& pair);

}  // namespace equalux
