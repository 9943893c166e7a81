#pragma once

#include <functional>
#include <string>
#include <vector>

#include <equalux/image.h>

/// What a clip can be run through: our filters and others'.
namespace equalux::bench {

/// A clip whose frames can be had in any order, as often as wanted, from any thread.
struct Clip {
  ImageDesc desc;  ///< bgr
  int frames = 0;
  std::function<void(int, const ImageView&)> draw;
};

/// Given each frame's number, the frame, and what became of it.
using TakeResult =
    std::function<void(int, const ConstImageView& original, const ConstImageView& result)>;

struct Method {
  std::string name;  ///< as in tables
  std::string how;   ///< what ran: filter specs, FFmpeg's filters
  bool plotted;      ///< a line of the plots too, which have room for eight
  std::function<void(const Clip&, const TakeResult&)> run;
};

/// All that this build and machine have, the untouched clip first. Says on stderr what is left out.
[[nodiscard]] std::vector<Method> clip_methods();

}  // namespace equalux::bench
