#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Pictures that a camera of the tests gives and its readers know.
namespace equalux::test {

inline constexpr int kFakePictures = 8;  ///< then the first comes again

/// The picture of that number: each row of each plane differs from the next, and so do pictures.
inline Image fake_picture(const ImageDesc& desc, std::uint64_t number) {
  Image image(desc);
  const ImageView view = image.view();
  for (int plane = 0; plane < traits(desc.format).planes; ++plane) {
    for (int y = 0; y < plane_rows(desc, plane); ++y) {
      for (std::size_t x = 0; x < row_bytes(desc, plane); ++x) {
        view.row(plane, y)[x] = static_cast<std::uint8_t>(
            16 + (7 * x + 13 * static_cast<std::size_t>(y) + 50 * static_cast<std::size_t>(plane) +
                  23 * (number % kFakePictures)) %
                     200);
      }
    }
  }
  return image;
}

}  // namespace equalux::test
