// Conversions to RGB: known colours, depths, layouts of one picture, fields.
#include <array>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/picture/convert_rgb.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

ImageDesc desc_of(PixelFormat format, int width, int height) {
  ImageDesc desc;
  desc.format = format;
  desc.width = width;
  desc.height = height;
  desc.range = ColorRange::full;
  return desc;
}

TEST(ConvertRgb, KnownYuvColours) {
  struct Colour {
    ColorMatrix matrix;
    ColorRange range;
    std::array<std::uint8_t, 3> yuv;
    std::array<int, 3> rgb;
  };
  const Colour colours[] = {
      {ColorMatrix::bt601, ColorRange::limited, {16, 128, 128}, {0, 0, 0}},
      {ColorMatrix::bt709, ColorRange::limited, {235, 128, 128}, {255, 255, 255}},
      {ColorMatrix::bt601, ColorRange::limited, {81, 90, 240}, {255, 0, 0}},
      {ColorMatrix::bt601, ColorRange::full, {76, 85, 255}, {254, 0, 0}},
      {ColorMatrix::bt709, ColorRange::limited, {173, 42, 26}, {0, 255, 0}},
      {ColorMatrix::bt709, ColorRange::full, {18, 255, 116}, {0, 0, 255}},
      {ColorMatrix::bt2020, ColorRange::limited, {126, 128, 128}, {128, 128, 128}},
  };
  for (const Colour& colour : colours) {
    ImageDesc desc = desc_of(PixelFormat::y444, 1, 1);
    desc.matrix = colour.matrix;
    desc.range = colour.range;
    Image yuv(desc);
    for (int p = 0; p < 3; ++p)
      yuv.view().row(p, 0)[0] = colour.yuv[static_cast<std::size_t>(p)];
    Image rgb(desc_of(PixelFormat::rgb, 1, 1));
    convert_to_rgb(yuv.view(), rgb.view());
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(rgb.view().row(0, 0)[c], colour.rgb[c], 2) << static_cast<int>(colour.matrix);
    }
  }
}

/// 10 bits that hold 8-bit codes give the colours of those, in 16 bits; in 8 the same bytes.
TEST(ConvertRgb, DeepColoursAreThoseOfEightBits) {
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    ImageDesc desc = desc_of(PixelFormat::i420, 16, 8);
    desc.range = range;
    const PaddedImage bytes(desc);
    fill(bytes.view(), Content::natural);
    desc.format = PixelFormat::i420_10le;
    const PaddedImage deep(desc);
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < plane_rows(desc, p); ++y) {
        for (std::size_t x = 0; x < row_bytes(desc, p) / 2; ++x) {
          // Full range ends at 1023, not at 4 times 255.
          const int code = bytes.view().row(p, y)[x];
          const int ten =
              range == ColorRange::full && p == 0 ? (code * 1023 + 127) / 255 : 4 * code;
          deep.view().row(p, y)[2 * x] = static_cast<std::uint8_t>(ten & 255);
          deep.view().row(p, y)[2 * x + 1] = static_cast<std::uint8_t>(ten >> 8);
        }
      }
    }
    Image expected(desc_of(PixelFormat::bgr, 16, 8));
    convert_to_rgb(bytes.view(), expected.view());
    Image shown(desc_of(PixelFormat::bgr, 16, 8));
    convert_to_rgb(deep.view(), shown.view());
    EXPECT_LE(max_difference(expected.view(), shown.view()), 1);
    Image sixteen(desc_of(PixelFormat::bgr48_le, 16, 8));
    convert_to_rgb(deep.view(), sixteen.view());
    Image back(desc_of(PixelFormat::bgr, 16, 8));
    convert_to_rgb(sixteen.view(), back.view());
    EXPECT_EQ(count_differences(shown.view(), back.view()), 0U);
  }
}

/// White, black and mid gray of every deep format are those of 16 bits.
TEST(ConvertRgb, DeepEndsAreExact) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (!has_deep_samples(format)) continue;
    ImageDesc desc = desc_of(format, 2, 2);
    desc.range = ColorRange::limited;
    const bool yuv = traits(format).model == ColorModel::yuv;
    const int more = traits(format).depth - 8;
    for (const bool white : {false, true}) {
      const int luma = yuv ? (white ? 235 : 16) << more : (white ? 65535 : 0);
      Image image(desc);
      for (int p = 0; p < traits(format).planes; ++p) {
        for (int y = 0; y < plane_rows(desc, p); ++y) {
          for (std::size_t x = 0; x < row_bytes(desc, p); x += 2) {
            const int code = (p == 0 ? luma : 128 << more) << traits(format).shift;
            image.view().row(p, y)[x] = static_cast<std::uint8_t>(code & 255);
            image.view().row(p, y)[x + 1] = static_cast<std::uint8_t>(code >> 8);
          }
        }
      }
      Image rgb(desc_of(PixelFormat::rgb48_le, 2, 2));
      convert_to_rgb(std::as_const(image).view(), rgb.view());
      EXPECT_THAT(tight_copy(rgb.view()), ::testing::Each(white ? 255 : 0)) << to_string(format);
    }
  }
}

TEST(ConvertRgb, LayoutsOfOnePictureAgree) {
  // The same samples in planes, in pairs and packed must give the same picture.
  const PaddedImage y42b(desc_of(PixelFormat::y42b, 9, 6));
  fill(y42b.view(), Content::noise);
  Image expected(desc_of(PixelFormat::bgr, 9, 6));
  convert_to_rgb(y42b.view(), expected.view());
  for (const PixelFormat format : {PixelFormat::yuy2, PixelFormat::uyvy}) {
    const PaddedImage packed(desc_of(format, 9, 6));
    const std::size_t luma = format == PixelFormat::yuy2 ? 0 : 1;
    for (int y = 0; y < 6; ++y) {
      for (std::size_t x = 0; x < 9; ++x)
        packed.view().row(0, y)[2 * x + luma] = y42b.view().row(0, y)[x];
      for (std::size_t c = 0; c < 5; ++c) {
        packed.view().row(0, y)[4 * c + 1 - luma] = y42b.view().row(1, y)[c];
        packed.view().row(0, y)[4 * c + 3 - luma] = y42b.view().row(2, y)[c];
      }
    }
    Image actual(desc_of(PixelFormat::bgr, 9, 6));
    convert_to_rgb(packed.view(), actual.view());
    EXPECT_EQ(count_differences(actual.view(), expected.view()), 0U) << to_string(format);
  }
}

TEST(ConvertRgb, InterlacedChromaStaysInItsField) {
  const PaddedImage yuv(desc_of(PixelFormat::i420, 2, 4));
  for (int y = 0; y < 4; ++y)
    std::memset(yuv.view().row(0, y), 100, 2);
  for (int y = 0; y < 2; ++y) {
    yuv.view().row(1, y)[0] = 128;
    yuv.view().row(2, y)[0] = y == 0 ? 200 : 60;  // Top field red, bottom field not.
  }
  Image rgb(desc_of(PixelFormat::rgb, 2, 4));
  convert_to_rgb(yuv.view(), rgb.view(), FieldOrder::top_first);
  for (int y = 0; y < 4; ++y)
    EXPECT_EQ(rgb.view().row(0, y)[0] > 150, y % 2 == 0) << y;
  convert_to_rgb(yuv.view(), rgb.view());
  for (int y = 0; y < 4; ++y)
    EXPECT_EQ(rgb.view().row(0, y)[0] > 150, y < 2) << y;
}

TEST(ConvertRgb, RefusesWhatDoesNotFit) {
  const Image from(desc_of(PixelFormat::bgr, 4, 4));
  Image smaller(desc_of(PixelFormat::rgb, 4, 3));
  Image yuv(desc_of(PixelFormat::i420, 4, 4));
  Image rgb(desc_of(PixelFormat::rgb, 4, 4));
  const Image floats(desc_of(PixelFormat::grayf32, 4, 4));
  EXPECT_THROW(convert_to_rgb(from.view(), smaller.view()), Error);
  EXPECT_THROW(convert_to_rgb(from.view(), yuv.view()), Error);
  EXPECT_THROW(convert_to_rgb(floats.view(), rgb.view()), Error);
}

}  // namespace
}  // namespace equalux::test
