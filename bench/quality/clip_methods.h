#pragma once

#include <functional>
#include <string>
#include <vector>

#include <equalux/image.h>

/// Methods to which a clip can be put: our filters and those of others.
namespace equalux::bench {

/// A clip whose frames can be drawn in any order, repeatedly, from any thread.
struct Clip {
  ImageDesc desc;  ///< bgr
  int frames = 0;
  std::function<void(int, const ImageView&)> draw;
};

/// Receives each frame's number, the frame, and its result.
using TakeResult =
    std::function<void(int, const ConstImageView& original, const ConstImageView& result)>;

struct Method {
  std::string name;  ///< as in tables
  std::string how;   ///< what was run: filter specs, FFmpeg's filters
  bool plotted;      ///< has a line in the plots, which have room for eight
  std::function<void(const Clip&, const TakeResult&)> run;
};

/// Returns all methods of this build and machine, the untouched clip first. Reports on stderr what
/// is left out.
[[nodiscard]] std::vector<Method> clip_methods();

}  // namespace equalux::bench
