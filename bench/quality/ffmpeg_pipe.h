#pragma once

#include <functional>
#include <string>

#include <equalux/image.h>

/// FFmpeg's filters, run by its program.
namespace equalux::bench {

/// Returns the first line of `ffmpeg -version`; empty where the program is not installed.
[[nodiscard]] std::string ffmpeg_version();

/// Sends `frames` bgr frames of `desc` through `ffmpeg -vf FILTERS` at 30 frames per second, with a
/// writer in a thread of its own. `draw` fills a frame (called in that thread), `take` receives
/// each result. Throws std::runtime_error where ffmpeg fails or gives fewer frames.
void filter_by_ffmpeg(const std::string& filters, const ImageDesc& desc, int frames,
                      const std::function<void(int, const ImageView&)>& draw,
                      const std::function<void(int, const ConstImageView&)>& take);

}  // namespace equalux::bench
