#include <array>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "pipelines/picture/orientation.h"
#include "pipelines/picture/upright_sink.h"

namespace equalux {
namespace {

/// Where a shown sample lies in the stored picture of W x H.
struct Turn {
  Orientation orientation;
  std::function<std::pair<int, int>(int x, int y, int w, int h)> stored;
};

const std::vector<Turn>& turns() {
  static const std::vector<Turn> kTurns{
      {Orientation::upright, [](int x, int y, int, int) { return std::pair(x, y); }},
      {Orientation::mirrored, [](int x, int y, int w, int) { return std::pair(w - 1 - x, y); }},
      {Orientation::upside_down,
       [](int x, int y, int w, int h) { return std::pair(w - 1 - x, h - 1 - y); }},
      {Orientation::flipped, [](int x, int y, int, int h) { return std::pair(x, h - 1 - y); }},
      {Orientation::transposed, [](int x, int y, int, int) { return std::pair(y, x); }},
      // The stored picture's lower left corner is shown at the upper left.
      {Orientation::clockwise, [](int x, int y, int, int h) { return std::pair(y, h - 1 - x); }},
      {Orientation::transverse,
       [](int x, int y, int w, int h) { return std::pair(w - 1 - y, h - 1 - x); }},
      // Its upper right corner is.
      {Orientation::counter_clockwise,
       [](int x, int y, int w, int) { return std::pair(w - 1 - y, x); }}};
  return kTurns;
}

Image noise(const ImageDesc& desc) {
  Image image(desc);
  std::mt19937 random(7);
  for (int p = 0; p < traits(desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(desc, p); ++y) {
      std::uint8_t* row = image.view().row(p, y);
      for (std::size_t i = 0; i < row_bytes(desc, p); ++i)
        row[i] = static_cast<std::uint8_t>(random());
    }
  }
  return image;
}

/// The bytes that colour component `c` has at a place of the picture: luma, Cb, Cr, or a whole
/// pixel.
std::string component(const ConstImageView& image, int c, int x, int y) {
  const PixelFormat format = image.desc.format;
  const FormatTraits& traits = equalux::traits(format);
  const auto bytes = static_cast<std::size_t>(sample_bytes(format));
  const auto take = [&](int plane, int row, std::size_t at, std::size_t count) {
    return std::string(reinterpret_cast<const char*>(image.row(plane, row)) + at, count);
  };
  const auto ux = static_cast<std::size_t>(x);
  if (format == PixelFormat::yuy2 || format == PixelFormat::uyvy) {
    const std::size_t luma = format == PixelFormat::yuy2 ? 0 : 1;
    if (c == 0) return take(0, y, 2 * ux + luma, 1);
    return take(0, y, ux / 2 * 4 + 1 - luma + (c == 2 ? 2 : 0), 1);
  }
  if (c == 0)
    return take(0, y, ux * static_cast<std::size_t>(traits.step[0]),
                static_cast<std::size_t>(traits.step[0]));
  const std::size_t chroma = ux >> traits.chroma_shift_x;
  const int row = y >> traits.chroma_shift_y;
  if (traits.planes == 2) return take(1, row, (chroma * 2 + (c == 2 ? 1 : 0)) * bytes, bytes);
  return take(c, row, chroma * bytes, bytes);
}

void expect_turned(PixelFormat format, int width, int height, bool with_chroma) {
  const Image stored = noise({format, width, height});
  for (const Turn& turn : turns()) {
    SCOPED_TRACE(std::string(to_string(format)) + " orientation " +
                 std::to_string(static_cast<int>(turn.orientation) + 1));
    Image shown(turned(stored.desc(), turn.orientation));
    turn_image(stored.view(), shown.view(), turn.orientation);
    const ImageDesc& desc = shown.desc();
    const bool swapped = swaps_sides(turn.orientation);
    ASSERT_EQ(desc.width, swapped ? height : width);
    ASSERT_EQ(desc.height, swapped ? width : height);
    const bool yuv = traits(format).model == ColorModel::yuv;
    for (int c = 0; c < (yuv && with_chroma ? 3 : 1); ++c) {
      for (int y = 0; y < desc.height; ++y) {
        for (int x = 0; x < desc.width; ++x) {
          const auto [sx, sy] = turn.stored(x, y, width, height);
          ASSERT_EQ(component(shown.view(), c, x, y), component(stored.view(), c, sx, sy))
              << c << " at " << x << "," << y;
        }
      }
    }
  }
}

TEST(Orientation, EverySampleOfEveryFormatGoesToItsPlace) {
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    expect_turned(format, 70, 38, true);
    expect_turned(format, 5, 3, false);
    expect_turned(format, 1, 1, true);
  }
}

TEST(Orientation, ChromaIsNeverSubsampledMore) {
  const auto format = [](PixelFormat from, Orientation orientation) {
    return turned(ImageDesc{from, 4, 2}, orientation).format;
  };
  EXPECT_EQ(format(PixelFormat::y42b, Orientation::clockwise), PixelFormat::y444);
  EXPECT_EQ(format(PixelFormat::y42b, Orientation::flipped), PixelFormat::y42b);
  EXPECT_EQ(format(PixelFormat::yuy2, Orientation::clockwise), PixelFormat::y444);
  EXPECT_EQ(format(PixelFormat::uyvy, Orientation::mirrored), PixelFormat::y42b);
  EXPECT_EQ(format(PixelFormat::i422_10le, Orientation::transverse), PixelFormat::y444_10le);
  EXPECT_EQ(format(PixelFormat::i422_12le, Orientation::transposed), PixelFormat::y444_12le);
  EXPECT_EQ(format(PixelFormat::nv12, Orientation::clockwise), PixelFormat::nv12);
}

TEST(Orientation, FieldsFollowTheRows) {
  EXPECT_EQ(turned(FieldOrder::top_first, 4, Orientation::mirrored), FieldOrder::top_first);
  EXPECT_EQ(turned(FieldOrder::top_first, 4, Orientation::flipped), FieldOrder::bottom_first);
  EXPECT_EQ(turned(FieldOrder::top_first, 5, Orientation::flipped), FieldOrder::top_first);
  EXPECT_EQ(turned(FieldOrder::bottom_first, 4, Orientation::clockwise), FieldOrder::progressive);
}

TEST(Orientation, AnotherTargetIsRefused) {
  const Image from = noise({PixelFormat::bgr, 4, 2});
  Image to({PixelFormat::bgr, 4, 2});
  EXPECT_THROW(turn_image(from.view(), to.view(), Orientation::clockwise), Error);
}

/// Notes what it gets.
class Noting final : public Sink {
 public:
  struct Seen {
    StreamInfo info;
    ImageDesc frame;
    ImageDesc original;
  };
  Noting(Seen& seen, bool keeps) : seen_(seen), keeps_(keeps) {}
  void open(const StreamInfo& info) override { seen_.info = info; }
  void write(Frame& frame) override {
    seen_.frame = frame.image.desc;
    if (frame.original) seen_.original = frame.original->image.desc;
  }
  void finish(Ending) override {}
  bool keeps_orientation(const StreamInfo&) const override { return keeps_; }

 private:
  Seen& seen_;
  bool keeps_;
};

TEST(UprightSink, TurnsFramesWhereTheOutputDoesNotSayHow) {
  for (const bool keeps : {false, true}) {
    Noting::Seen seen;
    const auto sink = make_upright_sink(std::make_unique<Noting>(seen, keeps));
    StreamInfo info;
    info.desc = {PixelFormat::i420, 6, 4};
    info.pixel_aspect = {4, 3};
    info.orientation = Orientation::clockwise;
    sink->open(info);
    const Image image = noise(info.desc);
    Frame original;
    original.image = image.view();
    Frame frame;
    frame.image = image.view();
    frame.original = FramePtr(&original);
    sink->write(frame);
    frame.original.release();  // It is in no pool.
    EXPECT_EQ(frame.image.desc, info.desc);
    EXPECT_EQ(frame.image.data[0], image.view().data[0]);
    const ImageDesc expected = keeps ? info.desc : turned(info.desc, info.orientation);
    EXPECT_EQ(seen.info.desc, expected);
    EXPECT_EQ(seen.frame, expected);
    EXPECT_EQ(seen.original, expected);
    EXPECT_EQ(seen.info.pixel_aspect, (keeps ? Rational{4, 3} : Rational{3, 4}));
    EXPECT_EQ(seen.info.orientation, keeps ? info.orientation : Orientation::upright);
  }
}

}  // namespace
}  // namespace equalux
