// The black around a picture: where it is found, and where not.
#include <cmath>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpu/surround_tracker.h"
#include "support/reference.h"
#include "support/scene_meter.h"
#include "support/stability_scenes.h"
#include "support/surround_frames.h"
#include "support/test_images.h"
#include "surround.h"

namespace equalux {
namespace {

using test::Content;
using test::Opening;

constexpr std::int64_t kFrameNs = 33'333'333;

YuvWeights weights_of(const ImageDesc& desc) {
  if (traits(desc.format).model == ColorModel::yuv) return yuv_weights(desc.matrix, desc.range);
  return {0, 255, 0, 0, 0, 0};
}

/// A tracker that sees whole frames.
class Seen {
 public:
  explicit Seen(const ImageDesc& desc) : desc_(desc), weights_(weights_of(desc)) {
    tracker_.configure(desc.width, desc.height, weights_.luma_max);
  }

  void see(const ConstImageView& frame) {
    tracker_.follow(pixel_values(frame, weights_, false), kFrameNs * frame_++);
  }
  [[nodiscard]] bool excludes(int x, int y, int v) const {
    const int side = tracker_.grid().side;
    return v <= surround::dark_level(weights_.luma_max) && tracker_.marks(y / side)[x / side] != 0;
  }
  /// Share of a frame's pixels that do not count.
  [[nodiscard]] double share(const ConstImageView& frame) const {
    const PixelValues values = pixel_values(frame, weights_, false);
    int excluded = 0;
    for (int y = 0; y < desc_.height; ++y) {
      for (int x = 0; x < desc_.width; ++x)
        excluded += excludes(x, y, values(x, y)) ? 1 : 0;
    }
    return excluded / static_cast<double>(desc_.width * desc_.height);
  }
  [[nodiscard]] bool any() const { return tracker_.marks_any(); }

 private:
  ImageDesc desc_;
  YuvWeights weights_;
  SurroundTracker tracker_;
  std::int64_t frame_ = 0;
};

/// A bright picture with texture, as natural as content gets here.
Image picture(const ImageDesc& desc, std::uint32_t seed) {
  Image image(desc);
  test::fill(image.view(), Content::natural, seed);
  if (traits(desc.format).model == ColorModel::yuv) return image;
  for (int y = 0; y < desc.height; ++y) {
    std::uint8_t* row = image.view().row(0, y);
    for (std::size_t i = 0; i < row_bytes(desc, 0); ++i)
      row[i] = static_cast<std::uint8_t>(30 + row[i] * 3 / 4);
  }
  return image;
}

double closed_share(Opening opening, const ImageDesc& desc) {
  int closed = 0;
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x)
      closed += test::is_open(opening, desc.width, desc.height, x, y) ? 0 : 1;
  }
  return closed / static_cast<double>(desc.width * desc.height);
}

constexpr std::array kOpenings{Opening::letterbox,   Opening::pillar_box, Opening::window,
                               Opening::disc,        Opening::cut_disc,   Opening::octagon,
                               Opening::side_octagon};

TEST(Surround, ExcludedShareIsTheTruthWithin3PerCent) {
  for (const Opening opening : kOpenings) {
    for (const auto& [width, height] : {std::pair(640, 480), {1280, 720}, {701, 523}}) {
      for (const bool text : {false, true}) {
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
    if (!has_byte_samples(format)) continue;
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

/// Pictures without black around them, down to a tenth of their light, with a camera's noise.
TEST(Surround, IsNoneOnDarkNaturalPictures) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    for (const int percent : {100, 40, 15, 4}) {
      const ImageDesc desc{PixelFormat::bgr, 640, 360};
      Seen seen(desc);
      Image picture(desc);
      Image frame(desc);
      test::fill(picture.view(), Content::natural, seed);
      for (int i = 0; i < 33; ++i) {  // longer than a second
        scenes::darken(picture.view(), percent, i, frame.view());
        seen.see(frame.view());
        ASSERT_FALSE(seen.any()) << "seed " << seed << ", " << percent << " %, frame " << i;
      }
    }
  }
}

TEST(Surround, IsNoneOnTheStabilityScenesButTheBars) {
  for (const scenes::SceneKind kind : scenes::all_scenes()) {
    const scenes::StabilityScene scene(kind);
    const bool bars = kind == scenes::SceneKind::letterbox;
    Seen seen(scenes::StabilityScene::kDesc);
    Image frame(scenes::StabilityScene::kDesc);
    for (int i = 57; i < (bars ? 124 : 92); ++i) {
      scene.draw(i, frame.view());
      seen.see(frame.view());
      const bool event = i >= scene.event().begin && i < scene.event().end;
      ASSERT_EQ(seen.any(), bars && event) << scenes::name_of(kind) << " frame " << i;
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

/// What was found stays while the picture inside is dark or gone, and is not put together from the
/// dark parts of one.
TEST(Surround, StaysThroughDarkScenes) {
  const ImageDesc desc{PixelFormat::bgr, 640, 480};
  Image frame = picture(desc, 4);
  test::close(frame.view(), Opening::octagon, false);
  Image dark(desc);
  Seen seen(desc);
  for (int i = 0; i < 130; ++i) {
    const int percent = i < 5 ? 100 : (i < 55 ? 100 - 2 * (i - 4) : (i < 95 ? 0 : 60));
    scenes::darken(frame.view(), percent, i, dark.view());
    seen.see(dark.view());
    ASSERT_TRUE(seen.any()) << i;
  }
  EXPECT_NEAR(seen.share(dark.view()), closed_share(Opening::octagon, desc), 0.03);
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

/// Exactly what the tracker says is left out, and everything is transformed.
TEST(Surround, FramesEqualTheDefinition) {
  EqualizeParams params;
  params.surround = Surround::ignore;
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::nv12,
        PixelFormat::i420, PixelFormat::uyvy, PixelFormat::y42b, PixelFormat::y444}) {
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
        test::reference_equalize(
            {}, frame.view(), expected.view(), false, [&](int x, int y, int v) {
              const bool inside = region.empty() || (x >= 37 && x < 338 && y >= 11 && y < 181);
              return inside && !seen.excludes(x, y, v);
            });
        FrameContext context;
        context.pts_ns = i * kFrameNs;
        filter->submit(frame.view(), out.view(), context);
        ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U) << "frame " << i;
      }
      EXPECT_TRUE(seen.any());
    }
  }
}

/// How far bars that come and go move the picture between them: found, or told of by a region.
double letterbox_move(EqualizeParams params, Surround surround, bool told = false) {
  const scenes::StabilityScene scene(scenes::SceneKind::letterbox);
  scenes::SceneMeter meter(scene);
  params.surround = surround;
  const auto filter = make_cpu_filter(params, {1});
  filter->configure(scenes::StabilityScene::kDesc);
  Image original(scenes::StabilityScene::kDesc);
  Image result(scenes::StabilityScene::kDesc);
  for (int i = 38; i < 130; ++i) {
    if (told && (i == scene.event().begin || i == scene.event().end)) {
      params.region = i == scene.event().begin ? "0,45,640,270" : "";
      filter->update(params);
    }
    scene.draw(i, original.view());
    FrameContext context;
    context.pts_ns = scenes::StabilityScene::pts_ns(i);
    filter->submit(original.view(), result.view(), context);
    meter.add(i, original.view(), result.view());
  }
  return meter.figures().largest_move;
}

/// What still moves is that a quarter of the picture is gone.
TEST(Surround, BarsThatComeAndGoMoveThePictureNoMoreThanWithoutThem) {
  EqualizeParams calm;
  calm.strength = 0.5;
  calm.clip_limit = 3;
  calm.temporal_ms = 1000;
  for (const EqualizeParams& params : {EqualizeParams{}, calm}) {
    const double ignored = letterbox_move(params, Surround::ignore);
    EXPECT_LT(ignored, letterbox_move(params, Surround::keep, true) + 0.2);
    EXPECT_LT(ignored, params == calm ? 2 : 3.5);
    EXPECT_GT(letterbox_move(params, Surround::keep), 2 * ignored);
  }
}

}  // namespace
}  // namespace equalux
