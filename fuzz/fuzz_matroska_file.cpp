// Tests the heads of Matroska files, and the walk over their elements.
#include "fuzz/memory_file.h"
#include "pipelines/container/input/declared_size.h"
#include "pipelines/container/input/matroska_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  static const fuzz::Folder folder;
  const std::string path = folder.file("in.mkv", fuzz::text_of(data, size));
  if (const auto missing = missing_bytes(path)) {
    fuzz::require(missing->present == size && missing->declared > size,
                  "what is missing is behind the end", describe(*missing));
  }
  FileBytes file(path);
  if (const auto tracks = find_tracks(file, true))
    fuzz::require(tracks->position <= size, "the tracks begin within the file");
  const auto shown = matroska_shown_part(path);
  fuzz::require(!shown || (shown->display_width == 0) == (shown->display_height == 0),
                "a size to show has two sides or none");
  const auto survey = survey_matroska(path);
  if (!survey) return 0;
  fuzz::require(survey->video_blocks <= size / 6, "a block has a head and a time");
  fuzz::require(survey->damage.empty() || survey->damage.starts_with("is damaged"),
                "damage is said in words", survey->damage);
  return 0;
}
