#include <utility>

#include <equalux/convolve.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_elements.h"

/// The element equaluxconvolve: the core's bytes, and never in place.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::HasSubstr;

std::vector<PixelFormat> convolve_formats() {
  std::vector<PixelFormat> all;
  const auto filter = make_cpu_filter(ConvolveParams{});
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (filter->accepts(format)) all.push_back(format);
  }
  return all;
}

ConvolveParams convolve_with(std::initializer_list<std::pair<const char*, const char*>> options) {
  ConvolveParams params;
  for (const auto& [key, value] : options)
    set_option(params, key, value);
  return params;
}

void expect_filtered(Harness& harness, const Stream& stream, BufferPtr buffer,
                     const ConvolveParams& params) {
  const auto filter = make_cpu_filter(params, {1});
  const auto expected = filtered(buffer.get(), stream, *filter);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const BufferPtr out = harness.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(samples_of(out.get(), stream), expected);
}

TEST(GstPluginConvolve, EveryFormatAndSizeHasTheCoresBytes) {
  Harness harness("equaluxconvolve backend=cpu kernel=sharpen");
  for (const PixelFormat format : convolve_formats()) {
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {2, 7}, {161, 91}, {640, 360}}) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width) + "x" +
                   std::to_string(height));
      const Stream stream = stream_of(format, width, height);
      harness.set_caps(stream);
      for (const Layout layout : {Layout::usual, Layout::padded})
        expect_filtered(harness, stream, picture(stream, 1, layout),
                        convolve_with({{"kernel", "sharpen"}}));
    }
  }
}

TEST(GstPluginConvolve, OursOrNotABufferIsNeverFilteredInPlace) {
  Harness harness("equaluxconvolve backend=cpu kernel=edge");
  const Stream stream = stream_of(PixelFormat::i420, 64, 48);
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  const GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  EXPECT_NE(gst_buffer_peek_memory(harness.pull().get(), 0), memory);
}

TEST(GstPluginConvolve, PropertiesAreTheOptions) {
  const std::vector<std::pair<const char*, ConvolveParams>> cases{
      {"weights=0,-1,0,-1,6,-1,0,-1,0 divisor=2 offset=3.5",
       convolve_with({{"weights", "0,-1,0,-1,6,-1,0,-1,0"}, {"divisor", "2"}, {"offset", "3.5"}})},
      {"kernel=gaussian sigma=1.2", convolve_with({{"kernel", "gaussian"}, {"sigma", "1.2"}})},
      {"kernel=gaussian sigma=1.2 truncate=2",
       convolve_with({{"kernel", "gaussian"}, {"sigma", "1.2"}, {"truncate", "2"}})},
      {"kernel=box size=5 border=constant border-value=200",
       convolve_with(
           {{"kernel", "box"}, {"size", "5"}, {"border", "constant"}, {"border-value", "200"}})},
      {"kernel=emboss-vertical border=reflect-101 mode=sequential",
       convolve_with(
           {{"kernel", "emboss-vertical"}, {"border", "reflect-101"}, {"mode", "sequential"}})},
  };
  for (const auto& [properties, params] : cases) {
    SCOPED_TRACE(properties);
    Harness harness(std::string("equaluxconvolve ") + properties);
    const Stream stream = stream_of(PixelFormat::bgra, 61, 37);
    harness.set_caps(stream);
    expect_filtered(harness, stream, picture(stream, 3), params);
  }
}

TEST(GstPluginConvolve, PropertiesChangeWhileItRuns) {
  Harness harness("equaluxconvolve backend=cpu kernel=edge");
  const Stream stream = stream_of(PixelFormat::nv12, 64, 48);
  harness.set_caps(stream);
  expect_filtered(harness, stream, picture(stream, 1), convolve_with({{"kernel", "edge"}}));
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), "kernel", "box");
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), "size", "9");
  expect_filtered(harness, stream, picture(stream, 2),
                  convolve_with({{"kernel", "box"}, {"size", "9"}}));
  // What does not go together is told, and the kernel before goes on.
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), "size", "8");
  expect_filtered(harness, stream, picture(stream, 3),
                  convolve_with({{"kernel", "box"}, {"size", "9"}}));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("size is 8, must be odd"));
}

TEST(GstPluginConvolve, SplitKeepsOneSide) {
  Harness harness("equaluxconvolve backend=cpu kernel=edge split=0.5");
  const Stream stream = stream_of(PixelFormat::gray8, 64, 8);
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  const auto before = samples_of(buffer.get(), stream);
  const auto filter = make_cpu_filter(convolve_with({{"kernel", "edge"}}));
  const auto whole = filtered(buffer.get(), stream, *filter);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const auto after = samples_of(harness.pull().get(), stream);
  for (std::size_t i = 0; i < after.size(); ++i)
    ASSERT_EQ(after[i], i % 64 < 32 ? before[i] : whole[i]) << i;
}

TEST(GstPluginConvolve, WhatCannotBeIsOneLine) {
  for (const auto& [properties, says] : {std::pair{"kernel=custom", "custom without weights"},
                                         {"weights=1,2", "n * n numbers"},
                                         {"kernel=sharpen sigma=2", "sigma belongs"},
                                         {"backend=cpu mode=shared", "CUDA backend only"}}) {
    Harness harness(std::string("equaluxconvolve ") + properties);
    const Stream stream = stream_of(PixelFormat::i420, 64, 48);
    harness.set_caps(stream);
    EXPECT_NE(harness.push(picture(stream, 1)), GST_FLOW_OK);
    EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr(says)) << properties;
  }
}

}  // namespace
}  // namespace equalux::test
