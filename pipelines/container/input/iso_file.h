#pragma once

#include <optional>
#include <string>

/// Properties of mp4 and mov files that libavformat does not pass on.
namespace equalux {

/// The "clean aperture" of a video. QuickTime has a mode that shows only this central part of the
/// pictures; other players show them whole.
struct CleanAperture {
  int width = 0;
  int height = 0;
};

/// Reads the clean aperture of the file's first video. Nothing where it has none, or where the file
/// cannot be read.
[[nodiscard]] std::optional<CleanAperture> iso_clean_aperture(const std::string& path);

/// Returns true where the file's tags have names of their own, as phones and `ffmpeg -movflags
/// use_metadata_tags` write them. Only in this form can a file hold any tag.
[[nodiscard]] bool iso_has_named_tags(const std::string& path);

}  // namespace equalux
