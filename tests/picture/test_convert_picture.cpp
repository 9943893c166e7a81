// Pictures as programs take them of a camera: known colours, subsamplings, depths, odd sizes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "pipelines/picture/convert_picture.h"
#include "pipelines/picture/convert_rgb.h"
#include "src/format/layout.h"
#include "tests/support/media/test_images.h"

namespace equalux::test {
namespace {

ImageDesc picture_of(PixelFormat format, int width, int height) {
  ImageDesc desc;
  desc.format = format;
  desc.width = width;
  desc.height = height;
  return desc;
}

int at(const ConstImageView& view, int component, int column, int row) {
  return *samples_of(view, component).at(column, row);
}

TEST(ConvertPicture, KnownColoursBecomeTheCodesOfTheStandards) {
  struct Colour {
    int height;  // which decides about the matrix
    std::array<std::uint8_t, 3> rgb;
    std::array<int, 3> yuv;
  };
  // The colour bars of BT.601 and BT.709.
  const Colour colours[] = {
      {576, {255, 0, 0}, {81, 90, 240}},       {576, {0, 255, 0}, {145, 54, 34}},
      {576, {0, 0, 255}, {41, 240, 110}},      {578, {255, 0, 0}, {63, 102, 240}},
      {578, {0, 255, 0}, {173, 42, 26}},       {578, {0, 0, 255}, {32, 240, 118}},
      {578, {255, 255, 255}, {235, 128, 128}}, {576, {0, 0, 0}, {16, 128, 128}}};
  for (const Colour& colour : colours) {
    Image rgb(picture_of(PixelFormat::rgb, 3, colour.height));
    for (int y = 0; y < colour.height; ++y)
      for (std::size_t i = 0; i < 9; ++i)
        rgb.view().row(0, y)[i] = colour.rgb[i % 3];
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2}) {
      Image yuv(converted_desc(rgb.desc(), format));
      convert_picture(rgb.view(), yuv.view());
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(at(yuv.view(), c, 0, 0), colour.yuv[static_cast<std::size_t>(c)], 1);
        EXPECT_NEAR(at(yuv.view(), c, 1, 1), colour.yuv[static_cast<std::size_t>(c)], 1);
      }
    }
  }
}

/// Chroma of RGB is the mean over what a sample covers, written another way.
TEST(ConvertPicture, ChromaIsTheMeanOfItsPixels) {
  for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {8, 6}, {2, 7}}) {
    const PaddedImage rgb(picture_of(PixelFormat::bgrx, width, height));
    fill(rgb.view(), Content::noise);
    Image yuv(converted_desc(rgb.view().desc, PixelFormat::i420));
    convert_picture(rgb.view(), yuv.view());
    for (int row = 0; row < (height + 1) / 2; ++row) {
      for (int column = 0; column < (width + 1) / 2; ++column) {
        double blue = 0;
        double luma = 0;
        int pixels = 0;
        for (int y = 2 * row; y < std::min(height, 2 * row + 2); ++y) {
          for (int x = 2 * column; x < std::min(width, 2 * column + 2); ++x, ++pixels) {
            const std::uint8_t* pixel = rgb.view().row(0, y) + 4 * x;
            blue += pixel[0];
            luma += 0.299 * pixel[2] + 0.587 * pixel[1] + 0.114 * pixel[0];
          }
        }
        const double cb = 128 + 224 / 255.0 * (blue - luma) / pixels / 1.772;
        EXPECT_NEAR(at(yuv.view(), 1, column, row), cb, 0.51);
      }
    }
  }
}

TEST(ConvertPicture, OtherSubsamplingsKeepLumaAndRepeatOrAverageChroma) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 5}, {16, 8}}) {
    const PaddedImage half(picture_of(PixelFormat::i420, width, height));
    fill(half.view(), Content::noise);
    Image packed(converted_desc(half.view().desc, PixelFormat::yuy2));
    Image pairs(converted_desc(half.view().desc, PixelFormat::nv12));
    convert_picture(half.view(), packed.view());
    convert_picture(half.view(), pairs.view());
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        EXPECT_EQ(at(packed.view(), 0, x, y), at(half.view(), 0, x, y));
        EXPECT_EQ(at(pairs.view(), 0, x, y), at(half.view(), 0, x, y));
        for (const int c : {1, 2}) {
          EXPECT_EQ(at(packed.view(), c, x / 2, y), at(half.view(), c, x / 2, y / 2));
          EXPECT_EQ(at(pairs.view(), c, x / 2, y / 2), at(half.view(), c, x / 2, y / 2));
        }
      }
    }
    // Back again, nothing has changed.
    Image again(converted_desc(packed.desc(), PixelFormat::i420));
    convert_picture(packed.view(), again.view());
    EXPECT_EQ(max_difference(again.view(), half.view()), 0);
  }
}

TEST(ConvertPicture, TenBitsAreRoundedToEight) {
  const ImageDesc desc = picture_of(PixelFormat::p010_10le, 4, 2);
  Image deep(desc);
  for (int i = 0; i < 8; ++i) {
    const int code = i == 7 ? 1023 : 4 * (30 + i) + 2;
    std::uint8_t* sample = deep.view().row(0, i / 4) + 2 * (i % 4);
    sample[0] = static_cast<std::uint8_t>(code << 6 & 255);
    sample[1] = static_cast<std::uint8_t>(code >> 2);
  }
  for (int i = 0; i < 4; ++i) {
    deep.view().row(1, 0)[2 * i] = 0;
    deep.view().row(1, 0)[2 * i + 1] = static_cast<std::uint8_t>(100 + i);
  }
  Image bytes(converted_desc(desc, PixelFormat::nv12));
  convert_picture(deep.view(), bytes.view());
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(bytes.view().row(0, i / 4)[i % 4], i == 7 ? 255 : 31 + i);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(bytes.view().row(1, 0)[i], 100 + i);
}

TEST(ConvertPicture, EveryPictureBecomesEveryFormatOfCameras) {
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    const bool picture = traits(format).model != ColorModel::real;
    for (const PixelFormat to : {PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2,
                                 PixelFormat::rgb, PixelFormat::bgrx}) {
      EXPECT_EQ(converts_to(format, to), picture) << to_string(format);
      if (!picture) continue;
      const ImageDesc desc = picture_of(format, 6, 4);
      const PaddedImage from(desc);
      fill(from.view(), Content::constant);
      Image result(converted_desc(desc, to));
      convert_picture(from.view(), result.view());
      // Against the same picture in RGB: what is gray or of one colour stays so.
      Image expected(picture_of(PixelFormat::rgb, 6, 4));
      Image shown(picture_of(PixelFormat::rgb, 6, 4));
      convert_to_rgb(from.view(), expected.view());
      convert_to_rgb(result.view(), shown.view());
      EXPECT_LE(max_difference(expected.view(), shown.view()), 3)
          << to_string(format) << " to " << to_string(to);
    }
  }
}

}  // namespace
}  // namespace equalux::test
