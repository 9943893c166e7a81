#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/run.h"
#include "pipelines/files/file_names.h"
#include "pipelines/files/image_pattern.h"
#include "pipelines/files/pnm.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- names

TEST(NaturalOrder, NumbersCountByValue) {
  std::vector<std::string> names{"a10",
                                 "a2",
                                 "a1",
                                 "b",
                                 "a02",
                                 "a",
                                 "a2b",
                                 "a10b2",
                                 "a10b10",
                                 "A3",
                                 "a99999999999999999999999",
                                 "a100000000000000000000000"};
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return natural_less(a, b); });
  EXPECT_THAT(names, ElementsAre("A3", "a", "a1", "a02", "a2", "a2b", "a10", "a10b2", "a10b10",
                                 "a99999999999999999999999", "a100000000000000000000000", "b"));
  for (const auto& a : names)
    EXPECT_FALSE(natural_less(a, a));
}

TEST(NumberedName, PrintsAndReads) {
  const auto padded = NumberedName::parse("f/100%%_%04d.png");
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->at(7), "f/100%_0007.png");
  EXPECT_EQ(padded->at(123456), "f/100%_123456.png");
  EXPECT_EQ(padded->number_of("f/100%_0042.png"), 42U);
  EXPECT_EQ(padded->number_of("f/100%_42.png"), std::nullopt);
  EXPECT_EQ(padded->number_of("f/100%_0042.jpg"), std::nullopt);
  EXPECT_EQ(padded->folder(), "f/");
  EXPECT_EQ(NumberedName::parse("%d")->at(3), "3");
  EXPECT_EQ(NumberedName::parse("x%d.ppm")->folder(), "");
  for (const char* text :
       {"", "a.png", "%", "%s", "%5", "%d%d", "100%%", "%05x", "%123d", "%-3d"}) {
    EXPECT_FALSE(NumberedName::parse(text).has_value()) << text;
  }
}

// ---- sequences

struct ImagePatternTest : ::testing::Test {
  Watchdog watchdog;
  TempFolder folder;
  FakeSink sink;

  void put(const std::string& name, int value, int width = 3, int height = 2) {
    Image image(full_range(PixelFormat::gray8, width, height));
    fill_bytes(image.view(), static_cast<std::uint8_t>(value));
    write_pnm(folder / name, image.view());
  }
  void put_colour(const std::string& name, std::uint8_t value) {
    Image image(full_range(PixelFormat::rgb, 3, 2));
    fill_bytes(image.view(), value);
    write_pnm(folder / name, image.view());
  }
  RunResult read(const std::string& text) {
    const auto source = make_image_source(text, {10, 1});
    const StopToken stop;
    return run(*source, *make_cpu_processor({}, 1), sink, RunOptions{}, stop);
  }
};

TEST_F(ImagePatternTest, FoldersComeInNaturalOrder) {
  for (const int n : {10, 9, 2, 1})
    put("f" + std::to_string(n) + ".pgm", n);
  write_file(folder / "notes.txt", "no image");
  write_file(folder / ".hidden.pgm", "no image");
  const RunResult result = read(folder.text());
  EXPECT_EQ(result.frames_out, 4U);
  EXPECT_NEAR(result.media_s, 0.4, 1e-9);
  EXPECT_THAT(sink.bytes, ElementsAre(1, 2, 9, 10));
  EXPECT_EQ(sink.opened->frames, 4U);
}

TEST_F(ImagePatternTest, HalfWrittenStillsAreLeftOutWithALine) {
  put("f1.pgm", 1);
  put("f2.pgm", 2);
  write_file(folder / "f3.partial.pgm", "P5 3 2 255\nab");
  const auto said = [&](const std::string& text) {
    ::testing::internal::CaptureStderr();
    sink.bytes.clear();
    EXPECT_EQ(read(text).code, ExitCode::done) << text;
    EXPECT_THAT(sink.bytes, ElementsAre(1, 2)) << text;
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string line =
      ": 1 half-written still is left out, the first is " + (folder / "f3.partial.pgm") + "\n";
  EXPECT_THAT(said(folder.text()), HasSubstr(folder.text() + line));
  EXPECT_THAT(said(folder / "*.pgm"), HasSubstr("*.pgm" + line));
  EXPECT_EQ(said(folder / "f%d.pgm"), "");
  std::filesystem::create_directory(folder / "alone");
  write_file(folder / "alone/f4.partial.pgm", "P5 3 2 255\nab");
  const auto [code, message] = error_of([&] { read(folder / "alone"); });
  EXPECT_EQ(code, ExitCode::no_input);
  EXPECT_THAT(message, HasSubstr("holds half-written stills alone, such as "));
  // Whoever names them means them.
  EXPECT_EQ(error_of([&] { read(folder / "*.partial.pgm"); }).first, ExitCode::bad_input);
}

TEST_F(ImagePatternTest, PixelsThatAreNotSquareAreNamed) {
  for (const Rational aspect : {Rational{64, 45}, {1, 1}, {0, 1}, {5, 5}}) {
    StreamInfo info;
    info.desc = desc_of(PixelFormat::gray8, 4, 2);
    info.pixel_aspect = aspect;
    ::testing::internal::CaptureStderr();
    const auto stills = make_image_sink(folder / "out%d.pgm");
    stills->open(info);
    stills->finish(Ending::failed);
    const std::string said = ::testing::internal::GetCapturedStderr();
    if (aspect.num == 64) {
      EXPECT_THAT(said, HasSubstr("stills have square pixels, those of the input are 64:45"));
    } else {
      EXPECT_EQ(said, "");
    }
  }
}

TEST_F(ImagePatternTest, GlobsMatch) {
  put("a1.pgm", 1);
  put("a12.pgm", 12);
  put("b3.pgm", 3);
  read(folder / "a*.pgm");
  EXPECT_THAT(sink.bytes, ElementsAre(1, 12));
}

TEST_F(ImagePatternTest, PatternsStartAnywhereAndTellOfGaps) {
  for (const int n : {8, 9, 10, 12, 17}) {
    put(NumberedName::parse("f%03d.pgm")->at(static_cast<std::uint64_t>(n)), n);
  }
  ::testing::internal::CaptureStderr();
  const RunResult result = read(folder / "f%03d.pgm");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("f%03d.pgm: has no number 11, 13 to 16; "));
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_THAT(sink.bytes, ElementsAre(8, 9, 10, 12, 17));
}

TEST_F(ImagePatternTest, ManyGapsAreCounted) {
  std::vector<std::string> paths;
  for (int i = 0; i < 40; i += 2)
    paths.push_back("f" + std::to_string(i) + ".pgm");
  EXPECT_THAT(missing_numbers("f%d.pgm", paths), HasSubstr("1, 3, 5"));
  EXPECT_THAT(missing_numbers("f%d.pgm", paths), HasSubstr("23 and 7 more gaps"));
  EXPECT_EQ(missing_numbers("f*.pgm", paths), "");
  EXPECT_EQ(missing_numbers("f%d.pgm", {"f3.pgm", "f4.pgm"}), "");
}

TEST_F(ImagePatternTest, NoMatchIsNoInput) {
  for (const std::string& text :
       {folder.text(), folder / "*.pgm", folder / "f%d.pgm", folder / "missing/f%d.pgm"}) {
    const auto [code, message] = error_of([&, &text = text] { read(text); });
    EXPECT_EQ(code, ExitCode::no_input) << text;
    EXPECT_THAT(message, HasSubstr(text));
  }
  // A name without * and ? is no pattern, and is not said to be one.
  EXPECT_THAT(error_of([&] { read(folder / "f1.pgm"); }).second,
              AllOf(HasSubstr("does not exist"), Not(HasSubstr("pattern"))));
}

TEST_F(ImagePatternTest, AnotherSizeIsBadInputAndNamed) {
  put("f1.pgm", 1);
  put("f2.pgm", 2);
  put("f3.pgm", 3, 4, 2);
  const RunResult result = read(folder.text());
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_EQ(result.frames_out, 2U);
  EXPECT_EQ(result.partial_reason, (folder / "f3.pgm") +
                                       ": is 4x2 in a sequence of 3x2 images; "
                                       "all must have one size");
}

TEST_F(ImagePatternTest, ADamagedFirstImageIsBadInput) {
  write_file(folder / "f1.pgm", "P5 3 2 255\nab");
  EXPECT_EQ(error_of([&] { read(folder.text()); }).first, ExitCode::bad_input);
}

TEST_F(ImagePatternTest, GrayJoinsAColourSequence) {
  put_colour("f1.ppm", 7);
  put("f2.pgm", 9);
  read(folder.text());
  EXPECT_THAT(sink.bytes, ElementsAre(7, 9));
  EXPECT_EQ(sink.opened->desc.format, PixelFormat::rgb);
}

TEST_F(ImagePatternTest, ColourInAGraySequenceIsNamed) {
  put("f1.pgm", 9);
  put_colour("f2.ppm", 7);
  const RunResult result = read(folder.text());
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_THAT(result.partial_reason, HasSubstr("f2.ppm: is a colour image"));
}

TEST_F(ImagePatternTest, FiltersChooseTheFormat) {
  put("f1.pgm", 9);
  const auto source = make_image_source(folder.text(), {10, 1});
  const StreamInfo info = source->open([](PixelFormat f) { return f == PixelFormat::rgb; });
  EXPECT_EQ(info.desc.format, PixelFormat::rgb);
}

TEST_F(ImagePatternTest, SequencesAreRecognised) {
  EXPECT_TRUE(is_image_sequence(folder.text()));
  EXPECT_TRUE(is_image_sequence("a/%05d.png"));
  EXPECT_TRUE(is_image_sequence("a/*.png"));
  EXPECT_TRUE(is_image_sequence("a/f[0-9].png"));
  EXPECT_FALSE(is_image_sequence("a.png"));
  EXPECT_FALSE(is_image_sequence("100%.mp4"));
}

// ---- the sink

TEST_F(ImagePatternTest, WritesNumberedImages) {
  FakeSource source(12);
  const auto images = make_image_sink(folder / "o%02d.pgm");
  const StopToken stop;
  EXPECT_EQ(run(source, *make_cpu_processor({}, 1), *images, RunOptions{}, stop).frames_out, 12U);
  EXPECT_EQ(folder.entries(), 12);
  EXPECT_EQ(read_pnm(folder / "o11.pgm").view().row(0, 0)[0], 11);
}

TEST_F(ImagePatternTest, YuvBecomesRgb) {
  StreamInfo info;
  info.desc = full_range(PixelFormat::i420, 4, 4);
  Frame frame;
  frame.pixels = Image(info.desc);
  fill(frame.pixels.view(), Content::white);
  frame.image = std::as_const(frame.pixels).view();
  const auto images = make_image_sink(folder / "%d.ppm");
  images->open(info);
  images->write(frame);
  images->finish(Ending::complete);
  EXPECT_EQ(read_pnm(folder / "0.ppm").desc().format, PixelFormat::rgb);
}

TEST_F(ImagePatternTest, AFailedRunTakesItsImagesBack) {
  put("mine.pgm", 1);
  FakeSource source(50);
  const auto images = make_image_sink(folder / "o%02d.pgm");
  RunOptions options;
  options.on_result = [](const Frame& frame) {
    if (frame.index == 9) throw Error(ExitCode::write_failed, "hashes: disk full");
  };
  const StopToken stop;
  EXPECT_THROW(run(source, *make_cpu_processor({}, 1), *images, options, stop), Error);
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(ImagePatternTest, OpenFindsWhatIsWrong) {
  StreamInfo info;
  info.desc = small_desc();
  StreamInfo floats;
  floats.desc = full_range(PixelFormat::grayf32, 4, 4);
  const auto code_of = [&](const std::string& pattern, const StreamInfo& stream) {
    return error_of([&] { make_image_sink(pattern)->open(stream); }).first;
  };
  EXPECT_EQ(code_of(folder / "o.pgm", info), ExitCode::usage);
  EXPECT_EQ(code_of(folder / "o%d%d.pgm", info), ExitCode::usage);
  EXPECT_EQ(code_of(folder / "o%d.docx", info), ExitCode::usage);
  EXPECT_EQ(code_of(folder / "o%d.pgm", floats), ExitCode::usage);
  EXPECT_EQ(code_of(folder / "no/o%d.pgm", info), ExitCode::cannot_create);
  EXPECT_EQ(code_of(folder / "o%d.pgm", info), ExitCode::done);
}

}  // namespace
}  // namespace equalux::test
