#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/equalize/tone/tone_control.h"

/// Temporal state of all tiles as JSON text, the same for both backends.
///
/// Every tile detects cuts for itself. At a hard cut nearly all of them do; a tile that does not
/// shows what it showed before and can keep its curve. Where something fills one tile at once, only
/// that tile starts anew: the others still show the same scene and would jump without reason.
namespace equalux {

/// Returns the state, "{}" without a time constant. `histories` are row by row; `control` is common
/// to all tiles.
[[nodiscard]] std::string save_tiles(const ClaheParams& params, const tone::Control& control,
                                     const std::vector<tone::History>& histories, int max_value);

/// Restores a state of save_tiles(), which is {} without a time constant. Throws Error(usage) where
/// the text is no such state, or of other tiles or levels.
void load_tiles(std::string_view state, const ClaheParams& params, tone::Control& control,
                std::vector<tone::History>& histories, int max_value);

}  // namespace equalux
