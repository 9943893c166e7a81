#include <utility>

#include <equalux/error.h>
#include <equalux/image.h>
#include <gtest/gtest.h>

#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

TEST(ImageDesc, NamesAreFoundWhateverTheCase) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    EXPECT_EQ(pixel_format_from(to_string(format)), format);
  }
  EXPECT_EQ(pixel_format_from("I420"), PixelFormat::i420);
  EXPECT_EQ(pixel_format_from("GRAY8"), PixelFormat::gray8);
  EXPECT_FALSE(pixel_format_from("P010").has_value());
  EXPECT_FALSE(pixel_format_from("").has_value());
}

TEST(ImageDesc, OddSizesRoundChromaUp) {
  EXPECT_EQ(tight_bytes({PixelFormat::i420, 7, 5}), 35u + 2 * 12);
  EXPECT_EQ(tight_bytes({PixelFormat::nv12, 7, 5}), 35u + 24);
  EXPECT_EQ(tight_bytes({PixelFormat::yuy2, 7, 5}), 80u);
  EXPECT_EQ(tight_bytes({PixelFormat::y42b, 7, 5}), 35u + 2 * 20);
  EXPECT_EQ(tight_bytes({PixelFormat::y444, 7, 5}), 105u);
  EXPECT_EQ(tight_bytes({PixelFormat::bgr, 7, 5}), 105u);
  EXPECT_EQ(tight_bytes({PixelFormat::xrgb, 7, 5}), 140u);
  EXPECT_EQ(tight_bytes({PixelFormat::grayf32x2, 7, 5}), 280u);
  EXPECT_EQ(tight_bytes({PixelFormat::i420_10le, 7, 5}), 2 * (35u + 2 * 12));
  EXPECT_EQ(tight_bytes({PixelFormat::p010_10le, 7, 5}), 2 * (35u + 24));
  EXPECT_EQ(tight_bytes({PixelFormat::i422_12le, 7, 5}), 2 * (35u + 2 * 20));
  EXPECT_EQ(tight_bytes({PixelFormat::gray16_le, 7, 5}), 70u);
  EXPECT_EQ(tight_bytes({PixelFormat::rgb48_le, 7, 5}), 210u);
  EXPECT_EQ(tight_bytes({PixelFormat::argb64_le, 7, 5}), 280u);
}

TEST(ImageDesc, EveryViolationIsNamed) {
  try {
    validate({PixelFormat::bgr, 0, 70000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    const std::string text = error.what();
    EXPECT_NE(text.find("width is 0"), std::string::npos) << text;
    EXPECT_NE(text.find("height is 70000"), std::string::npos) << text;
  }
  EXPECT_THROW(validate({PixelFormat::gray8, 65535, 65535}), Error);
  EXPECT_NO_THROW(validate({PixelFormat::gray8, 65535, 32768}));
}

TEST(Image, RowsAreAlignedAndPlanesDoNotOverlap) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    Image image({static_cast<PixelFormat>(f), 33, 9});
    const ImageView view = image.view();
    const std::uint8_t* end = nullptr;
    for (int p = 0; p < traits(view.desc.format).planes; ++p) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.row(p, 1)) % 64, 0u);
      EXPECT_GE(view.stride[static_cast<std::size_t>(p)],
                static_cast<std::ptrdiff_t>(row_bytes(view.desc, p)));
      if (end != nullptr) {
        EXPECT_GE(view.row(p, 0), end);
      }
      end = view.row(p, plane_rows(view.desc, p) - 1) + row_bytes(view.desc, p);
    }
  }
}

TEST(Image, OneThatWasMovedFromHasNoFrame) {
  Image from({PixelFormat::nv12, 32, 8});
  const std::uint8_t* const memory = from.view().data[0];
  Image to(std::move(from));
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(from.desc(), ImageDesc());
  EXPECT_EQ(from.view().data[0], nullptr);
  EXPECT_EQ(to.view().data[0], memory);
  from = std::move(to);
  EXPECT_TRUE(to.empty());
  EXPECT_EQ(to.desc(), ImageDesc());
  EXPECT_EQ(from.view().data[0], memory);
  EXPECT_EQ(from.desc(), (ImageDesc{PixelFormat::nv12, 32, 8}));
}

TEST(CopyImage, CopiesSamplesBetweenAnyStrides) {
  const ImageDesc desc{PixelFormat::nv12, 31, 7};
  test::PaddedImage from(desc, 3, true);
  test::PaddedImage to(desc, 17, false);
  test::fill(from.view(), test::Content::noise);
  copy_image(from.view(), to.view());
  EXPECT_EQ(test::count_differences(from.view(), to.view()), 0u);
  EXPECT_TRUE(to.padding_intact());
  Image other({PixelFormat::i420, 31, 7});
  EXPECT_THROW(copy_image(from.view(), other.view()), Error);
}

}  // namespace
}  // namespace equalux
