// What a camera of PipeWire offers, and where its samples lie.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// What a camera says of its memory is not believed where it cannot be.
TEST(CameraFormats, NothingIsReadBeyondTheMemoryThatCame) {
  const ImageDesc desc = camera_picture(PixelFormat::i420, 62, 34);
  const std::vector<std::uint8_t> memory(100 * 34 * 2);
  const auto fits = [&](std::size_t bytes, std::ptrdiff_t stride) {
    const pipewire::Block block{memory.data(), bytes, stride};
    return pipewire::view_in({&block, 1}, desc).has_value();
  };
  const std::size_t usual = pipewire::block_layout(desc).bytes;
  EXPECT_TRUE(fits(usual, 0));
  EXPECT_TRUE(fits(usual, 64));
  // The last row needs no gap behind it.
  EXPECT_TRUE(fits(usual - 1, 64));
  EXPECT_FALSE(fits(usual - 2, 64));
  EXPECT_FALSE(fits(usual, 61));
  EXPECT_FALSE(fits(usual, 80));
  EXPECT_TRUE(fits(80 * 34 + 2 * 40 * 17, 80));
  EXPECT_FALSE(fits(usual, -64));
  EXPECT_FALSE(fits(usual, 1 << 30));
  EXPECT_FALSE(fits(0, 0));
  EXPECT_FALSE(pipewire::view_in({}, desc));
  // Planes of their own; two of three are not enough.
  const pipewire::Block luma{memory.data(), 64 * 34, 64};
  const pipewire::Block chroma{memory.data(), 32 * 17, 32};
  EXPECT_TRUE(pipewire::view_in(std::vector{luma, chroma, chroma}, desc));
  EXPECT_FALSE(pipewire::view_in(std::vector{luma, chroma}, desc));
}

TEST(CameraFormats, ModesAreWhatACameraOffers) {
  std::array<std::uint8_t, 2048> memory{};
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), memory.size());
  std::vector<CameraMode> modes;
  pipewire::add_modes(nullptr, modes);
  const spa_rectangle small{320, 240};
  const spa_rectangle large{640, 480};
  const spa_fraction fast{30, 1};
  const spa_fraction slow{15, 1};
  const auto* listed = static_cast<const spa_pod*>(spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
      SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_YUY2), SPA_FORMAT_VIDEO_size,
      SPA_POD_CHOICE_ENUM_Rectangle(3, &large, &large, &small), SPA_FORMAT_VIDEO_framerate,
      SPA_POD_CHOICE_ENUM_Fraction(3, &slow, &slow, &fast)));
  pipewire::add_modes(listed, modes);
  // What is no video, and no picture, is none.
  pipewire::add_modes(pipewire::build_header(builder), modes);
  pipewire::add_modes(pipewire::build_wish(builder, {.format = std::nullopt,
                                                     .width = 1280,
                                                     .height = 720,
                                                     .any_size = true,
                                                     .rate = {60, 1},
                                                     .any_rate = false}),
                      modes);
  ASSERT_EQ(modes.size(), 3U);
  const auto text_of = [](const CameraMode& mode) {
    return fourcc_text(mode.fourcc) + " " + std::to_string(mode.width) + "x" +
           std::to_string(mode.height) + " " + std::to_string(static_cast<int>(mode.fps));
  };
  EXPECT_EQ(text_of(modes[0]), "YUYV 640x480 30");
  EXPECT_EQ(text_of(modes[1]), "YUYV 320x240 30");
  EXPECT_EQ(text_of(modes[2]), "MJPG 1280x720 60");
}

}  // namespace
}  // namespace equalux::test
