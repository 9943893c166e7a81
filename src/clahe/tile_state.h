#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/equalize/tone_control.h"

/// The temporal state of all tiles as JSON text, the same for both backends.
///
/// Every tile finds cuts for itself. At a hard cut nearly all of them do. Where one doesn't, what
/// it shows did not change, and its curve need not either; and where something fills one tile at
/// once, only that tile's curve has nothing to do with what it shows any more: the others, of the
/// same scene as before, would jump without a reason.
namespace equalux {

/// "{}" without a time constant. `histories` are row after row, `control` is what all tiles share.
[[nodiscard]] std::string save_tiles(const ClaheParams& params, const tone::Control& control,
                                     const std::vector<tone::History>& histories, int max_value);

/// What save_tiles() wrote; nothing without a time constant. Throws Error(usage) where the text is
/// nothing of the kind, or of other tiles or levels.
void load_tiles(std::string_view state, const ClaheParams& params, tone::Control& control,
                std::vector<tone::History>& histories, int max_value);

}  // namespace equalux
