#pragma once

#include <cstdint>
#include <vector>

#include "pipelines/live/live_monitor.h"

/// Frames as a browser can show them.
namespace equalux {

/// A JPEG of a frame of any format, no wider than `width` pixels and never enlarged.
[[nodiscard]] std::vector<std::uint8_t> jpeg_of(const ConstImageView& frame, FieldOrder field_order,
                                                int width);

/// {"before":[256],"after":[256],"curve":[256]}: pixels of each V before and after the filters, and
/// the mean V after of those whose V before is the index, null where there is none. Empty arrays
/// where the two differ in size.
[[nodiscard]] nlohmann::json tones_of(const PicturePair& pair);

}  // namespace equalux
