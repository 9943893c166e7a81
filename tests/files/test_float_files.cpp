#include <cstring>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/files/float_files.h"
#include "pipelines/files/still.h"
#include "tests/support/temp_folder.h"

/// Files of floats: .npy and TIFF.
namespace equalux {
namespace {

using ::testing::HasSubstr;

constexpr int kWidth = 13;
constexpr int kHeight = 7;

float sample(int plane, int x, int y) {
  return static_cast<float>(1000 * plane + 20 * y + x) / 8 - 3;
}

Image frame(PixelFormat format) {
  Image image({format, kWidth, kHeight});
  for (int p = 0; p < traits(format).planes; ++p) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const float v = sample(p, x, y);
        std::memcpy(image.view().row(p, y) + 4 * x, &v, 4);
      }
    }
  }
  return image;
}

std::uint32_t number(const std::string& bytes, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = size - 1; i >= 0; --i)
    value = value * 256 + static_cast<std::uint8_t>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

void expect_samples(const std::string& bytes, std::size_t at, int plane) {
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x, at += 4) {
      float v = 0;
      ASSERT_LE(at + 4, bytes.size());
      std::memcpy(&v, bytes.data() + at, 4);
      EXPECT_EQ(v, sample(plane, x, y));
    }
  }
}

TEST(Npy, HoldsTheShapeAndEverySample) {
  const test::TempFolder folder;
  for (const PixelFormat format : {PixelFormat::grayf32, PixelFormat::grayf32x2}) {
    const int planes = traits(format).planes;
    const Image image = frame(format);
    write_still(folder / "a.npy", image.view());
    const std::string bytes = test::read_file(folder / "a.npy");
    ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t data = 10 + number(bytes, 8, 2);
    EXPECT_EQ(data % 64, 0u);
    EXPECT_EQ(bytes[data - 1], '\n');
    EXPECT_THAT(bytes.substr(10, data - 10),
                HasSubstr(planes == 1 ? "'<f4', 'fortran_order': False, 'shape': (7, 13), }"
                                      : "'<f4', 'fortran_order': False, 'shape': (2, 7, 13), }"));
    EXPECT_EQ(bytes.size(), data + static_cast<std::size_t>(planes * kWidth * kHeight * 4));
    for (int p = 0; p < planes; ++p)
      expect_samples(bytes, data + static_cast<std::size_t>(p * kWidth * kHeight * 4), p);
  }
}

/// The value of a tag in the directory at `at`.
std::uint32_t tag(const std::string& bytes, std::size_t at, std::uint32_t wanted) {
  const std::uint32_t entries = number(bytes, at, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = at + 2 + 12 * i;
    if (number(bytes, entry, 2) == wanted) return number(bytes, entry + 8, 4);
  }
  ADD_FAILURE() << "no tag " << wanted;
  return 0;
}

TEST(FloatTiff, HoldsAPageForEachPlane) {
  const test::TempFolder folder;
  for (const PixelFormat format : {PixelFormat::grayf32, PixelFormat::grayf32x2}) {
    const Image image = frame(format);
    write_still(folder / "a.tif", image.view());
    const std::string bytes = test::read_file(folder / "a.tif");
    ASSERT_EQ(bytes.substr(0, 4), std::string("II*\0", 4));
    std::size_t at = number(bytes, 4, 4);
    for (int p = 0; p < traits(format).planes; ++p) {
      ASSERT_NE(at, 0u);
      EXPECT_EQ(tag(bytes, at, 256), 13u);
      EXPECT_EQ(tag(bytes, at, 257), 7u);
      EXPECT_EQ(tag(bytes, at, 258), 32u);
      EXPECT_EQ(tag(bytes, at, 339), 3u);
      EXPECT_EQ(tag(bytes, at, 279), 13u * 7 * 4);
      expect_samples(bytes, tag(bytes, at, 273), p);
      at = number(bytes, at + 2 + 12 * number(bytes, at, 2), 4);
    }
    EXPECT_EQ(at, 0u);
  }
}

TEST(FloatFiles, WhatDoesNotFitIsRefusedInOneLine) {
  const test::TempFolder folder;
  const Image floats = frame(PixelFormat::grayf32x2);
  const Image gray({PixelFormat::gray8, 3, 3});
  const auto message = [&](const char* name, const ConstImageView& image) {
    try {
      write_still(folder / name, image);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_THAT(message("a.ppm", floats.view()), HasSubstr("name it .npy or .tif"));
  EXPECT_THAT(message("a.npy", gray.view()), HasSubstr("name it .ppm or .png"));
  EXPECT_THROW(write_still(folder / "no/such/folder.npy", floats.view()), Error);
  EXPECT_EQ(folder.entries(), 0);
}

}  // namespace
}  // namespace equalux
