// The two shots of the sample clip. Each paints one frame, `t` seconds after its own beginning.
#pragma once

#include "paint.h"

namespace clip {

inline constexpr int kHarbourFrames = 138;
inline constexpr int kReefFrames = 87;

// A harbour at dusk; its lamps and windows come on between 2 and 4 seconds.
void paint_harbour(Canvas& canvas, float t);

// Below the same boat: kelp, fish, an anchor on the sand.
void paint_reef(Canvas& canvas, float t);

}  // namespace clip
