// Tests boxes of mp4 and mov.
#include "fuzz/memory_file.h"
#include "pipelines/container/input/declared_size.h"
#include "pipelines/container/input/iso_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  static const fuzz::Folder folder;
  const std::string path = folder.file("in.mp4", fuzz::text_of(data, size));
  if (const auto missing = missing_bytes(path)) {
    fuzz::require(missing->present == size && missing->declared > size,
                  "what is missing is behind the end", describe(*missing));
  }
  if (const auto clean = iso_clean_aperture(path))
    fuzz::require(clean->width > 0 && clean->height > 0, "an aperture lets something through");
  (void)iso_has_named_tags(path);
  return 0;
}
