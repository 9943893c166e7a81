#pragma once

#include <string>
#include <vector>

#include <equalux/image.h>

#include "src/plot/figure.h"
#include "src/quality/clip_meter.h"

/// What `equalux measure` tells of the figures of a clip or a pair.
namespace equalux::cli {

struct MeasuredClip {
  std::string a;  ///< names of the inputs
  std::string b;  ///< empty for one clip
  int width = 0;
  int height = 0;
  std::string note;  ///< what was left out, "B goes on after them"; empty = nothing
  quality::ClipFigures figures;
};

/// A line about the clips, and a Markdown table: a row for each figure.
[[nodiscard]] std::string measure_table(const MeasuredClip& clip);

/// One JSON object: the same figures, and those of every frame. What could not be measured is
/// absent.
[[nodiscard]] std::string measure_json(const MeasuredClip& clip);

/// The figures over time.
[[nodiscard]] std::vector<plot::Panel> measure_panels(const MeasuredClip& clip);

}  // namespace equalux::cli
