// What a camera of PipeWire offers, and where its samples lie.
#include <array>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spa/param/format.h>
#include <spa/param/param.h>
#include <spa/pod/builder.h>

#include "pipelines/pipewire/formats.h"

namespace equalux::test {
namespace {

ImageDesc camera_picture(PixelFormat format, int width, int height) {
  ImageDesc desc;
  desc.format = format;
  desc.width = width;
  desc.height = height;
  return desc;
}

std::vector<PixelFormat> formats_offered(PixelFormat format) {
  std::vector<PixelFormat> formats;
  for (const ImageDesc& desc : pipewire::offered_formats(camera_picture(format, 64, 48)))
    formats.push_back(desc.format);
  return formats;
}

TEST(CameraFormats, TheFramesOwnComesFirst) {
  using ::testing::ElementsAre;
  constexpr auto nv12 = PixelFormat::nv12;
  constexpr auto i420 = PixelFormat::i420;
  constexpr auto yuy2 = PixelFormat::yuy2;
  constexpr auto rgb = PixelFormat::rgb;
  constexpr auto bgrx = PixelFormat::bgrx;
  EXPECT_THAT(formats_offered(nv12), ElementsAre(nv12, i420, yuy2, rgb, bgrx));
  EXPECT_THAT(formats_offered(bgrx), ElementsAre(bgrx, nv12, i420, yuy2, rgb));
  EXPECT_THAT(formats_offered(PixelFormat::gray8),
              ElementsAre(PixelFormat::gray8, nv12, i420, yuy2, rgb, bgrx));
  // No program knows these of a camera.
  EXPECT_THAT(formats_offered(PixelFormat::p010_10le), ElementsAre(nv12, i420, yuy2, rgb, bgrx));
  EXPECT_TRUE(formats_offered(PixelFormat::grayf32).empty());
}

/// As GStreamer, OBS and browsers find planes from the size alone.
TEST(CameraFormats, RowsLieInFoursAndPlanesBehindOneAnother) {
  const ImageLayout i420 = pipewire::block_layout(camera_picture(PixelFormat::i420, 641, 481));
  EXPECT_EQ(i420.stride[0], 644);
  EXPECT_EQ(i420.stride[1], 324);
  EXPECT_EQ(i420.offset[1], 644U * 482);
  EXPECT_EQ(i420.offset[2], 644U * 482 + 324U * 241);
  EXPECT_EQ(i420.bytes, 644U * 482 + 2 * 324U * 241);
  const ImageLayout rgb = pipewire::block_layout(camera_picture(PixelFormat::rgb, 5, 3));
  EXPECT_EQ(rgb.stride[0], 16);
  EXPECT_EQ(rgb.bytes, 48U);
}

TEST(CameraFormats, WhatIsAgreedOnIsReadBack) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuy2, PixelFormat::bgrx}) {
    for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        ImageDesc desc = camera_picture(format, 1280, 720);
        if (traits(format).model == ColorModel::yuv) {
          desc.matrix = matrix;
          desc.range = range;
        }
        std::array<std::uint8_t, 1024> memory{};
        spa_pod_builder builder{};
        spa_pod_builder_init(&builder, memory.data(), memory.size());
        const auto parsed = pipewire::parse_format(
            pipewire::build_format(builder, SPA_PARAM_Format, {desc, {30000, 1001}}), ImageDesc{});
        ASSERT_TRUE(parsed);
        EXPECT_EQ(parsed->desc, desc);
        EXPECT_EQ(parsed->rate, (Rational{30000, 1001}));
      }
    }
  }
}

}  // namespace
}  // namespace equalux::test
