#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/core/processor.h"
#include "pipelines/core/run.h"
#include "pipelines/files/image_pattern.h"
#include "pipelines/files/still.h"
#include "pipelines/opencv/caption.h"
#include "pipelines/opencv/still.h"
#include "pipelines/opencv/still_check.h"
#include "pipelines/opencv/whole_file.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

class Stills : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { register_opencv_stills(); }
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "equalux-still-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  void put(const std::string& name, const Bytes& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  static Image natural(PixelFormat format, int width = 61, int height = 47) {
    Image image({.format = format, .width = width, .height = height});
    test::fill(image.view(), test::Content::natural, 7);
    return image;
  }

  /// Writes an image and gives the file's bytes back.
  [[nodiscard]] Bytes encoded(const std::string& name,
                              PixelFormat format = PixelFormat::bgr) const {
    write_still(path(name), natural(format).view());
    return read_whole_file(path(name));
  }

  fs::path folder_;
};

void expect_error(const std::string& path, ExitCode code, const std::string& text) {
  try {
    (void)read_still(path);
    ADD_FAILURE() << path << " was read";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr(text));
    EXPECT_THAT(e.what(), HasSubstr(path));
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  }
}

TEST_F(Stills, EveryLosslessFormatGivesItsBytesBack) {
  for (const char* extension : {"png", "bmp", "tif", "tiff", "webp", "PNG"}) {
    for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::bgra}) {
      SCOPED_TRACE(std::string(extension) + " " + std::string(to_string(format)));
      Image written = natural(format);
      if (format == PixelFormat::bgra)
        for (int y = 0; y < 47; ++y)  // WebP gives up the colour of what cannot be seen.
          for (int x = 0; x < 61; ++x)
            written.view().row(0, y)[4 * x + 3] |= 1U;
      const std::string file = path(std::string("a.") + extension);
      write_still(file, written.view());
      const Image read = read_still(file);
      const bool webp_has_no_gray =
          std::string(extension) == "webp" && format == PixelFormat::gray8;
      const bool bmp_alpha = std::string(extension) == "bmp" && format == PixelFormat::bgra;
      if (webp_has_no_gray || bmp_alpha) {
        EXPECT_EQ(read.desc().format, PixelFormat::bgr);
        continue;
      }
      ASSERT_EQ(read.desc(), written.desc());
      EXPECT_EQ(test::count_differences(read.view(), written.view()), 0U);
    }
  }
  EXPECT_THAT(files(), ::testing::Each(::testing::Not(HasSubstr("partial"))));
}

TEST_F(Stills, SixteenBitsComeBack) {
  for (const char* extension : {"png", "tif", "tiff"}) {
    for (const PixelFormat format :
         {PixelFormat::gray16_le, PixelFormat::bgr48_le, PixelFormat::bgra64_le}) {
      SCOPED_TRACE(std::string(extension) + " " + std::string(to_string(format)));
      const Image written = natural(format);
      const std::string file = path(std::string("a.") + extension);
      write_still(file, written.view());
      const Image read = read_still(file);
      ASSERT_EQ(read.desc(), written.desc());
      EXPECT_EQ(test::count_differences(read.view(), written.view()), 0U);
    }
  }
  for (const char* extension : {"jpg", "bmp", "webp"}) {
    try {
      write_still(path(std::string("b.") + extension), natural(PixelFormat::bgr48_le).view());
      ADD_FAILURE() << extension << " was written";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      EXPECT_THAT(e.what(), HasSubstr("holds 8 bits a sample, the frames are bgr48_le"));
    }
  }
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(Stills, RowsBottomUpAndPaddedAreWrittenRight) {
  const ImageDesc desc{.format = PixelFormat::bgr, .width = 33, .height = 9};
  const test::PaddedImage bottom_up(desc, 5, true, 3);
  test::fill(bottom_up.view(), test::Content::noise, 3);
  write_still(path("a.png"), bottom_up.view());
  EXPECT_EQ(test::count_differences(read_still(path("a.png")).view(), bottom_up.view()), 0U);
}

TEST_F(Stills, JpegStaysNearAndDropsAlpha) {
  const Image gray = natural(PixelFormat::gray8);
  write_still(path("g.jpg"), gray.view());
  const Image read = read_still(path("g.jpg"));
  ASSERT_EQ(read.desc(), gray.desc());
  EXPECT_LT(test::max_difference(read.view(), gray.view()), 60);

  write_still(path("a.jpeg"), natural(PixelFormat::bgra).view());
  EXPECT_EQ(read_still(path("a.jpeg")).desc().format, PixelFormat::bgr);
}

/// An uncompressed TIFF of RGBA; `extra` says what its alpha is.
Bytes tiff_of(const ConstImageView& bgra, std::uint32_t extra) {
  const auto width = static_cast<std::uint32_t>(bgra.desc.width);
  const auto height = static_cast<std::uint32_t>(bgra.desc.height);
  const std::uint32_t size = 4 * width * height;
  constexpr std::uint32_t kPixels = 8;
  const std::uint32_t bits = kPixels + size;
  const std::uint32_t directory = bits + 8;
  Bytes bytes;
  const auto put = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i & 255));
  };
  put('I' | 'I' << 8 | 42 << 16, 4);
  put(directory, 4);
  for (int y = 0; y < bgra.desc.height; ++y) {
    const std::uint8_t* pixel = bgra.row(0, y);
    for (int x = 0; x < bgra.desc.width; ++x, pixel += 4)
      bytes.insert(bytes.end(), {pixel[2], pixel[1], pixel[0], pixel[3]});
  }
  for (int i = 0; i < 4; ++i)
    put(8, 2);
  constexpr std::uint32_t kShort = 3;
  constexpr std::uint32_t kLong = 4;
  const std::array<std::array<std::uint32_t, 4>, 10> entries{{{256, kLong, 1, width},
                                                              {257, kLong, 1, height},
                                                              {258, kShort, 4, bits},
                                                              {259, kShort, 1, 1},
                                                              {262, kShort, 1, 2},
                                                              {273, kLong, 1, kPixels},
                                                              {277, kShort, 1, 4},
                                                              {278, kLong, 1, height},
                                                              {279, kLong, 1, size},
                                                              {338, kShort, 1, extra}}};
  put(static_cast<std::uint32_t>(entries.size()), 2);
  for (const auto& [tag, type, count, value] : entries) {
    put(tag, 2);
    put(type, 2);
    put(count, 4);
    put(value, 4);
  }
  put(0, 4);
  return bytes;
}

TEST_F(Stills, ColoursOfATiffAreReadAsStoredWhateverItsAlphaIs) {
  const Image picture = natural(PixelFormat::bgra, 5, 3);
  for (const std::uint32_t extra : {0U, 1U, 2U}) {
    SCOPED_TRACE(extra);
    put("alpha.tif", tiff_of(picture.view(), extra));
    const Image read = read_still(path("alpha.tif"));
    ASSERT_EQ(read.desc(), picture.desc());
    EXPECT_EQ(test::count_differences(read.view(), picture.view()), 0U);
  }
}

TEST(Caption, LatinLettersLoseTheirAccents) {
  EXPECT_EQ(in_ascii("a~1.mp4"), "a~1.mp4");
  EXPECT_EQ(in_ascii("Gr\u00fc\u00dfe \u0141\u00f3d\u017a \u00c5\u017f"), "Gruse Lodz As");
  EXPECT_EQ(in_ascii("u\u0308ber"), "uber");
  EXPECT_EQ(in_ascii("\u65e5\u672c \u00bf\u0180"), "?? ??");
  EXPECT_EQ(in_ascii("\xc3"), "?");
}

// ---- what there is beside the pixels

/// A TIFF structure as EXIF has it: orientation, artist, densities, and the sizes of the picture.
std::string exif_with(int orientation, int width, int height) {
  std::string bytes("II*\0\x08\0\0\0", 8);
  const auto put = [&](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes += static_cast<char>(value >> 8 * i & 255);
  };
  const auto entry = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count,
                         std::uint32_t value) {
    put(tag, 2);
    put(type, 2);
    put(count, 4);
    put(value, 4);
  };
  constexpr std::uint32_t kBehind = 8 + 2 + 6 * 12 + 4;
  put(6, 2);
  entry(274, 3, 1, static_cast<std::uint32_t>(orientation));
  entry(282, 5, 1, kBehind);
  entry(283, 5, 1, kBehind + 8);
  entry(296, 3, 1, 2);
  entry(315, 2, 3, 'M' | 'e' << 8);
  entry(34665, 4, 1, kBehind + 16);
  put(0, 4);
  for (const std::uint32_t value : {300U, 1U, 200U, 1U})
    put(value, 4);
  put(2, 2);
  entry(40962, 4, 1, static_cast<std::uint32_t>(width));
  entry(40963, 4, 1, static_cast<std::uint32_t>(height));
  put(0, 4);
  return bytes;
}

/// The head of a profile, and a content of its own.
std::string profile_for(const std::string& space) {
  std::string bytes(400, 'p');
  bytes.replace(0, 4, std::string("\0\0\x01\x90", 4));
  bytes.replace(12, 12, "mntr" + space + "XYZ ");
  bytes.replace(36, 4, "acsp");
  return bytes;
}

/// A picture whose every pixel tells where it was.
Image marked(PixelFormat format, int width, int height) {
  Image image({.format = format, .width = width, .height = height});
  for (int y = 0; y < height; ++y) {
    std::uint8_t* row = image.view().row(0, y);
    for (std::size_t i = 0; i < row_bytes(image.desc(), 0); ++i)
      row[i] = static_cast<std::uint8_t>(31 * y + 5 * i + 1);
  }
  return image;
}

/// Where the pixel that is seen at (x, y) is stored, by the words of EXIF 2.3, section 4.6.4.
std::pair<int, int> stored_at(int orientation, int x, int y, int width, int height) {
  switch (orientation) {
    case 2:
      return {width - 1 - x, y};
    case 3:
      return {width - 1 - x, height - 1 - y};
    case 4:
      return {x, height - 1 - y};
    case 5:
      return {y, x};
    case 6:
      return {y, height - 1 - x};
    case 7:
      return {width - 1 - y, height - 1 - x};
    case 8:
      return {width - 1 - y, x};
    default:
      return {x, y};
  }
}

TEST_F(Stills, OrientationIsAppliedAndNotKept) {
#ifndef EQUALUX_HAVE_EXIV2
  GTEST_SKIP() << "this build has no Exiv2 to make the files with";
#endif
  constexpr int kWidth = 5;
  constexpr int kHeight = 3;
  const std::pair<const char*, PixelFormat> kinds[] = {
      {"a.png", PixelFormat::bgr},       {"a.png", PixelFormat::bgra64_le},
      {"a.tif", PixelFormat::gray8},     {"a.tif", PixelFormat::bgr},
      {"a.tif", PixelFormat::bgra},      {"a.tif", PixelFormat::bgr48_le},
      {"a.tif", PixelFormat::gray16_le}, {"a.webp", PixelFormat::bgr}};
  for (const auto& [name, format] : kinds) {
    const Image picture = marked(format, kWidth, kHeight);
    for (int orientation = 1; orientation <= 8; ++orientation) {
      SCOPED_TRACE(std::string(name) + " " + std::string(to_string(format)) + " " +
                   std::to_string(orientation));
      StillNotes notes;
      notes.exif = exif_with(orientation, kWidth, kHeight);
      notes.dots_per_inch_x = 300;
      notes.dots_per_inch_y = 200;
      ASSERT_EQ(write_still(path(name), picture.view(), notes, {}), "");
      StillNotes read;
      const Image seen = read_still(path(name), read);
      const bool sideways = orientation >= 5;
      ASSERT_EQ(seen.desc().width, sideways ? kHeight : kWidth);
      ASSERT_EQ(seen.desc().height, sideways ? kWidth : kHeight);
      const std::size_t bytes = row_bytes(picture.desc(), 0) / kWidth;
      for (int y = 0; y < seen.desc().height; ++y) {
        for (int x = 0; x < seen.desc().width; ++x) {
          const auto [from_x, from_y] = stored_at(orientation, x, y, kWidth, kHeight);
          const std::uint8_t* got = seen.view().row(0, y) + static_cast<std::size_t>(x) * bytes;
          const std::uint8_t* want =
              picture.view().row(0, from_y) + static_cast<std::size_t>(from_x) * bytes;
          ASSERT_TRUE(std::equal(got, got + bytes, want)) << x << ", " << y;
        }
      }
      EXPECT_NEAR(read.dots_per_inch_x, sideways ? 200 : 300, 0.02);
      EXPECT_NEAR(read.dots_per_inch_y, sideways ? 300 : 200, 0.02);
      // Written again it is upright, and stays so.
      ASSERT_EQ(write_still(path(name), seen.view(), read, {}), "");
      EXPECT_EQ(test::count_differences(read_still(path(name)).view(), seen.view()), 0U);
      fs::remove(path(name));
    }
  }
}

TEST_F(Stills, NotesGoFromEachFormatToEachOther) {
#ifndef EQUALUX_HAVE_EXIV2
  GTEST_SKIP() << "this build has no Exiv2";
#endif
  StillNotes notes;
  notes.exif = exif_with(6, 40, 30);
  notes.icc = profile_for("RGB ");
  notes.xmp =
      "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
      "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description "
      "rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/' "
      "xmlns:tiff='http://ns.adobe.com/tiff/1.0/' tiff:Orientation='6'><dc:source>here"
      "</dc:source></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>";
  notes.dots_per_inch_x = 300;
  notes.dots_per_inch_y = 200;
  const Image picture = natural(PixelFormat::bgr, 40, 30);
  for (const char* from : {"a.jpg", "a.png", "a.tif", "a.webp"}) {
    ASSERT_EQ(write_still(path(from), picture.view(), notes, {}), "");
    for (const char* to : {"b.jpg", "b.png", "b.tif", "b.webp"}) {
      SCOPED_TRACE(std::string(from) + " to " + to);
      StillNotes first;
      const Image seen = read_still(path(from), first);
      ASSERT_EQ(seen.desc().width, 30);
      ASSERT_EQ(write_still(path(to), seen.view(), first, {}), "");
      StillNotes second;
      ASSERT_EQ(read_still(path(to), second).desc().width, 30);
      EXPECT_EQ(second.icc, notes.icc);
      EXPECT_THAT(second.xmp, HasSubstr("here"));
      EXPECT_THAT(second.xmp, ::testing::Not(HasSubstr("Orientation=\"6\"")));
      EXPECT_THAT(second.exif, HasSubstr("Me"));
      EXPECT_NEAR(second.dots_per_inch_x, 200, 0.02);
      EXPECT_NEAR(second.dots_per_inch_y, 300, 0.02);
      EXPECT_EQ(contents_of(second), "EXIF, XMP, ICC profile, density");
      const Bytes file = read_whole_file(path(to));
      EXPECT_EQ(look_through(file).orientation, 1);
    }
  }
}

TEST_F(Stills, WhatAFormatCannotHoldIsNamed) {
  StillNotes notes;
  notes.exif = exif_with(1, 40, 30);
  notes.icc = profile_for("RGB ");
  notes.dots_per_inch_x = notes.dots_per_inch_y = 300;
  const Image colour = natural(PixelFormat::bgr, 40, 30);
  const Image gray = natural(PixelFormat::gray8, 40, 30);
  EXPECT_EQ(write_still(path("a.ppm"), colour.view(), notes, {}), "EXIF, ICC profile, density");
  EXPECT_EQ(write_still(path("a.bmp"), colour.view(), notes, {}), "EXIF, ICC profile");
  StillNotes read;
  (void)read_still(path("a.bmp"), read);
  EXPECT_NEAR(read.dots_per_inch_x, 300, 0.02);
  for (const char* name : {"a.png", "a.jpg", "a.tif", "a.webp"}) {
    if (std::string(name) == "a.webp") continue;  // WebP has no gray.
    EXPECT_EQ(write_still(path(name), gray.view(), notes, {}),
              "ICC profile (which is not for gray)");
  }
  notes.icc = profile_for("GRAY");
#ifdef EQUALUX_HAVE_EXIV2
  EXPECT_EQ(write_still(path("a.png"), gray.view(), notes, {}), "");
  EXPECT_EQ(write_still(path("a.jpg"), colour.view(), notes, {}),
            "ICC profile (which is not for RGB)");
#endif
}

TEST_F(Stills, SequencesKeepEachStillsOwnNotes) {
  for (int i = 0; i < 4; ++i) {
    StillNotes notes;
    notes.dots_per_inch_x = notes.dots_per_inch_y = 100 + i;
#ifdef EQUALUX_HAVE_EXIV2
    notes.exif = exif_with(1 + i, 40, 40);
#endif
    (void)write_still(path("f" + std::to_string(i) + ".png"),
                      natural(PixelFormat::bgr, 40, 40).view(), notes, {});
  }
  const auto source = make_image_source(path("f%d.png"), {25, 1});
  const auto sink = make_image_sink(path("o%d.jpg"));
  const StopToken stop;
  ASSERT_EQ(run(*source, *make_cpu_processor({}, 1), *sink, RunOptions{}, stop).frames_out, 4U);
  for (int i = 0; i < 4; ++i) {
    StillNotes notes;
    (void)read_still(path("o" + std::to_string(i) + ".jpg"), notes);
    EXPECT_NEAR(notes.dots_per_inch_x, 100 + i, 0.02);
#ifdef EQUALUX_HAVE_EXIV2
    EXPECT_THAT(notes.exif, HasSubstr("Me"));
#endif
  }
}

TEST_F(Stills, PagesAndFramesAreCounted) {
  Image floats({.format = PixelFormat::grayf32x2, .width = 8, .height = 4});
  write_still(path("two.tif"), floats.view());
  EXPECT_EQ(look_through(read_whole_file(path("two.tif"))).pages, 2U);

  Bytes animated = encoded("a.png");
  const std::string control("acTL\0\0\0\x03\0\0\0\0", 12);
  Bytes chunk{0, 0, 0, 8};
  chunk.insert(chunk.end(), control.begin(), control.end());
  const std::uint32_t crc = png_crc(std::span(chunk).subspan(4));
  for (const int shift : {24, 16, 8, 0})
    chunk.push_back(static_cast<std::uint8_t>(crc >> shift));
  animated.insert(animated.begin() + 33, chunk.begin(), chunk.end());
  put("a.png", animated);
  StillNotes notes;
  EXPECT_EQ(read_still(path("a.png"), notes).desc().width, 61);
  EXPECT_EQ(notes.pages, 3U);

  // By itself it is meant as a whole, in a sequence its first frame is.
  const auto result_of = [&](const std::string& text) {
    const auto sink = make_image_sink(path("o%d.png"));
    const StopToken stop;
    return run(*make_image_source(text, {25, 1}), *make_cpu_processor({}, 1), *sink, RunOptions{},
               stop);
  };
  EXPECT_EQ(result_of(path("a.png")).code, ExitCode::partial);
  EXPECT_THAT(result_of(path("a.png")).partial_reason,
              HasSubstr("holds 3 pages or frames, only the first is read"));
  put("a2.png", animated);
  EXPECT_EQ(result_of(path("a*.png")).code, ExitCode::done);
}

TEST_F(Stills, DamagedNotesNeverHarmThePicture) {
#ifndef EQUALUX_HAVE_EXIV2
  GTEST_SKIP() << "this build has no Exiv2 to make the files with";
#endif
  StillNotes notes;
  notes.exif = exif_with(1, 40, 30);
  notes.icc = profile_for("RGB ");
  notes.dots_per_inch_x = notes.dots_per_inch_y = 300;
  const Image picture = natural(PixelFormat::bgr, 40, 30);
  for (const char* name : {"a.jpg", "a.webp"}) {
    ASSERT_EQ(write_still(path(name), picture.view(), notes, {}), "");
    const Bytes whole = read_whole_file(path(name));
    const std::string text(whole.begin(), whole.end());
    const std::size_t exif = text.find("II*");
    ASSERT_NE(exif, std::string::npos);
    for (std::size_t i = 0; i < notes.exif.size(); ++i) {
      Bytes damaged = whole;
      damaged[exif + i] ^= 0x5a;
      put(std::string("d-") + name, damaged);
      StillNotes read;
      const Image seen = read_still(path(std::string("d-") + name), read);
      EXPECT_EQ(seen.desc().width * seen.desc().height, 40 * 30) << i;
      (void)write_still(path("e.png"), seen.view(), read, {});
    }
  }
}

/// A JPEG's segment: a marker, a length, a name and what it says.
Bytes segment(std::uint8_t marker, std::string text) {
  text.insert(text.begin(),
              {'\xff', static_cast<char>(marker), '\0', static_cast<char>(text.size() + 2)});
  return {text.begin(), text.end()};
}

TEST_F(Stills, WhatPhonesPutBesideThePictureIsNamed) {
  const Bytes plain = encoded("plain.jpg");
  const std::string xmp = "http://ns.adobe.com/xap/1.0/";
  const std::pair<Bytes, const char*> cases[] = {
      {segment(0xe2, std::string("MPF\0II*\0", 8)), "further pictures (MPF)"},
      {segment(0xe1, std::string("http://ns.adobe.com/xmp/extension/\0abc", 38)), "extended XMP"},
      {segment(0xe1, xmp + '\0' + "<x:xmpmeta GCamera:MotionPhoto=\"1\"/>"),
       "the film of a motion photo"},
      {segment(0xe1, xmp + '\0' + "<x:xmpmeta GCamera:MotionPhoto=\"0\"/>"), nullptr}};
  for (const auto& [more, name] : cases) {
    Bytes bytes = plain;
    bytes.insert(bytes.begin() + 2, more.begin(), more.end());
    put("a.jpg", bytes);
    for (const char* output : {"b.jpg", "b.png", "b.ppm"}) {
      StillNotes notes;
      const Image picture = read_still(path("a.jpg"), notes);
      const std::string lost = write_still(path(output), picture.view(), notes, {});
      EXPECT_EQ(lost.find(name == nullptr ? "film" : name) != std::string::npos, name != nullptr)
          << lost;
    }
  }
}

/// Each byte of a small file in turn: nothing but an error or a picture comes of it, and whatever
/// its notes became can be written.
TEST_F(Stills, DamageAtAnyByteIsAnErrorOrAPicture) {
  StillNotes notes;
  notes.exif = exif_with(6, 8, 6);
  notes.icc = profile_for("RGB ");
  notes.xmp =
      "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
      "</x:xmpmeta><?xpacket end='w'?>";
  notes.dots_per_inch_x = notes.dots_per_inch_y = 300;
  const Image picture = natural(PixelFormat::bgr, 8, 6);
  std::size_t tried = 0;
  for (const std::string extension : {"png", "webp", "jpg", "tif"}) {
    (void)write_still(path("whole." + extension), picture.view(), notes, {});
    const Bytes whole = read_whole_file(path("whole." + extension));
    const auto try_out = [&](const Bytes& bytes) {
      put("d." + extension, bytes);
      StillNotes read;
      try {
        const Image seen = read_still(path("d." + extension), read);
        // Each format in turn: a file takes its time to get to the disk.
        static constexpr std::array kOutputs{"o.png", "o.webp", "o.jpg", "o.tif"};
        if (++tried % 8 == 0 && has_byte_samples(seen.desc().format))
          (void)write_still(path(kOutputs[tried / 8 % 4]), seen.view(), read, {});
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_input) << error.what();
      }
    };
    // The profile's content is long, and one byte of it as good as another.
    const std::size_t step = whole.size() > 600 ? 3 : 1;
    for (std::size_t i = 0; i < whole.size(); i += step) {
      SCOPED_TRACE(extension + " at " + std::to_string(i));
      if (i >= 30) try_out(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
      Bytes flipped = whole;
      flipped[i] ^= static_cast<std::uint8_t>(1U << i % 8);
      try_out(flipped);
      flipped[i] = 0xff;
      try_out(flipped);
    }
  }
}

/// A megabyte of entries whose next directory is itself.
TEST_F(Stills, ATiffThatGoesInCirclesIsSeenThroughSoon) {
  constexpr std::size_t kEntries = 65535;
  Bytes bytes{'I', 'I', '*', 0, 8, 0, 0, 0, 0xff, 0xff};
  bytes.resize(10 + kEntries * 12, 0);
  bytes.insert(bytes.end(), {8, 0, 0, 0});
  EXPECT_EQ(look_through(bytes).pages, 1U);
}

TEST_F(Stills, ErrorsNameTheFileAndTheFault) {
  expect_error(path("none.png"), ExitCode::no_input, "no such file");
  put("empty.png", {});
  expect_error(path("empty.png"), ExitCode::bad_input, "empty");
  put("garbage.png", Bytes(500, 0x5a));
  expect_error(path("garbage.png"), ExitCode::bad_input, "no PNG, JPEG");
  fs::create_directory(path("folder.png"));
  expect_error(path("folder.png"), ExitCode::bad_input, "folder");
}

TEST_F(Stills, EveryTruncationIsSeen) {
  for (const char* extension : {"png", "jpg", "bmp", "tif", "webp"}) {
    const Bytes whole = encoded(std::string("whole.") + extension);
    for (int percent = 1; percent < 100; percent += 7) {
      SCOPED_TRACE(std::string(extension) + " cut to " + std::to_string(percent) + " %");
      const std::string name = std::string("cut.") + extension;
      const auto keep = static_cast<std::ptrdiff_t>(whole.size()) * percent / 100;
      put(name, Bytes(whole.begin(), whole.begin() + keep));
      expect_error(path(name), ExitCode::bad_input, "");
    }
    const std::string name = std::string("last.") + extension;
    put(name, Bytes(whole.begin(), whole.end() - (std::string(extension) == "tif" ? 8 : 1)));
    expect_error(path(name), ExitCode::bad_input, "truncated");
  }
}

TEST_F(Stills, BytesAfterTheEndAreNoFault) {
  for (const char* extension : {"png", "jpg", "bmp", "webp"}) {
    Bytes bytes = encoded(std::string("a.") + extension);
    bytes.insert(bytes.end(), 37, 0);
    put(std::string("b.") + extension, bytes);
    EXPECT_EQ(read_still(path(std::string("b.") + extension)).desc().width, 61) << extension;
  }
}

TEST_F(Stills, OneFlippedByteOfAPngIsSeen) {
  Bytes bytes = encoded("a.png");
  bytes[bytes.size() / 2] ^= 0x10U;
  put("a.png", bytes);
  expect_error(path("a.png"), ExitCode::bad_input, "checksum");
}

TEST_F(Stills, ForgedSizesAllocateNothing) {
  Bytes bmp = encoded("a.bmp");
  for (const std::size_t at : {18U, 22U}) {
    bmp[at] = 0x00;
    bmp[at + 1] = 0xf0;
    bmp[at + 2] = 0x00;
  }
  put("a.bmp", bmp);
  expect_error(path("a.bmp"), ExitCode::bad_input, "61440x61440");
  bmp[20] = 0x7f;
  put("a.bmp", bmp);
  expect_error(path("a.bmp"), ExitCode::bad_input, "65535");

  Bytes jpeg = encoded("a.jpg");
  const Bytes frame_header{0xff, 0xc0};
  const auto at = std::search(jpeg.begin(), jpeg.end(), frame_header.begin(), frame_header.end());
  ASSERT_NE(at, jpeg.end());
  std::fill(at + 5, at + 9, std::uint8_t{0xff});
  put("a.jpg", jpeg);
  expect_error(path("a.jpg"), ExitCode::bad_input, "65535x65535");
}

TEST_F(Stills, ManyDamagedFilesNeitherCrashNorHang) {
  std::uint32_t state = 12345;
  const auto random = [&] { return state = state * 1664525U + 1013904223U; };
  for (const char* extension : {"jpg", "bmp", "tif", "webp"}) {
    const Bytes whole = encoded(std::string("a.") + extension);
    for (int round = 0; round < 60; ++round) {
      Bytes damaged = whole;
      for (int k = 0; k < 4; ++k) {
        const std::size_t reach = round % 2 == 0 ? std::size_t{64} : damaged.size();
        damaged[(random() >> 8) % std::min(reach, damaged.size())] =
            static_cast<std::uint8_t>(random() >> 24);
      }
      put("b.bin", damaged);
      fs::rename(path("b.bin"), path(std::string("b.") + extension));
      try {
        (void)read_still(path(std::string("b.") + extension));
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::bad_input) << e.what();
      }
    }
  }
}

// Small PNGs of kinds that OpenCV does not write itself, after the eight bytes they all start with.
// clang-format off
const Bytes kSixteenBit{  // 3x2, RGB
    0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02,
    0x10, 0x02, 0x00, 0x00, 0x00, 0x42, 0x86, 0x2d, 0x0e, 0x00, 0x00, 0x00, 0x15, 0x49, 0x44, 0x41,
    0x54, 0x08, 0xd7, 0x63, 0xfc, 0xff, 0x9f, 0x01, 0x0d, 0x30, 0x32, 0x30, 0x30, 0x30, 0xa0, 0x0a,
    0x03, 0x00, 0x63, 0xfb, 0x03, 0xff, 0x51, 0x8c, 0xdf, 0xfa, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45,
    0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
const Bytes kPalette{  // 2x2, three colours
    0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02,
    0x08, 0x03, 0x00, 0x00, 0x00, 0x45, 0x68, 0xfd, 0x16, 0x00, 0x00, 0x00, 0x09, 0x50, 0x4c, 0x54,
    0x45, 0xff, 0x00, 0x00, 0x7f, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xc9, 0xde, 0x0b, 0xcb, 0x00, 0x00,
    0x00, 0x0e, 0x49, 0x44, 0x41, 0x54, 0x08, 0xd7, 0x63, 0x60, 0x60, 0x64, 0x60, 0x62, 0x02, 0x00,
    0x00, 0x10, 0x00, 0x06, 0xc3, 0xdd, 0xaf, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44,
    0xae, 0x42, 0x60, 0x82};
const Bytes kGrayAlpha{  // 2x1, 8 bits each
    0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01,
    0x08, 0x04, 0x00, 0x00, 0x00, 0x5e, 0x2b, 0xb7, 0x01, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41,
    0x54, 0x08, 0xd7, 0x63, 0x4c, 0x69, 0x60, 0x60, 0x00, 0x00, 0x03, 0x1a, 0x00, 0xe6, 0x9c, 0x90,
    0x43, 0x47, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
const Bytes kOneBit{  // 9x1, black and white
    0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x01,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x24, 0xb9, 0xb9, 0xd0, 0x00, 0x00, 0x00, 0x0b, 0x49, 0x44, 0x41,
    0x54, 0x08, 0xd7, 0x63, 0xf8, 0xc1, 0x00, 0x00, 0x01, 0xf3, 0x00, 0xf9, 0x83, 0x72, 0x8d, 0xc2,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
// clang-format on

Bytes png(const Bytes& rest) {
  Bytes bytes{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

TEST_F(Stills, KindsOfPng) {
  put("deep.png", png(kSixteenBit));
  EXPECT_EQ(read_still(path("deep.png")).desc().format, PixelFormat::bgr48_le);

  put("palette.png", png(kPalette));
  const Image palette = read_still(path("palette.png"));
  ASSERT_EQ(palette.desc().format, PixelFormat::bgr);
  EXPECT_THAT(test::tight_copy(palette.view()),
              ::testing::ElementsAre(0, 0, 255, 127, 255, 127, 255, 255, 255, 255, 255, 255));

  put("gray-alpha.png", png(kGrayAlpha));
  const Image gray_alpha = read_still(path("gray-alpha.png"));
  ASSERT_EQ(gray_alpha.desc().format, PixelFormat::bgra);
  EXPECT_THAT(test::tight_copy(gray_alpha.view()),
              ::testing::ElementsAre(100, 100, 100, 128, 100, 100, 100, 128));

  put("bits.png", png(kOneBit));
  const Image bits = read_still(path("bits.png"));
  ASSERT_EQ(bits.desc().format, PixelFormat::gray8);
  EXPECT_THAT(test::tight_copy(bits.view()), ::testing::Each(::testing::AnyOf(0, 255)));
}

TEST_F(Stills, FullDiskIsAWriteErrorAndLeavesNothing) {
  // A limit on the file's size fails the write() as a full disk does, in the middle.
  const Image image = natural(PixelFormat::bgr, 400, 300);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  ExitCode code = ExitCode::done;
  try {
    write_still(path("a.bmp"), image.view());
  } catch (const Error& e) {
    code = e.code();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(code, ExitCode::write_failed);
  EXPECT_TRUE(files().empty());
}

TEST_F(Stills, WriteErrorsLeaveNothing) {
  const Image image = natural(PixelFormat::bgr);
  const auto code_of = [&](const std::string& file) {
    try {
      write_still(file, image.view());
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(file));
      return e.code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code_of(path("missing/a.png")), ExitCode::cannot_create);
  fs::create_directory(path("taken.png"));
  EXPECT_EQ(code_of(path("taken.png")), ExitCode::cannot_create);
  EXPECT_EQ(files().size(), 1U);
  if (::geteuid() != 0) {
    ::chmod(folder_.c_str(), 0500);
    EXPECT_EQ(code_of(path("a.png")), ExitCode::cannot_create);
    ::chmod(folder_.c_str(), 0700);
  }
  const Image wide = natural(PixelFormat::gray8, 16384, 1);
  EXPECT_THROW(write_still(path("a.webp"), wide.view()), Error);
}

}  // namespace
}  // namespace equalux
