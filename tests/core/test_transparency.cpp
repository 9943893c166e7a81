#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/core/part_source.h"
#include "pipelines/core/run.h"
#include "pipelines/core/sink.h"
#include "pipelines/live/recorder.h"
#include "pipelines/picture/alpha_plane.h"
#include "pipelines/picture/upright_sink.h"
#include "src/common/log.h"
#include "tests/support/media/test_images.h"
#include "tests/support/media/transparent_source.h"
#include "tests/support/temp_folder.h"

/// Transparency beside pictures, past filters that do not see it.
namespace equalux::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array kSizes{std::pair{1, 1}, std::pair{1, 7}, std::pair{7, 1}, std::pair{67, 35}};

TEST(AlphaPlane, FormatsWithPaddingHaveNone) {
  std::vector<std::string> names;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (has_alpha(format)) names.emplace_back(to_string(format));
  }
  EXPECT_THAT(names, ElementsAre("rgba", "bgra", "argb", "abgr", "rgba64_le", "bgra64_le",
                                 "argb64_le", "abgr64_le"));
}

TEST(AlphaPlane, GoesIntoPackedPixelsAndOutOfThem) {
  for (const auto& [width, height] : kSizes) {
    for (const PixelFormat format :
         {PixelFormat::rgba, PixelFormat::bgra, PixelFormat::argb, PixelFormat::abgr}) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width));
      const PaddedImage plane(alpha_desc({PixelFormat::i420, width, height}), 3, true);
      fill(plane.view(), Content::noise);
      const PaddedImage pixels({format, width, height}, 5, false, 1);
      fill(pixels.view(), Content::noise, 2);
      std::vector<std::uint8_t> expected = tight_copy(pixels.view());
      const std::vector<std::uint8_t> alpha = tight_copy(plane.view());
      const auto offset = static_cast<std::size_t>(traits(format).alpha_offset);
      for (std::size_t i = 0; i < alpha.size(); ++i)
        expected[4 * i + offset] = alpha[i];
      put_alpha(plane.view(), 8, pixels.view());
      EXPECT_EQ(tight_copy(pixels.view()), expected);
      EXPECT_TRUE(pixels.padding_intact());

      const PaddedImage taken(plane.view().desc, 2, true);
      take_alpha(pixels.view(), taken.view());
      EXPECT_EQ(count_differences(taken.view(), plane.view()), 0U);
      EXPECT_TRUE(taken.padding_intact());
    }
  }
}

TEST(AlphaPlane, OfMoreBitsKeepsItsShareOfTheLargestValue) {
  for (const int depth : {10, 12, 16}) {
    const int most = (1 << depth) - 1;
    const ImageDesc desc = alpha_desc({PixelFormat::y444_10le, 257, 257});
    ASSERT_EQ(desc.format, PixelFormat::gray16_le);
    const PaddedImage plane(desc, 4, true);
    for (int i = 0; i < 257 * 257; ++i) {
      std::uint8_t* at = plane.view().row(0, i / 257) + 2 * (i % 257);
      at[0] = static_cast<std::uint8_t>(i & most & 255);
      at[1] = static_cast<std::uint8_t>((i & most) >> 8);
    }
    for (const PixelFormat format : {PixelFormat::bgra64_le, PixelFormat::argb64_le}) {
      const PaddedImage pixels({format, 257, 257}, 6);
      put_alpha(plane.view(), depth, pixels.view());
      const int offset = traits(format).alpha_offset;
      for (int i = 0; i < 257 * 257; ++i) {
        const std::uint8_t* at = pixels.view().row(0, i / 257) + 8 * (i % 257) + offset;
        const double exact = static_cast<double>(i & most) * 65535 / most;
        ASSERT_LE(std::abs((at[0] | at[1] << 8) - exact), 0.5) << depth << " " << i;
      }
      EXPECT_TRUE(pixels.padding_intact());
    }
  }
}

TEST(AlphaPlane, RefusesWhatDoesNotFit) {
  const PaddedImage plane({PixelFormat::gray8, 4, 2});
  for (const ImageDesc& desc :
       {ImageDesc{PixelFormat::bgrx, 4, 2}, ImageDesc{PixelFormat::bgra, 4, 3},
        ImageDesc{PixelFormat::bgra64_le, 4, 2}}) {
    const PaddedImage pixels(desc);
    EXPECT_THROW(put_alpha(plane.view(), 8, pixels.view()), Error);
    EXPECT_THROW(take_alpha(pixels.view(), plane.view()), Error);
  }
}

TEST(AlphaPlane, IsTheLastPlaneOfAFramesHash) {
  const auto image_of = [](const std::string& bytes) {
    ConstImageView view;
    view.desc = {PixelFormat::gray8, static_cast<int>(bytes.size()), 1};
    view.data[0] = reinterpret_cast<const std::uint8_t*>(bytes.data());
    view.stride[0] = static_cast<std::ptrdiff_t>(bytes.size());
    return view;
  };
  const std::string picture = "ab";
  const std::string alpha = "c";
  Frame frame;
  frame.image = image_of(picture);
  frame.alpha = image_of(alpha);
  EXPECT_EQ(frame_md5(frame), "900150983cd24fb0d6963f7d28e17f72");  // of "abc", RFC 1321
  EXPECT_THAT(frame_hash_line(frame, {1, 25}), ::testing::HasSubstr("        3, 9001"));
}

/// Notes the transparency of what it gets; `why` as why_opaque().
class NotingSink final : public Sink {
 public:
  struct Seen {
    StreamInfo info;
    std::vector<std::vector<std::uint8_t>> alphas;  // empty = a frame without
    std::vector<std::vector<std::uint8_t>> pictures;
    std::vector<ImageDesc> descs;
  };
  explicit NotingSink(Seen& seen, std::string why = {}) : seen_(seen), why_(std::move(why)) {}
  void open(const StreamInfo& info) override { seen_.info = info; }
  void write(Frame& frame) override {
    seen_.alphas.emplace_back();
    if (frame.has_alpha_plane()) {
      seen_.alphas.back() = tight_copy(frame.alpha);
      seen_.descs.push_back(frame.alpha.desc);
    }
    seen_.pictures.push_back(tight_copy(frame.image));
  }
  void finish(Ending) override {}
  std::string why_opaque(const StreamInfo&) const override { return why_; }

 private:
  Seen& seen_;
  std::string why_;
};

/// YCbCr to its luma.
class LumaFilter final : public Filter {
 public:
  bool accepts(PixelFormat format) const override {
    return traits(format).model == ColorModel::yuv;
  }
  ImageDesc configure(const ImageDesc& input) override {
    ImageDesc output = input;
    output.format = PixelFormat::gray8;
    return output;
  }
  void submit(const ConstImageView& in, const ImageView& out, FrameContext&) override {
    ConstImageView luma = in;
    luma.desc = out.desc;
    copy_image(luma, out);
  }
};

class Transparency : public ::testing::Test {
 protected:
  Transparency() {
    logger().send_to([this](LogLevel level, std::string_view line) {
      if (level >= LogLevel::warn) lines_.emplace_back(line);
    });
  }
  ~Transparency() override { logger().send_to(nullptr); }

  RunResult go(Source& source, Sink& sink, std::unique_ptr<Filter> filter) {
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(std::move(filter));
    const auto processor = make_cpu_processor(std::move(filters), 2);
    return run(source, *processor, sink, options_, stop_);
  }
  static std::unique_ptr<Filter> equalize() {
    return make_cpu_filter(parse_filter_spec("equalize"), {}, {});
  }

  RunOptions options_;
  StopToken stop_;
  std::vector<std::string> lines_;
};

TEST_F(Transparency, PassesFiltersByteForByteAndChangesNoColour) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::y42b, PixelFormat::y444,
                                   PixelFormat::i420_10le, PixelFormat::y444_12le}) {
    for (const auto& [width, height] : kSizes) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width));
      const ImageDesc desc{format, width, height};
      NotingSink::Seen with;
      NotingSink::Seen without;
      {
        TransparentSource source(desc, 5);
        NotingSink sink(with);
        EXPECT_EQ(go(source, sink, equalize()).frames_out, 5U);
      }
      {
        TransparentSource source(desc, 5, /*opaque=*/true);
        NotingSink sink(without);
        go(source, sink, equalize());
      }
      EXPECT_TRUE(with.info.transparent);
      EXPECT_FALSE(without.info.transparent);
      EXPECT_EQ(with.pictures, without.pictures);
      ASSERT_EQ(with.alphas.size(), 5U);
      for (int i = 0; i < 5; ++i)
        EXPECT_EQ(with.alphas[static_cast<std::size_t>(i)], TransparentSource::alpha_of(desc, i));
      EXPECT_THAT(without.alphas, ::testing::Each(IsEmpty()));
      EXPECT_THAT(lines_, IsEmpty());
    }
  }
}

TEST_F(Transparency, PassesAChainWithoutFiltersToo) {
  const ImageDesc desc{PixelFormat::i420, 9, 5};
  NotingSink::Seen seen;
  NotingSink sink(seen);
  TransparentSource source(desc, 2);
  const auto processor = make_cpu_processor({}, 1);
  run(source, *processor, sink, options_, stop_);
  EXPECT_THAT(seen.alphas, ElementsAre(TransparentSource::alpha_of(desc, 0),
                                       TransparentSource::alpha_of(desc, 1)));
}

TEST_F(Transparency, OneLineSaysWhereTheOutputLosesIt) {
  NotingSink::Seen seen;
  NotingSink sink(seen, "it is raining");
  TransparentSource source({PixelFormat::i420, 9, 5}, 3);
  go(source, sink, equalize());
  EXPECT_THAT(lines_, ElementsAre("clip: its transparency is lost, it is raining"));
  EXPECT_FALSE(seen.info.transparent);
  EXPECT_THAT(seen.alphas, ::testing::Each(IsEmpty()));
}

TEST_F(Transparency, OneLineSaysWhereFiltersMakeAnotherFormat) {
  NotingSink::Seen seen;
  NotingSink sink(seen);
  TransparentSource source({PixelFormat::i420, 9, 5}, 3);
  go(source, sink, std::make_unique<LumaFilter>());
  EXPECT_THAT(lines_, ElementsAre("clip: its transparency is lost, the filters make gray8 pictures "
                                  "of it"));
  EXPECT_FALSE(seen.info.transparent);
  EXPECT_THAT(seen.alphas, ::testing::Each(IsEmpty()));
}

/// Why a run cannot start is all that it says.
TEST_F(Transparency, AnOutputThatCannotBeOpenedSaysNothingOfIt) {
  class Refusing final : public Sink {
   public:
    void open(const StreamInfo&) override { throw Error(ExitCode::usage, "no"); }
    void write(Frame&) override {}
    void finish(Ending) override {}
  };
  Refusing sink;
  TransparentSource source({PixelFormat::i420, 9, 5}, 3);
  EXPECT_THROW(go(source, sink, equalize()), Error);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(Transparency, StaysForWhoLooksAtResultsWhereTheOutputLosesIt) {
  const ImageDesc desc{PixelFormat::i420, 9, 5};
  std::vector<std::vector<std::uint8_t>> results;
  options_.keep_alpha = true;
  options_.on_result = [&](const Frame& frame) { results.push_back(tight_copy(frame.alpha)); };
  NotingSink::Seen seen;
  NotingSink sink(seen, "it is raining");
  TransparentSource source(desc, 2);
  go(source, sink, equalize());
  EXPECT_THAT(results, ElementsAre(TransparentSource::alpha_of(desc, 0),
                                   TransparentSource::alpha_of(desc, 1)));
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(Transparency, NobodyMissesItWhereNothingIsKept) {
  const auto sink = make_null_sink();
  TransparentSource source({PixelFormat::i420, 9, 5}, 3);
  go(source, *sink, equalize());
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(Transparency, ComesWithAPartOfAStream) {
  const ImageDesc desc{PixelFormat::i420, 9, 5};
  NotingSink::Seen seen;
  NotingSink sink(seen);
  const auto source =
      make_part_source(std::make_unique<TransparentSource>(desc, 6), Part{80'000'000, 160'000'000});
  go(*source, sink, equalize());
  EXPECT_THAT(seen.alphas, ElementsAre(TransparentSource::alpha_of(desc, 2),
                                       TransparentSource::alpha_of(desc, 3)));
}

TEST_F(Transparency, IsTurnedWithItsPicture) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::y444_10le}) {
    const ImageDesc desc{format, 6, 4};
    NotingSink::Seen seen;
    const auto sink = make_upright_sink(std::make_unique<NotingSink>(seen));
    TransparentSource source(desc, 1);
    source.orientation = Orientation::clockwise;
    go(source, *sink, equalize());
    const std::vector<std::uint8_t> stored = TransparentSource::alpha_of(desc, 0);
    const int bytes = sample_bytes(format);
    std::vector<std::uint8_t> shown;
    for (int y = 0; y < 6; ++y) {  // the left column comes to the top, its lower end first
      for (int x = 0; x < 4; ++x) {
        for (int b = 0; b < bytes; ++b) {
          const int at = ((3 - x) * 6 + y) * bytes + b;
          shown.push_back(stored[static_cast<std::size_t>(at)]);
        }
      }
    }
    EXPECT_THAT(seen.alphas, ElementsAre(shown));
    ASSERT_EQ(seen.descs.size(), 1U);
    EXPECT_EQ(seen.descs[0].width, 4);
  }
}

TEST_F(Transparency, IsRecordedBesideAnOutputThatLosesIt) {
  const ImageDesc desc{PixelFormat::i420, 9, 5};
  const TempFolder folder;
  for (const bool keeps : {true, false}) {
    lines_.clear();
    NotingSink::Seen recorded;
    RecordSwitch wanted;
    wanted.on = true;
    RecordOptions record;
    record.path = folder / "rec.mkv";
    record.make_sink = [&](const std::string&) {
      return std::make_unique<NotingSink>(recorded, keeps ? "" : "it is raining");
    };
    Recorder recorder(record, wanted);
    options_.keep_alpha = true;
    options_.on_open = [&](const StreamInfo& info) { recorder.open(info); };
    options_.on_result = [&](const Frame& frame) { recorder.add(frame); };
    NotingSink::Seen seen;
    NotingSink sink(seen, "it is snowing");
    TransparentSource source(desc, 2);
    go(source, sink, equalize());
    recorder.finish();
    ASSERT_EQ(recorded.alphas.size(), 2U);
    EXPECT_EQ(recorded.info.transparent, keeps);
    const std::vector<std::uint8_t> none;
    EXPECT_EQ(recorded.alphas[1], keeps ? TransparentSource::alpha_of(desc, 1) : none);
    EXPECT_EQ(lines_.size(), keeps ? 1U : 2U);
  }
}

/// The packed form is copied by the filters themselves; what is lost is said all the same.
TEST_F(Transparency, OfPackedPixelsIsNamedWhereItIsLost) {
  class Packed final : public Source {
   public:
    StreamInfo open(const FormatPredicate&) override {
      StreamInfo info;
      info.name = "clip";
      info.desc = {PixelFormat::bgra, 4, 2};
      return info;
    }
    bool read(Frame&) override { return left_-- > 0; }

   private:
    int left_ = 2;
  };
  NotingSink::Seen seen;
  NotingSink sink(seen, "it is raining");
  Packed source;
  go(source, sink, equalize());
  EXPECT_THAT(lines_, ElementsAre("clip: its transparency is lost, it is raining"));
}

}  // namespace
}  // namespace equalux::test
