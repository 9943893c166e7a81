#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipelines/container/input/file_bytes.h"

/// Properties of Matroska files that libavformat does not pass on.
namespace equalux {

/// Position and size of an element's content.
struct ElementPlace {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
};
/// Finds the element that describes the tracks. It may follow the pictures; `behind_pictures`
/// searches there, too.
[[nodiscard]] std::optional<ElementPlace> find_tracks(FileBytes& file, bool behind_pictures);

/// The part of the stored pictures that is meant to be shown, and its display size.
struct ShownPart {
  // Pixels at the edges that are not shown.
  std::uint64_t left = 0;
  std::uint64_t top = 0;
  std::uint64_t right = 0;
  std::uint64_t bottom = 0;
  /// Display size, of which only the ratio of the sides counts; 0 = not given.
  std::uint64_t display_width = 0;
  std::uint64_t display_height = 0;
  [[nodiscard]] bool is_cropped() const { return left + top + right + bottom > 0; }
};

/// Reads which part of a Matroska file's first video is shown. Nothing where it has no video, or
/// where the file cannot be read.
[[nodiscard]] std::optional<ShownPart> matroska_shown_part(const std::string& path);

/// Result of a walk over every element of a Matroska file. Only heads are read; whether the
/// pictures are intact is for their decoder to find out.
struct MatroskaSurvey {
  std::uint64_t video_blocks = 0;  ///< packets of the first video
  /// Description of damage, as "is damaged between 1.20 s and 2.36 s: 512 bytes from byte 90210 on
  /// cannot be read"; empty where elements follow one another up to the end.
  std::string damage;
};
/// Reads a few bytes of each element. Returns nothing for a file of another kind.
[[nodiscard]] std::optional<MatroskaSurvey> survey_matroska(const std::string& path);

}  // namespace equalux
