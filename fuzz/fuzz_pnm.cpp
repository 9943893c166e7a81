// Tests PNM images: none is larger than its file, and one that is written and read again is the
// same.
#include <cstring>
#include <utility>

#include "fuzz/memory_file.h"
#include "pipelines/files/pnm.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  static const fuzz::Folder folder;
  const std::string path = folder.file("in.pnm", fuzz::text_of(data, size));
  Image image;
  const auto read = [&] { image = read_pnm(path); };
  if (!fuzz::accepted(ExitCode::bad_input, path + ": ", read)) return 0;
  const ImageDesc desc = image.desc();
  fuzz::require(tight_bytes(desc) <= size, "an image is no larger than its file");

  const bool gray = traits(desc.format).model == ColorModel::gray;
  const std::string copy = folder.path(gray ? "out.pgm" : "out.ppm");
  write_pnm(copy, std::as_const(image).view());
  const Image again = read_pnm(copy);
  fuzz::require(again.desc() == desc, "the same kind of image as before");
  for (int y = 0; y < desc.height; ++y) {
    fuzz::require(std::memcmp(again.view().row(0, y), std::as_const(image).view().row(0, y),
                              row_bytes(desc, 0)) == 0,
                  "the same samples as before");
  }
  return 0;
}
