#pragma once

#include <string>

#include "tests/support/media/media_files.h"

/// The inputs of the container tests, each with everything that gets lost easily.
namespace equalux::test {

/// Matroska: H.264 with B frames, AAC and Opus, SRT, chapters, a font, cover art, a non-ASCII
/// title.
void make_rich_mkv(const TempFolder& folder, const std::string& path);
/// mp4: H.264 with B frames, AAC and FLAC, timed text, chapters, rotation by 90 degrees, cover art,
/// a creation time. The tracks start late, each at a time of its own.
void make_rich_mp4(const TempFolder& folder, const std::string& path);
/// mp4 whose frames come at no fixed rate.
void make_variable_rate_mp4(const std::string& path);
/// A plain clip of two seconds; codecs and muxer options as ffmpeg takes them.
void make_clip(const std::string& path, const std::string& options);

}  // namespace equalux::test
