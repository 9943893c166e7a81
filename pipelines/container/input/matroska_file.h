#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipelines/container/input/file_bytes.h"

/// What a Matroska file says and libavformat does not hand on.
namespace equalux {

/// Where the content of an element lies.
struct ElementPlace {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
};
/// The place of the element that describes the tracks, which may stand behind the pictures;
/// `behind_pictures` looks there, too.
[[nodiscard]] std::optional<ElementPlace> find_tracks(FileBytes& file, bool behind_pictures);

/// What of the stored pictures is meant to be shown, and how large.
struct ShownPart {
  // Pixels at the edges that are not.
  std::uint64_t left = 0;
  std::uint64_t top = 0;
  std::uint64_t right = 0;
  std::uint64_t bottom = 0;
  /// A size whose sides have the ratio of the rest's, in units that do not matter; 0 = not said.
  std::uint64_t display_width = 0;
  std::uint64_t display_height = 0;
  [[nodiscard]] bool is_cropped() const { return left + top + right + bottom > 0; }
};

/// The part of a Matroska file's first video that is shown. Nothing where it has none, or where the
/// file cannot be read.
[[nodiscard]] std::optional<ShownPart> matroska_shown_part(const std::string& path);

/// What a walk over every element of a Matroska file finds. It looks at heads alone: what the
/// pictures hold is their decoder's to judge.
struct MatroskaSurvey {
  std::uint64_t video_blocks = 0;  ///< packets of the first video
  /// "is damaged between 1.20 s and 2.36 s: 512 bytes from byte 90210 on cannot be read"; empty
  /// where one element follows the other up to the end.
  std::string damage;
};
/// Reads a few bytes of each element. Nothing for a file of another kind.
[[nodiscard]] std::optional<MatroskaSurvey> survey_matroska(const std::string& path);

}  // namespace equalux
