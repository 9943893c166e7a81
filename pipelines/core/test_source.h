#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pipelines/core/source.h"

/// `test:WxH@FPS`: an endless moving picture of low contrast, the same in every run.
namespace equalux {

/// Parameters of `test:`.
struct TestPattern {
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
  Rational frame_rate{30, 1};
};

/// Parses "WxH@FPS" with FPS as "30", "29.97" or "30000/1001"; "@FPS" may be missing. Throws
/// Error(usage).
[[nodiscard]] TestPattern parse_test_pattern(std::string_view text);

/// Makes a source that gives frames as fast as they are taken; only RunOptions::max_frames or a
/// stop ends it. Frames point into one picture of the source, through a window that moves, so that
/// a frame costs nothing.
[[nodiscard]] std::unique_ptr<Source> make_test_source(const TestPattern& pattern);

}  // namespace equalux
