#include <cstdlib>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert_rgb.h"
#include "pnm.h"
#include "still.h"
#include "support/pipeline_fakes.h"
#include "support/temp_folder.h"
#include "support/test_images.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

ImageDesc desc_of(PixelFormat format, int width, int height) {
  ImageDesc desc;
  desc.format = format;
  desc.width = width;
  desc.height = height;
  desc.range = ColorRange::full;
  return desc;
}

struct PnmTest : ::testing::Test {
  TempFolder folder;
  Image read(const std::string& bytes) {
    write_file(folder / "in.pnm", bytes);
    return read_pnm(folder / "in.pnm");
  }
};

TEST_F(PnmTest, ReadsGrayAndColour) {
  const Image gray = read("P5\n3 2\n255\nabcdef");
  EXPECT_EQ(gray.desc(), desc_of(PixelFormat::gray8, 3, 2));
  EXPECT_EQ(gray.view().row(0, 1)[2], 'f');
  const Image colour = read("P6 1 2 255\nRGBrgb");
  EXPECT_EQ(colour.desc().format, PixelFormat::rgb);
  EXPECT_EQ(colour.view().row(0, 1)[0], 'r');
}

TEST_F(PnmTest, ReadsCommentsAndOddSpaces) {
  const Image gray = read("P5 # made by hand\n# twice\n 2\t\n# again\n1\r\n255\nxy");
  EXPECT_EQ(gray.desc().width, 2);
  EXPECT_EQ(gray.view().row(0, 0)[1], 'y');
}

TEST_F(PnmTest, ScalesASmallerMaximum) {
  const Image gray = read("P5 3 1 15\n\x00\x08\x0f"s);
  EXPECT_EQ(gray.view().row(0, 0)[1], 136);
  EXPECT_EQ(gray.view().row(0, 0)[2], 255);
}

TEST_F(PnmTest, WritesWhatItReads) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb}) {
    const PaddedImage image(desc_of(format, 17, 5), 3);
    fill(image.view(), Content::noise);
    write_pnm(folder / "out.pnm", image.view());
    EXPECT_EQ(count_differences(read_pnm(folder / "out.pnm").view(), image.view()), 0U);
  }
  EXPECT_EQ(folder.entries(), 1) << "no partial file stays";
}

TEST_F(PnmTest, EveryPackedFormBecomesRgb) {
  const PaddedImage rgb(desc_of(PixelFormat::rgb, 9, 4));
  fill(rgb.view(), Content::noise);
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (traits(format).model != ColorModel::rgb || !has_byte_samples(format)) continue;
    Image image(desc_of(format, 9, 4));
    convert_to_rgb(rgb.view(), image.view());
    write_pnm(folder / "out.ppm", image.view());
    EXPECT_EQ(count_differences(read_pnm(folder / "out.ppm").view(), rgb.view()), 0U)
        << to_string(format);
  }
}

TEST_F(PnmTest, SixteenBitsHaveTheHighByteFirst) {
  const Image gray = read("P5 2 1 65535\n\x12\x34\xff\xfe"s);
  EXPECT_EQ(gray.desc(), desc_of(PixelFormat::gray16_le, 2, 1));
  EXPECT_THAT(tight_copy(gray.view()), ::testing::ElementsAre(0x34, 0x12, 0xfe, 0xff));
  const Image ten = read("P5 2 1 1023\n\x03\xff\x02\x00"s);
  EXPECT_THAT(tight_copy(ten.view()), ::testing::ElementsAre(255, 255, 32800 % 256, 32800 / 256));
  const Image colour = read("P6 1 1 65535\nRrGgBb");
  EXPECT_EQ(colour.desc().format, PixelFormat::rgb48_le);
  EXPECT_EQ(colour.view().row(0, 0)[0], 'r');
  write_pnm(folder / "out.ppm", colour.view());
  EXPECT_EQ(read_file(folder / "out.ppm"), "P6\n1 1\n65535\nRrGgBb");
}

TEST_F(PnmTest, EveryDeepFormComesBack) {
  const PaddedImage rgb(desc_of(PixelFormat::rgb48_le, 9, 4));
  fill(rgb.view(), Content::noise);
  for (const PixelFormat format :
       {PixelFormat::rgb48_le, PixelFormat::bgr48_le, PixelFormat::rgba64_le,
        PixelFormat::bgra64_le, PixelFormat::argb64_le, PixelFormat::abgr64_le}) {
    Image image(desc_of(format, 9, 4));
    convert_to_rgb(rgb.view(), image.view());
    write_pnm(folder / "out.ppm", image.view());
    EXPECT_EQ(count_differences(read_pnm(folder / "out.ppm").view(), rgb.view()), 0U)
        << to_string(format);
  }
  const PaddedImage gray(desc_of(PixelFormat::gray16_le, 9, 4), 2);
  fill(gray.view(), Content::noise);
  write_pnm(folder / "out.pgm", gray.view());
  EXPECT_EQ(count_differences(read_pnm(folder / "out.pgm").view(), gray.view()), 0U);
}

TEST_F(PnmTest, TheNameDecidesWhereItSaysMore) {
  const PaddedImage gray(desc_of(PixelFormat::gray8, 4, 4));
  const PaddedImage colour(desc_of(PixelFormat::bgr, 4, 4));
  write_pnm(folder / "gray.ppm", gray.view());
  EXPECT_EQ(read_pnm(folder / "gray.ppm").desc().format, PixelFormat::rgb);
  EXPECT_EQ(error_of([&] { write_pnm(folder / "x.pgm", colour.view()); }).first, ExitCode::usage);
  const PaddedImage yuv(desc_of(PixelFormat::i420, 4, 4));
  EXPECT_EQ(error_of([&] { write_pnm(folder / "x.ppm", yuv.view()); }).first, ExitCode::usage);
}

TEST_F(PnmTest, DamagedFilesAreBadInput) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "header does not end"},
      {"P", "header does not end"},
      {"P4 8 1\nx", "kind P5 or P6"},
      {"P2 1 1 255 7", "kind P5 or P6"},
      {"\x89PNG\r\n", "kind P5 or P6"},
      {"P5 3", "header does not end"},
      {"P5 x 2 255\n", "width is no number"},
      {"P5 -3 2 255\n", "width is no number"},
      {"P5 0 2 255\n", "sides must be 1 to 65535"},
      {"P5 70000 2 255\n", "sides must be 1 to 65535"},
      {"P5 65535 65535 255\n", "pixels 2^31 at most"},
      {"P5 99999999999999 2 255\n", "absurd"},
      {"P5 2 2 0\nabcd", "maximum is 0"},
      {"P5 2 2 65536\nabcdabcd", "maximum is 65536; must be 1 to 65535"},
      {"P5 2 2 65535\nabcdabc", "holds 7 of its 8 bytes"},
      {"P5 1 1 1023\n\x04\x01", "above its maximum"},
      {"P5 2 2 255\nabc", "holds 3 of its 4 bytes"},
      {"P6 30000 30000 255\nabc", "holds 3 of its 2700000000 bytes"},
      {"P5 1 1 15\n\x20", "above its maximum"},
      {"P5 #" + std::string(5000, '.'), "header does not end"},
  };
  for (const auto& [bytes, message] : cases) {
    const auto [code, text] = error_of([&, bytes = bytes] { read(bytes); });
    EXPECT_EQ(code, ExitCode::bad_input) << bytes.substr(0, 40);
    EXPECT_THAT(text, HasSubstr(message));
    EXPECT_THAT(text, HasSubstr("in.pnm: "));
  }
}

TEST_F(PnmTest, MissingFilesAndFolders) {
  EXPECT_EQ(error_of([&] { static_cast<void>(read_pnm(folder / "none.ppm")); }).first,
            ExitCode::no_input);
  const PaddedImage gray(desc_of(PixelFormat::gray8, 4, 4));
  EXPECT_EQ(error_of([&] { write_pnm(folder / "no/x.pgm", gray.view()); }).first,
            ExitCode::cannot_create);
}

TEST_F(PnmTest, MutatedFilesNeverCrash) {
  const std::string good = "P6\n# comment\n7 5\n255\n" + std::string(105, 'x');
  std::mt19937 random(5);
  const int rounds = std::getenv("EQUALUX_FULL") != nullptr ? 20'000 : 2'000;
  for (int i = 0; i < rounds; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k)
      bytes[random() % 20] = static_cast<char>(random());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    try {
      read(bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
    }
  }
}

TEST_F(PnmTest, ADiskThatFillsUpIsAWriteError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const PaddedImage gray(desc_of(PixelFormat::gray8, 64, 64));
  const auto [code, text] = error_of([&] { write_pnm("/dev/full", gray.view()); });
  EXPECT_EQ(code, ExitCode::write_failed);
  EXPECT_THAT(text, HasSubstr("No space left"));
}

// ---- stills

/// "fake" files: their whole content is one gray level in ASCII.
StillCodec fake_codec() {
  StillCodec codec;
  codec.knows = [](const std::string& extension) { return extension == "fake"; };
  codec.read = [](const std::string& path) {
    Image image(desc_of(PixelFormat::gray8, 2, 2));
    fill_bytes(image.view(), static_cast<std::uint8_t>(read_file(path).at(0)));
    return image;
  };
  codec.write = [](const std::string& path, const ConstImageView& image) {
    if (image.row(0, 0)[0] == 'X') {
      write_file(path, "half");
      throw Error(ExitCode::write_failed, path + ": disk full");
    }
    write_file(path, std::string(1, static_cast<char>(image.row(0, 0)[0])) +
                         std::string(to_string(image.desc.format)));
  };
  return codec;
}

struct StillTest : PnmTest {
  static void SetUpTestSuite() { set_still_codec(fake_codec()); }
};

TEST_F(StillTest, KnowsItsExtensions) {
  for (const char* name : {"a.ppm", "a.PGM", "b/c.pnm", "x.fake", "x.FAKE"}) {
    EXPECT_TRUE(knows_still(name)) << name;
  }
  for (const char* name : {"a", "a.txt", "ppm", ".ppm", "a.ppm/b"}) {
    EXPECT_FALSE(knows_still(name)) << name;
  }
}

TEST_F(StillTest, CodecsGetTheFormatsTheyTake) {
  const std::pair<PixelFormat, const char*> cases[] = {
      {PixelFormat::gray8, "gray8"}, {PixelFormat::rgb, "bgr"},   {PixelFormat::bgr, "bgr"},
      {PixelFormat::xrgb, "bgr"},    {PixelFormat::rgba, "bgra"}, {PixelFormat::abgr, "bgra"}};
  for (const auto& [format, name] : cases) {
    const PaddedImage image(desc_of(format, 2, 2));
    fill(image.view(), Content::constant);
    write_still(folder / "out.fake", image.view());
    EXPECT_EQ(read_file(folder / "out.fake").substr(1), name) << to_string(format);
  }
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(StillTest, FormatsOfEightBitsRefuseMore) {
  const PaddedImage deep(desc_of(PixelFormat::gray16_le, 2, 2));
  const auto [code, text] = error_of([&] { write_still(folder / "out.fake", deep.view()); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr(".fake holds 8 bits a sample, the frames are gray16_le"));
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(StillTest, AFailedCodecLeavesNothingAndNamesTheFile) {
  Image image(desc_of(PixelFormat::gray8, 2, 2));
  fill_bytes(image.view(), 'X');
  const auto [code, text] = error_of([&] { write_still(folder / "out.fake", image.view()); });
  EXPECT_EQ(code, ExitCode::write_failed);
  EXPECT_EQ(text, (folder / "out.fake") + ": disk full");
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(StillTest, MissingAndUnknownFiles) {
  EXPECT_EQ(error_of([&] { static_cast<void>(read_still(folder / "none.fake")); }).first,
            ExitCode::no_input);
  write_file(folder / "a.txt", "x");
  EXPECT_EQ(error_of([&] { static_cast<void>(read_still(folder / "a.txt")); }).first,
            ExitCode::bad_input);
  const PaddedImage gray(desc_of(PixelFormat::gray8, 2, 2));
  const auto [code, text] = error_of([&] { write_still(folder / "b.tiff2", gray.view()); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("'tiff2' is not known; must be .ppm"));
}

// ---- conversions to RGB

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
