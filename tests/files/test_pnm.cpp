#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/files/partial_file.h"
#include "pipelines/files/pnm.h"
#include "pipelines/files/still.h"
#include "pipelines/picture/convert_rgb.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

struct PnmTest : ::testing::Test {
  TempFolder folder;
  Image read(const std::string& bytes) {
    write_file(folder / "in.pnm", bytes);
    return read_pnm(folder / "in.pnm");
  }
};

TEST_F(PnmTest, ReadsGrayAndColour) {
  const Image gray = read("P5\n3 2\n255\nabcdef");
  EXPECT_EQ(gray.desc(), full_range(PixelFormat::gray8, 3, 2));
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
    const PaddedImage image(full_range(format, 17, 5), 3);
    fill(image.view(), Content::noise);
    write_pnm(folder / "out.pnm", image.view());
    EXPECT_EQ(count_differences(read_pnm(folder / "out.pnm").view(), image.view()), 0U);
  }
  EXPECT_EQ(folder.entries(), 1) << "no partial file stays";
}

TEST_F(PnmTest, EveryPackedFormBecomesRgb) {
  const PaddedImage rgb(full_range(PixelFormat::rgb, 9, 4));
  fill(rgb.view(), Content::noise);
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (traits(format).model != ColorModel::rgb || !has_byte_samples(format)) continue;
    Image image(full_range(format, 9, 4));
    convert_to_rgb(rgb.view(), image.view());
    write_pnm(folder / "out.ppm", image.view());
    EXPECT_EQ(count_differences(read_pnm(folder / "out.ppm").view(), rgb.view()), 0U)
        << to_string(format);
  }
}

TEST_F(PnmTest, SixteenBitsHaveTheHighByteFirst) {
  const Image gray = read("P5 2 1 65535\n\x12\x34\xff\xfe"s);
  EXPECT_EQ(gray.desc(), full_range(PixelFormat::gray16_le, 2, 1));
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
  const PaddedImage rgb(full_range(PixelFormat::rgb48_le, 9, 4));
  fill(rgb.view(), Content::noise);
  for (const PixelFormat format :
       {PixelFormat::rgb48_le, PixelFormat::bgr48_le, PixelFormat::rgba64_le,
        PixelFormat::bgra64_le, PixelFormat::argb64_le, PixelFormat::abgr64_le}) {
    Image image(full_range(format, 9, 4));
    convert_to_rgb(rgb.view(), image.view());
    write_pnm(folder / "out.ppm", image.view());
    EXPECT_EQ(count_differences(read_pnm(folder / "out.ppm").view(), rgb.view()), 0U)
        << to_string(format);
  }
  const PaddedImage gray(full_range(PixelFormat::gray16_le, 9, 4), 2);
  fill(gray.view(), Content::noise);
  write_pnm(folder / "out.pgm", gray.view());
  EXPECT_EQ(count_differences(read_pnm(folder / "out.pgm").view(), gray.view()), 0U);
}

TEST_F(PnmTest, TheNameDecidesWhereItSaysMore) {
  const PaddedImage gray(full_range(PixelFormat::gray8, 4, 4));
  const PaddedImage colour(full_range(PixelFormat::bgr, 4, 4));
  write_pnm(folder / "gray.ppm", gray.view());
  EXPECT_EQ(read_pnm(folder / "gray.ppm").desc().format, PixelFormat::rgb);
  EXPECT_EQ(error_of([&] { write_pnm(folder / "x.pgm", colour.view()); }).first, ExitCode::usage);
  EXPECT_EQ(error_of([&] { write_pnm(folder / "X.PGM", colour.view()); }).first, ExitCode::usage);
  write_pnm(folder / "GRAY.PPM", gray.view());
  EXPECT_EQ(read_pnm(folder / "GRAY.PPM").desc().format, PixelFormat::rgb);
  const PaddedImage yuv(full_range(PixelFormat::i420, 4, 4));
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
  const PaddedImage gray(full_range(PixelFormat::gray8, 4, 4));
  EXPECT_EQ(error_of([&] { write_pnm(folder / "no/x.pgm", gray.view()); }).first,
            ExitCode::cannot_create);
}

TEST_F(PnmTest, MutatedFilesNeverCrash) {
  const std::string good = "P6\n# comment\n7 5\n255\n" + std::string(105, 'x');
  std::mt19937 random(5);
  const int rounds = wants_every_count() ? 20'000 : 2'000;
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
  const PaddedImage gray(full_range(PixelFormat::gray8, 64, 64));
  const auto [code, text] = error_of([&] { write_pnm("/dev/full", gray.view()); });
  EXPECT_EQ(code, ExitCode::write_failed);
  EXPECT_THAT(text, HasSubstr("No space left"));
}

// ---- stills

/// "fake" files: their whole content is one gray level in ASCII.
StillCodec fake_codec() {
  StillCodec codec;
  codec.knows = [](const std::string& extension) { return extension == "fake"; };
  codec.read = [](const std::string& path, StillNotes&) {
    Image image(full_range(PixelFormat::gray8, 2, 2));
    fill_bytes(image.view(), static_cast<std::uint8_t>(read_file(path).at(0)));
    return image;
  };
  codec.write = [](const std::string& path, const ConstImageView& image, const StillNotes&,
                   const StillOptions&) -> std::string {
    if (image.row(0, 0)[0] == 'X') {
      write_file(path, "half");
      throw Error(ExitCode::write_failed, path + ": disk full");
    }
    write_file(path, std::string(1, static_cast<char>(image.row(0, 0)[0])) +
                         std::string(to_string(image.desc.format)));
    return {};
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
    const PaddedImage image(full_range(format, 2, 2));
    fill(image.view(), Content::constant);
    write_still(folder / "out.fake", image.view());
    EXPECT_EQ(read_file(folder / "out.fake").substr(1), name) << to_string(format);
  }
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(StillTest, AStillIsWrittenByOneAtATime) {
  const PaddedImage image(full_range(PixelFormat::gray8, 2, 2));
  fill(image.view(), Content::constant);
  for (const char* name : {"out.fake", "out.ppm"}) {
    const std::string path = folder / name;
    {
      const bool own = std::string_view(name).ends_with("ppm");
      const OutputLock other(own ? partial_path(path) : lock_path(path), path);
      const auto [code, text] = error_of([&] { write_still(path, image.view()); });
      EXPECT_EQ(code, ExitCode::cannot_create);
      EXPECT_THAT(text, HasSubstr(path + ": another equalux is writing it"));
    }
    EXPECT_EQ(folder.entries(), 0) << "no lock stays";
    write_still(path, image.view());
    EXPECT_EQ(folder.entries(), 1);
    std::filesystem::remove(path);
  }
}

TEST_F(StillTest, FormatsOfEightBitsRefuseMore) {
  const PaddedImage deep(full_range(PixelFormat::gray16_le, 2, 2));
  const auto [code, text] = error_of([&] { write_still(folder / "out.fake", deep.view()); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr(".fake holds 8 bits a sample, the frames are gray16_le"));
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(StillTest, AFailedCodecLeavesNothingAndNamesTheFile) {
  Image image(full_range(PixelFormat::gray8, 2, 2));
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
  EXPECT_EQ(error_of([&] { static_cast<void>(read_still(folder / "")); }),
            std::pair(ExitCode::bad_input, (folder / "") + ": is a folder; must be an image"));
  const PaddedImage gray(full_range(PixelFormat::gray8, 2, 2));
  const auto [code, text] = error_of([&] { write_still(folder / "b.tiff2", gray.view()); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("'tiff2' is not known; must be .ppm"));
}

}  // namespace
}  // namespace equalux::test
