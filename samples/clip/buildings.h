// The light of the harbour shot, and the row of houses and lamps on its quay.
#pragma once

#include "paint.h"

namespace clip {

// What changes from frame to frame for the whole shot.
struct Dusk {
  explicit Dusk(float seconds);

  // 0 before lamp (or window) `i` is lit, 1 after.
  [[nodiscard]] float lamp(int i) const;
  // What the lamps alone, or lamps and sky, throw on something at a screen position.
  [[nodiscard]] Color lamp_light(float x, float y) const;
  [[nodiscard]] Color light(float x, float y) const;

  float t;    // seconds
  float pan;  // pixels the near layers have moved to the left
  float day;  // brightness of the sky
};

void paint_houses(Canvas& canvas, const Dusk& dusk);
void paint_lamps(Canvas& canvas, const Dusk& dusk);

}  // namespace clip
