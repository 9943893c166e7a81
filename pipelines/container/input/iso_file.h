#pragma once

#include <optional>
#include <string>

/// What an mp4 or mov says and libavformat does not hand on.
namespace equalux {

/// The "clean aperture" of a video: QuickTime has a mode that shows no more than this part of the
/// pictures' middle. Other players show them whole.
struct CleanAperture {
  int width = 0;
  int height = 0;
};

/// The clean aperture of the file's first video. Nothing where it has none, or where the file
/// cannot be read.
[[nodiscard]] std::optional<CleanAperture> iso_clean_aperture(const std::string& path);

/// True where its tags stand under names of their own, as phones and `ffmpeg -movflags
/// use_metadata_tags` write them: only so any tag at all has a place.
[[nodiscard]] bool iso_has_named_tags(const std::string& path);

}  // namespace equalux
