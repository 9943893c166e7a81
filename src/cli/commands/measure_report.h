#pragma once

#include <string>
#include <vector>

#include <equalux/image.h>

#include "src/plot/figure.h"
#include "src/quality/clip_meter.h"

/// Reports of `equalux measure` for a clip or a pair.
namespace equalux::cli {

struct MeasuredClip {
  std::string a;  ///< name of the input
  std::string b;  ///< name of the second input; empty for one clip
  int width = 0;
  int height = 0;
  std::string note;  ///< remark, "B goes on after them"; empty = none
  quality::ClipFigures figures;
};

/// Returns a line about the clips and a Markdown table with a row for each figure.
[[nodiscard]] std::string measure_table(const MeasuredClip& clip);

/// Returns one JSON object with the same figures, and those of every frame. Figures that could not
/// be measured are absent.
[[nodiscard]] std::string measure_json(const MeasuredClip& clip);

/// Returns the plots of figures over time.
[[nodiscard]] std::vector<plot::Panel> measure_panels(const MeasuredClip& clip);

}  // namespace equalux::cli
