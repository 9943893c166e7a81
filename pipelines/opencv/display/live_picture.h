#pragma once

#include <cstdint>
#include <vector>

#include "pipelines/live/live_monitor.h"

/// Frames as a browser can show them.
namespace equalux {

/// A JPEG of frames of any format, no wider than `form.width` pixels and never enlarged; of both
/// views side by side, before on the left, brought to the size of after where they differ.
[[nodiscard]] std::vector<std::uint8_t> jpeg_of(const PicturePair& pair, const PictureForm& form);

/// {"before":[256],"after":[256],"curve":[256]}: pixels of each V before and after the filters, and
/// the mean V after of those whose V before is the index, null where there is none. Empty arrays
/// where the two differ in size.
[[nodiscard]] nlohmann::json tones_of(const PicturePair& pair);

}  // namespace equalux
