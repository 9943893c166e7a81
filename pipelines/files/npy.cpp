#include "pipelines/files/npy.h"

#include <bit>

#include <equalux/error.h>

#include "pipelines/files/partial_file.h"

namespace equalux {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are written as they lie");

/// Magic, version, length and a Python dictionary, together a multiple of 64 bytes.
std::string header(const ImageDesc& desc) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kBeforeText = 10;
  const std::string planes = traits(desc.format).planes == 1 ? "" : "2, ";
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + planes +
                     std::to_string(desc.height) + ", " + std::to_string(desc.width) + "), }";
  while ((kBeforeText + text.size() + 1) % kAlignment != 0)
    text += ' ';
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() % 256);
  bytes += static_cast<char>(text.size() / 256);
  return bytes + text;
}

}  // namespace

void write_npy(const std::string& path, const ConstImageView& image) {
  const FormatTraits& form = traits(image.desc.format);
  if (form.model != ColorModel::real) {
    throw Error(ExitCode::usage, path + ": holds floats, not " + std::string(form.name));
  }
  PartialFile file(path);
  const std::string head = header(image.desc);
  file.write(head.data(), head.size());
  for (int p = 0; p < form.planes; ++p) {
    for (int y = 0; y < image.desc.height; ++y)
      file.write(image.row(p, y), row_bytes(image.desc, p));
  }
  file.commit();
}

}  // namespace equalux
