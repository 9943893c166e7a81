#include <tuple>
#include <utility>

#include <equalux/curve.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_elements.h"
#include "tests/support/program.h"

/// What the element makes of frames: its bytes, and everything else about a buffer.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::HasSubstr;

std::vector<PixelFormat> formats() {
  std::vector<PixelFormat> all;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (gst::to_gst(format) != GST_VIDEO_FORMAT_UNKNOWN) all.push_back(format);
  }
  return all;
}

/// Pushes one buffer and compares what comes out with what the core's filter makes of it.
void expect_filtered(Harness& harness, const Stream& stream, BufferPtr buffer,
                     FieldOrder field_order = FieldOrder::progressive) {
  const auto expected = filtered(buffer.get(), stream, {}, field_order);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const BufferPtr out = harness.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(samples_of(out.get(), stream), expected);
}

TEST(GstPluginFrames, EveryFormatAndSizeHasTheCoresBytes) {
  Harness harness("equalux backend=cpu");
  for (const PixelFormat format : formats()) {
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {2, 7}, {161, 91}, {640, 360}}) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width) + "x" +
                   std::to_string(height));
      const Stream stream = stream_of(format, width, height);
      harness.set_caps(stream);
      expect_filtered(harness, stream, picture(stream, 1));
    }
  }
}

TEST(GstPluginFrames, LargeFrames) {
  Harness harness("equalux backend=cpu");
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::rgb}) {
    const Stream stream = stream_of(format, 4096, 2304);
    harness.set_caps(stream);
    expect_filtered(harness, stream, picture(stream, 1, Layout::usual, Content::ramp));
  }
}

TEST(GstPluginFrames, AnyStrideThroughVideoMeta) {
  Harness harness("equalux backend=cpu");
  for (const PixelFormat format : formats()) {
    SCOPED_TRACE(to_string(format));
    const Stream stream = stream_of(format, 61, 37);
    harness.set_caps(stream);
    expect_filtered(harness, stream, picture(stream, 1, Layout::padded));
    // Not writable: into a buffer of another layout.
    const BufferPtr kept = picture(stream, 2, Layout::padded);
    expect_filtered(harness, stream, BufferPtr(gst_buffer_ref(kept.get())));
  }
}

TEST(GstPluginFrames, InPlaceWhereTheBufferIsOurs) {
  Harness harness("equalux backend=cpu");
  const Stream stream = stream_of(PixelFormat::i420, 64, 48);
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  const GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
  harness.push(std::move(buffer));
  EXPECT_EQ(gst_buffer_peek_memory(harness.pull().get(), 0), memory);

  const BufferPtr shared = picture(stream, 2);
  const auto before = samples_of(shared.get(), stream);
  harness.push(BufferPtr(gst_buffer_ref(shared.get())));
  const BufferPtr out = harness.pull();
  EXPECT_NE(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(shared.get(), 0));
  EXPECT_EQ(samples_of(shared.get(), stream), before);
  EXPECT_NE(samples_of(out.get(), stream), before);
}

TEST(GstPluginFrames, ColourOfTheCapsIsUsed) {
  Harness harness("equalux backend=cpu");
  std::vector<std::vector<std::uint8_t>> results;
  for (const char* colorimetry : {"bt601", "bt709", "bt2020", "1:4:0:0"}) {
    const Stream stream =
        stream_of(PixelFormat::y444, 64, 48, std::string("colorimetry=(string)") + colorimetry);
    harness.set_caps(stream);
    BufferPtr buffer = picture(stream, 1, Layout::usual, Content::noise);
    results.push_back(filtered(buffer.get(), stream));
    expect_filtered(harness, stream, std::move(buffer));
  }
  EXPECT_NE(results[0], results[1]);
  EXPECT_NE(results[1], results[2]);
  EXPECT_NE(results[0], results[3]);
}

TEST(GstPluginFrames, InterlacedFramesKeepChromaInItsField) {
  const auto flag_tff = GST_VIDEO_BUFFER_FLAG_TFF;
  for (const bool mixed : {false, true}) {
    Harness harness("equalux backend=cpu");
    const Stream stream = stream_of(PixelFormat::i420, 62, 46,
                                    mixed ? "interlace-mode=mixed" : "interlace-mode=interleaved");
    harness.set_caps(stream);
    BufferPtr buffer = picture(stream, 1, Layout::usual, Content::noise);
    GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED | flag_tff);
    const auto progressive = filtered(buffer.get(), stream);
    EXPECT_NE(filtered(buffer.get(), stream, {}, FieldOrder::top_first), progressive);
    expect_filtered(harness, stream, std::move(buffer), FieldOrder::top_first);
    if (mixed) expect_filtered(harness, stream, picture(stream, 1, Layout::usual, Content::noise));
  }
}

TEST(GstPluginFrames, CurveFromAFileComesAndGoes) {
  ToneCurve curve;
  curve.frames = 1;
  for (std::uint32_t v = 0; v < 256; ++v)
    curve.levels.push_back((255 - (255 - v) * (255 - v) / 255) * ToneCurve::kUnit);
  const TempFolder folder;
  folder.write("c.json", curve_text(curve));
  folder.write("bad.json", "{}");
  EqualizeParams kept;
  kept.curve = curve;

  Harness harness("equalux backend=cpu curve-from=" + (folder / "c.json"));
  const Stream stream = stream_of(PixelFormat::rgb, 61, 37);
  harness.set_caps(stream);
  const auto result = [&](std::uint32_t seed) {
    EXPECT_EQ(harness.push(picture(stream, seed)), GST_FLOW_OK);
    return samples_of(harness.pull().get(), stream);
  };
  const BufferPtr second = picture(stream, 2);
  EXPECT_EQ(result(1), filtered(picture(stream, 1).get(), stream, kept));
  EXPECT_EQ(result(2), filtered(second.get(), stream, kept));
  g_object_set(harness.equalux(), "curve-from", nullptr, nullptr);
  EXPECT_EQ(result(2), filtered(second.get(), stream));
  g_object_set(harness.equalux(), "curve-from", (folder / "c.json").c_str(), nullptr);
  EXPECT_EQ(result(2), filtered(second.get(), stream, kept));
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");

  // What cannot be taken is told, and the curve before goes on.
  g_object_set(harness.equalux(), "curve-from", (folder / "bad.json").c_str(), nullptr);
  EXPECT_EQ(result(2), filtered(second.get(), stream, kept));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("bad.json is no tone curve"));
  g_object_set(harness.equalux(), "curve-from", (folder / "c.json").c_str(), "strength", 0.5,
               nullptr);
  EXPECT_EQ(result(2), filtered(second.get(), stream, kept));
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("curve-from stands beside strength"));
}

TEST(GstPluginFrames, FieldsInBuffersOfTheirOwnAreRefused) {
  Harness harness("equalux backend=cpu");
  const Stream stream = stream_of(PixelFormat::i420, 62, 46, "interlace-mode=fields");
  harness.set_caps(stream);
  EXPECT_NE(harness.push(picture(stream, 1)), GST_FLOW_OK);
  EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr("interlace-mode is fields, must be"));
}

TEST(GstPluginFrames, TimesFlagsAndMetasStay) {
  for (const bool in_place : {true, false}) {
    Harness harness("equalux backend=cpu");
    const Stream stream = stream_of(PixelFormat::rgb, 32, 32);
    harness.set_caps(stream);
    BufferPtr buffer = picture(stream, 7);
    GST_BUFFER_DTS(buffer.get()) = 6;
    GST_BUFFER_OFFSET(buffer.get()) = 77;
    GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_DELTA_UNIT);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
    crop->x = 3;
    crop->width = 20;
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 1, 2, 3, 4);
    const BufferPtr kept(in_place ? nullptr : gst_buffer_ref(buffer.get()));
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    const BufferPtr out = harness.pull();
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), 280 * GST_MSECOND);
    EXPECT_EQ(GST_BUFFER_DTS(out.get()), 6U);
    EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 40 * GST_MSECOND);
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_MARKER));
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DELTA_UNIT));
    const GstVideoCropMeta* out_crop = gst_buffer_get_video_crop_meta(out.get());
    ASSERT_NE(out_crop, nullptr);
    EXPECT_EQ(out_crop->x, 3U);
    EXPECT_EQ(out_crop->width, 20U);
    EXPECT_NE(gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0), nullptr);
  }
}

/// A decoder that crops sends frames larger than the caps, which the video meta tells.
TEST(GstPluginFrames, FramesLargerThanTheCaps) {
  for (const bool in_place : {true, false}) {
    Harness harness("equalux backend=cpu");
    const Stream shown = stream_of(PixelFormat::nv12, 60, 40);
    const Stream whole = stream_of(PixelFormat::nv12, 64, 48);
    harness.set_caps(shown);
    for (std::uint32_t i = 0; i < 3; ++i) {
      BufferPtr buffer = picture(whole, i, Layout::padded);
      gst_buffer_add_video_crop_meta(buffer.get())->width = 60;
      const BufferPtr kept(in_place ? nullptr : gst_buffer_ref(buffer.get()));
      expect_filtered(harness, whole, std::move(buffer));
      expect_filtered(harness, shown, picture(shown, i));
    }
  }
}

TEST(GstPluginFrames, GapsEmptyBuffersAndADisabledElementPassBuffersOn) {
  Harness harness("equalux backend=cpu queue-depth=0");
  const Stream stream = stream_of(PixelFormat::nv12, 64, 48);
  harness.set_caps(stream);
  const auto expect_same = [&](BufferPtr buffer) {
    const BufferPtr kept(gst_buffer_ref(buffer.get()));
    EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), kept);
  };
  BufferPtr gap = picture(stream, 1);
  GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
  expect_same(std::move(gap));
  expect_same(BufferPtr(gst_buffer_new()));
  g_object_set(harness.equalux(), "enabled", FALSE, nullptr);
  expect_same(picture(stream, 2));
}

TEST(GstPluginFrames, ABufferThatIsTooShortIsAnError) {
  Harness harness("equalux backend=cpu");
  const Stream stream = stream_of(PixelFormat::nv12, 64, 48);
  harness.set_caps(stream);
  EXPECT_EQ(harness.push(BufferPtr(gst_buffer_new_allocate(nullptr, 100, nullptr))),
            GST_FLOW_ERROR);
  EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr("100 bytes cannot be mapped"));
}

TEST(GstPluginFrames, SplitLeavesTheLeftSide) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::yuy2, PixelFormat::bgr}) {
    SCOPED_TRACE(to_string(format));
    Harness harness("equalux backend=cpu split=0.47");
    const Stream stream = stream_of(format, 101, 33);
    harness.set_caps(stream);
    BufferPtr buffer = picture(stream, 1);
    // 47 columns, or the 48 that whole chroma samples make of them.
    const int columns = format == PixelFormat::bgr ? 47 : 48;
    Image expected(stream.desc);
    const auto before = samples_of(buffer.get(), stream);
    const auto after = filtered(buffer.get(), stream);
    std::size_t at = 0;
    std::vector<std::uint8_t> wanted = after;
    for (int p = 0; p < traits(format).planes; ++p) {
      const std::size_t row = row_bytes(stream.desc, p);
      const std::size_t kept = static_cast<std::size_t>(
          p > 0 ? columns / 2
                : (format == PixelFormat::i420 ? columns
                                               : columns * (format == PixelFormat::bgr ? 3 : 2)));
      for (int y = 0; y < plane_rows(stream.desc, p); ++y, at += row)
        std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(at), kept,
                    wanted.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    EXPECT_EQ(samples_of(harness.pull().get(), stream), wanted);
  }
}

TEST(GstPluginFrames, RegionsAreFilteredByThemselves) {
  Harness harness("equalux backend=cpu regions=true");
  const Stream stream = stream_of(PixelFormat::gray8, 64, 64);
  harness.set_caps(stream);
  BufferPtr untouched = picture(stream, 1);
  const auto before = samples_of(untouched.get(), stream);
  ASSERT_EQ(harness.push(std::move(untouched)), GST_FLOW_OK);
  EXPECT_EQ(samples_of(harness.pull().get(), stream), before);  // no region: nothing to do

  // A region's bytes are those of a frame of its own.
  const Stream part = stream_of(PixelFormat::gray8, 20, 10);
  BufferPtr alone = picture(part, 1);
  gst_buffer_fill(alone.get(), 0, nullptr, 0);
  BufferPtr buffer = picture(stream, 1);
  {
    GstMapInfo map;
    gst_buffer_map(alone.get(), &map, GST_MAP_WRITE);
    for (std::size_t y = 0; y < 10; ++y)
      std::copy_n(before.begin() + static_cast<std::ptrdiff_t>((y + 7) * 64 + 5), 20,
                  map.data + y * static_cast<std::size_t>(part.info.stride[0]));
    gst_buffer_unmap(alone.get(), &map);
  }
  const auto region = filtered(alone.get(), part);
  auto wanted = before;
  for (std::size_t y = 0; y < 10; ++y)
    std::copy_n(region.begin() + static_cast<std::ptrdiff_t>(y * 20), 20,
                wanted.begin() + static_cast<std::ptrdiff_t>((y + 7) * 64 + 5));
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 5, 7, 20, 10);
  // Outside of the frame, and empty: nothing.
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 64, 10, 20, 10);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 4000000000U, 0, 5, 5);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 10, 10, 0, 5);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(samples_of(harness.pull().get(), stream), wanted);
}

TEST(GstPluginFrames, RegionsOfEveryFormatStayInTheFrame) {
  for (const PixelFormat format : formats()) {
    Harness harness("equalux backend=cpu regions=true queue-depth=1");
    const Stream stream = stream_of(format, 33, 17, "interlace-mode=interleaved");
    harness.set_caps(stream);
    for (guint i = 0; i < 20; ++i) {
      BufferPtr buffer = picture(stream, i, Layout::padded);
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", i, i, 5 + i, 3 + i);
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 32, 16, 100, 100);
      ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    }
  }
}

TEST(GstPluginFrames, RegionsThatAreTooSmallForTilesStayAsTheyWere) {
  Harness harness("equaluxclahe backend=cpu regions=true");
  const Stream stream = stream_of(PixelFormat::gray8, 64, 64);
  harness.set_caps(stream);
  const auto shown = [&](guint side) {
    BufferPtr buffer = picture(stream, 1);
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 8, 8, side, side);
    EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    return samples_of(harness.pull().get(), stream);
  };
  const auto before = samples_of(picture(stream, 1).get(), stream);
  const auto large = shown(32);
  EXPECT_NE(large, before);
  EXPECT_EQ(shown(6), before);
  EXPECT_EQ(shown(6), before);
  EXPECT_EQ(shown(32), large);
  EXPECT_EQ(shown(6), before);
  // Other tiles are asked again.
  g_object_set(harness.equalux(), "tiles", "2,2", nullptr);
  EXPECT_NE(shown(6), before);
}

TEST(GstPluginFrames, TheProgramMakesTheSameBytes) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(161, 91, 3));
  const ProgramResult run = run_program(
      {"run", folder / "in.y4m", "-o", "-", "--preset", "plain", "--backend", "cpu", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const PipelineEnd end = run_pipeline("filesrc location=" + (folder / "in.y4m") +
                                       " ! y4mdec ! equalux backend=cpu ! y4menc ! " +
                                       "filesink location=" + (folder / "out.y4m"));
  ASSERT_TRUE(end.eos) << end.error;
  const std::string frame = "FRAME\n";
  const std::string ours = folder.read("out.y4m");
  EXPECT_EQ(ours.substr(ours.find(frame)), run.out.substr(run.out.find(frame)));

  folder.write("in.ppm", dim_ppm(160, 90));
  const ProgramResult image =
      run_program({"image", folder / "in.ppm", folder / "out.ppm", "--backend", "cpu", "--quiet"});
  ASSERT_EQ(image.exit_code, 0) << image.err;
  Harness harness("equalux backend=cpu");
  const Stream stream = stream_of(PixelFormat::rgb, 160, 90);
  harness.set_caps(stream);
  const std::string still = folder.read("in.ppm");
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&stream.info), nullptr));
  gst_buffer_fill(buffer.get(), 0, still.data() + still.size() - 160 * 90 * 3, 160 * 90 * 3);
  harness.push(std::move(buffer));
  const auto bytes = samples_of(harness.pull().get(), stream);
  const std::string result = folder.read("out.ppm");
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), result.substr(result.size() - bytes.size()));
}

}  // namespace
}  // namespace equalux::test
