#include <equalux/clahe.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/files/pnm.h"
#include "tests/support/media/test_images.h"
#include "tests/support/media/y4m_streams.h"
#include "tests/support/program_test.h"

/// The program on stills and streams of more than 8 bits.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Depth : public ProgramTest {
 protected:
  /// Ends with the code, and one line on stderr that holds the text.
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& text) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  }
};

/// What the library makes of a frame.
Image equalized(const ConstImageView& in) {
  const auto filter = make_cpu_filter(EqualizeParams{}, {1});
  filter->configure(in.desc);
  Image out(in.desc);
  FrameContext context;
  filter->submit(in, out.view(), context);
  return out;
}

TEST_F(Depth, StillsKeepSixteenBits) {
  for (const PixelFormat format : {PixelFormat::gray16_le, PixelFormat::rgb48_le}) {
    const std::string extension = format == PixelFormat::gray16_le ? ".pgm" : ".ppm";
    ImageDesc desc = desc_of(format, 61, 47);
    desc.range = ColorRange::full;  // as read_pnm() says
    Image still(desc);
    fill(still.view(), Content::natural, 3);
    write_pnm(folder_ / ("in" + extension), still.view());
    const ProgramResult result = run({"image", "in" + extension, "out" + extension});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Image out = read_pnm(folder_ / ("out" + extension));
    ASSERT_EQ(out.desc(), desc);
    EXPECT_EQ(count_differences(out.view(), equalized(std::as_const(still).view()).view()), 0U);
  }
}

TEST_F(Depth, StreamsKeepTheirBits) {
  for (const auto& [tag, format] : {std::pair("420p10", PixelFormat::i420_10le),
                                    {"422p12", PixelFormat::i422_12le},
                                    {"444p16", PixelFormat::y444_16le},
                                    {"mono16", PixelFormat::gray16_le}}) {
    SCOPED_TRACE(tag);
    const std::string header =
        std::string("W33 H19 F25:1 Ip A1:1 C") + tag + " XCOLORRANGE=LIMITED";
    ImageDesc desc = desc_of(format, 33, 19);
    desc.matrix = ColorMatrix::bt601;  // of a stream that says nothing, at this height
    folder_.write("in.y4m", make_stream(header, desc, 3));
    const ProgramResult result = run({"run", "in.y4m", "-y", "-o", "out.y4m", "--preset", "plain"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::string expected = "YUV4MPEG2 " + header + "\n";
    for (std::uint32_t n = 1; n <= 3; ++n) {
      const PaddedImage frame(desc);
      fill(frame.view(), Content::noise, n);
      const auto bytes = tight_copy(equalized(frame.view()).view());
      expected += "FRAME\n";
      expected.append(bytes.begin(), bytes.end());
    }
    EXPECT_TRUE(folder_.read("out.y4m") == expected);
  }
}

TEST_F(Depth, TilesKeepTheirBits) {
  const auto tiled = [](const ConstImageView& in) {
    const auto filter = make_cpu_filter(ClaheParams{}, {1});
    filter->configure(in.desc);
    Image out(in.desc);
    FrameContext context;
    filter->submit(in, out.view(), context);
    return out;
  };
  for (const PixelFormat format : {PixelFormat::gray16_le, PixelFormat::rgb48_le}) {
    const std::string extension = format == PixelFormat::gray16_le ? ".pgm" : ".ppm";
    ImageDesc desc = desc_of(format, 61, 47);
    desc.range = ColorRange::full;  // as read_pnm() says
    Image still(desc);
    fill(still.view(), Content::natural, 3);
    write_pnm(folder_ / ("in" + extension), still.view());
    const ProgramResult result =
        run({"image", "in" + extension, "out" + extension, "--filter", "clahe"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Image out = read_pnm(folder_ / ("out" + extension));
    EXPECT_EQ(count_differences(out.view(), tiled(std::as_const(still).view()).view()), 0U);
  }
  ImageDesc desc = desc_of(PixelFormat::i420_10le, 33, 19);
  desc.matrix = ColorMatrix::bt601;  // of a stream that says nothing, at this height
  const std::string header = "W33 H19 F25:1 Ip A1:1 C420p10 XCOLORRANGE=LIMITED";
  folder_.write("in.y4m", make_stream(header, desc, 1));
  const ProgramResult result =
      run({"run", "in.y4m", "-o", "out.y4m", "--preset", "plain", "--filter", "clahe"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const PaddedImage frame(desc);
  fill(frame.view(), Content::noise, 1);
  const auto bytes = tight_copy(tiled(frame.view()).view());
  EXPECT_TRUE(folder_.read("out.y4m") ==
              "YUV4MPEG2 " + header + "\nFRAME\n" + std::string(bytes.begin(), bytes.end()));
}

TEST_F(Depth, SequencesOfStillsKeepTheirs) {
  Image still(desc_of(PixelFormat::rgb48_le, 20, 10));
  for (const char* name : {"f0.ppm", "f1.ppm"}) {
    fill(still.view(), Content::natural, static_cast<std::uint32_t>(name[1]));
    write_pnm(folder_ / name, still.view());
  }
  const ProgramResult result = run({"run", "f%d.ppm", "-o", "o%d.ppm", "--preset", "plain"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder_.read("o1.ppm"), StartsWith("P6\n20 10\n65535\n"));
  EXPECT_EQ(count_differences(read_pnm(folder_ / "o1.ppm").view(),
                              equalized(std::as_const(still).view()).view()),
            0U);
  // A stream of YCbCr becomes stills of 16 bits too.
  folder_.write("in.y4m",
                make_stream("W8 H4 F25:1 C420p10", desc_of(PixelFormat::i420_10le, 8, 4), 1));
  ASSERT_EQ(run({"run", "in.y4m", "-o", "y%d.ppm"}).exit_code, 0);
  EXPECT_THAT(folder_.read("y0.ppm"), StartsWith("P6\n8 4\n65535\n"));
}

TEST_F(Depth, EveryFilterOfAChainIsAskedWhichFramesItTakes) {
  folder_.write("in.y4m", make_stream("W8 H4 F25:1", desc_of(PixelFormat::i420, 8, 4), 1));
  // The staged chain takes RGB, in which denoise hands its frames on where it is asked for it.
  ASSERT_EQ(run({"run", "in.y4m", "-o", "o%d.ppm", "--preset", "plain", "--backend", "cpu",
                 "--filter", "denoise", "--filter", "equalize:chain=staged"})
                .exit_code,
            0);
  EXPECT_THAT(folder_.read("o0.ppm"), StartsWith("P6\n8 4\n255\n"));
  // Behind a filter whose results are gray of 8 bits the frame's own format counts no more.
  ASSERT_EQ(run({"run", "in.y4m", "-o", "m%d.pgm", "--preset", "plain", "--filter", "vessel",
                 "--filter", "equalize:chain=staged", "--backend", "cpu"})
                .exit_code,
            0);
  EXPECT_THAT(folder_.read("m0.pgm"), StartsWith("P5\n8 4\n255\n"));
}

TEST_F(Depth, FiltersThatNoFrameGoesThroughAreNotTheInputsFault) {
  folder_.write("in.y4m", make_stream("W8 H4 F25:1 C444", desc_of(PixelFormat::y444, 8, 4), 1));
  expect_error({"run", "in.y4m", "-o", "out.y4m", "--filter", "eigenvalues", "--filter", "denoise"},
               2, "the frame's format is grayf32x2, must be one of 8, 10 or 12 bits for denoise");
  expect_error({"run", "in.y4m", "-o", "o%d.ppm", "--filter", "vessel:output=heat", "--filter",
                "clahe:compatible=opencv"},
               2, "the frame's format is bgr, must be gray8 or gray16_le for compatible opencv");
}

TEST_F(Depth, WhatTakesEightBitsSaysSo) {
  Image still(desc_of(PixelFormat::gray16_le, 8, 4));
  fill(still.view(), Content::natural);
  write_pnm(folder_ / "in.pgm", still.view());
  folder_.write("in.y4m",
                make_stream("W8 H4 F25:1 C420p10", desc_of(PixelFormat::i420_10le, 8, 4), 1));
  expect_error({"image", "in.pgm", "out.pgm", "--filter", "sharpen"}, 2,
               "does not take gray16_le stills, must have 8 bits a sample");
  expect_error({"image", "in.pgm", "out.pgm", "--chain", "staged", "--backend", "cpu"}, 2,
               "must have 8 bits a sample");
  Image colour(desc_of(PixelFormat::bgr, 8, 4));
  fill(colour.view(), Content::natural);
  write_pnm(folder_ / "in.ppm", colour.view());
  expect_error({"image", "in.ppm", "out.ppm", "--filter", "clahe:compatible=opencv"}, 2,
               " stills, must be gray8 or gray16_le");
  Image deep_colour(desc_of(PixelFormat::rgb48_le, 8, 4));
  fill(deep_colour.view(), Content::natural);
  write_pnm(folder_ / "in.ppm", deep_colour.view());
  expect_error({"image", "in.ppm", "out.ppm", "--filter", "clahe:compatible=opencv"}, 2,
               "does not take rgb48_le stills, must be gray8 or gray16_le");
  expect_error({"run", "in.y4m", "-o", "out.y4m", "--filter", "vessel"}, 2,
               "is 10-bit video; the filters take 8 bits");
  folder_.write("deep.y4m",
                make_stream("W8 H4 F25:1 Cmono16", desc_of(PixelFormat::gray16_le, 8, 4), 1));
  expect_error({"run", "deep.y4m", "-o", "out.y4m", "--filter", "denoise"}, 2,
               "is 16-bit video; the filters take 8 bits, convert it first");
  // So many bits of YCbCr: gray and RGB may have fewer.
  folder_.write("deep444.y4m",
                make_stream("W8 H4 F25:1 C444p16", desc_of(PixelFormat::y444_16le, 8, 4), 1));
  expect_error({"run", "deep444.y4m", "-o", "out.y4m", "--filter", "denoise"}, 2,
               "is 16-bit video; the filters take up to 12 bits, convert it first");
  // What the first filter takes and the second does not is not asked of the input either.
  expect_error({"run", "in.y4m", "-o", "out.y4m", "--filter", "equalize", "--filter", "sharpen"}, 2,
               "in.y4m: is 10-bit video; the filters take 8 bits, convert it first");
  expect_error({"run", "deep.y4m", "-o", "out.y4m", "--preset", "low-light"}, 2,
               "deep.y4m: is 16-bit video; the filters take 8 bits, convert it first");
  expect_error({"image", "in.pgm", "out.pgm", "--preset", "low-light"}, 2,
               "does not take gray16_le stills, must have 8 bits a sample");
  EXPECT_THAT(folder_.names(), ::testing::UnorderedElementsAre("in.pgm", "in.ppm", "in.y4m",
                                                               "deep.y4m", "deep444.y4m"));
}

}  // namespace
}  // namespace equalux::test
