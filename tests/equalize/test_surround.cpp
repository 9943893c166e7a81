// The black around a picture: where it is found, and where not.
#include <cmath>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/equalize/deep/deep_reference.h"
#include "tests/equalize/reference.h"
#include "tests/equalize/seen_surround.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/surround_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::closed_share;
using test::Content;
using test::kFrameNs;
using test::Opening;
using test::picture;
using test::Seen;

constexpr std::array kOpenings{Opening::letterbox,   Opening::pillar_box, Opening::window,
                               Opening::disc,        Opening::cut_disc,   Opening::octagon,
                               Opening::side_octagon};

TEST(Surround, ExcludedShareIsTheTruthWithin3PerCent) {
  test::EveryNth fifth(5);
  for (const Opening opening : kOpenings) {
    for (const auto& [width, height] : {std::pair(640, 480), {1280, 720}, {701, 523}}) {
      for (const bool text : {false, true}) {
        if (fifth.skips()) continue;
        const ImageDesc desc{PixelFormat::bgr, width, height};
        SCOPED_TRACE(static_cast<int>(opening));
        SCOPED_TRACE(width);
        Image frame = picture(desc, 3);
        test::close(frame.view(), opening, text);
        Seen seen(desc);
        seen.see(frame.view());
        EXPECT_NEAR(seen.share(frame.view()), closed_share(opening, desc), 0.03) << text;
      }
    }
  }
}

TEST(Surround, IsTheSameInEveryFormat) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (traits(format).model == ColorModel::real) continue;
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      const ImageDesc desc{format, 640, 480, ColorMatrix::bt601, range};
      SCOPED_TRACE(to_string(format));
      Image frame = picture(desc, 3);
      test::close(frame.view(), Opening::disc, true);
      Seen seen(desc);
      seen.see(frame.view());
      EXPECT_NEAR(seen.share(frame.view()), closed_share(Opening::disc, desc), 0.03);
    }
  }
}

TEST(Surround, NeverFromFlatFrames) {
  for (const Content content : {Content::black, Content::white, Content::constant, Content::noise,
                                Content::ramp, Content::nearly_flat, Content::single_bin}) {
    for (const auto& [width, height] : {std::pair(1, 1), {3, 700}, {17, 17}, {640, 360}}) {
      const ImageDesc desc{PixelFormat::gray8, width, height};
      Image frame(desc);
      test::fill(frame.view(), content, 2);
      Seen seen(desc);
      for (int i = 0; i < 40; ++i)
        seen.see(frame.view());
      EXPECT_FALSE(seen.any()) << test::name_of(content) << " " << width << "x" << height;
    }
  }
}

/// Bars that slide in are no cut: they count until they have been there for a second.
TEST(Surround, SlowOnesTakeASecond) {
  const ImageDesc desc{PixelFormat::gray8, 640, 480};
  const Image original = picture(desc, 4);
  Seen seen(desc);
  int came = -1;
  int went = -1;
  for (int i = 0; i < 260; ++i) {
    Image frame(desc);
    copy_image(original.view(), frame.view());
    const int bar = std::clamp(i < 130 ? i : 200 - i, 0, 40);
    for (int y = 0; y < desc.height; ++y) {
      if (y < bar || y >= desc.height - bar)
        std::fill_n(frame.view().row(0, y), 640, std::uint8_t{0});
    }
    seen.see(frame.view());
    if (came < 0 && seen.any()) came = i;
    if (came >= 0 && went < 0 && !seen.any()) went = i;
  }
  EXPECT_GE(came, 16 + 29);
  EXPECT_LE(came, 40 + 32);
  EXPECT_GE(went, 160 + 29);
  EXPECT_LE(went, 200 + 32);
}

TEST(Surround, AJumpOfTheClockCountsOnce) {
  constexpr std::int64_t kHours = 3 * 3'600'000'000'000;
  surround::Clock clock;
  static_cast<void>(clock.next(0));
  const std::uint32_t usual = clock.next(kFrameNs);
  EXPECT_LT(usual, surround::kSecond / 10);
  EXPECT_EQ(clock.next(kHours), surround::kSecond);
  EXPECT_EQ(clock.next(kHours), usual);
  EXPECT_EQ(clock.next(kFrameNs), usual);
  EXPECT_EQ(clock.next(2 * kFrameNs), usual);
}

/// Exactly what the tracker says is left out, and everything is transformed.
TEST(Surround, FramesEqualTheDefinition) {
  EqualizeParams params;
  params.surround = Surround::ignore;
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::nv12,
        PixelFormat::i420, PixelFormat::uyvy, PixelFormat::y42b, PixelFormat::y444,
        PixelFormat::gray16_le, PixelFormat::p010_10le, PixelFormat::i422_12le,
        PixelFormat::rgb48_le}) {
    for (const std::string region : {"", "37,11,301,170"}) {
      const ImageDesc desc{format, 403, 261};
      SCOPED_TRACE(to_string(format));
      params.region = region;
      const auto filter = make_cpu_filter(params, {2});
      filter->configure(desc);
      Seen seen(desc);
      Image frame = picture(desc, 8);
      Image out(desc);
      Image expected(desc);
      for (int i = 0; i < 6; ++i) {
        if (i == 3) test::close(frame.view(), Opening::octagon, true);
        seen.see(frame.view());
        const auto counted = [&](int x, int y, int v) {
          const bool inside = region.empty() || (x >= 37 && x < 338 && y >= 11 && y < 181);
          return inside && !seen.excludes(x, y, v);
        };
        if (has_deep_samples(format)) {
          test::reference_equalize_deep({}, frame.view(), expected.view(), false, counted);
        } else {
          test::reference_equalize({}, frame.view(), expected.view(), false, counted);
        }
        FrameContext context;
        context.pts_ns = i * kFrameNs;
        filter->submit(frame.view(), out.view(), context);
        ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U) << "frame " << i;
      }
      EXPECT_TRUE(seen.any());
    }
  }
}

}  // namespace
}  // namespace equalux
