#include <algorithm>
#include <cmath>

#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/hessian/class_colours.h"
#include "tests/hessian/vessel_trees.h"
#include "tests/support/media/test_images.h"

/// What `vessel` and `shapes` write, and the parameters of the family.
namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename Params>
Image run(const Params& params, const ConstImageView& in, int threads = 1) {
  const auto filter = make_cpu_filter(params, {threads});
  Image out(filter->configure(in.desc));
  FrameContext context;
  filter->submit(in, out.view(), context);
  return out;
}

/// A round photograph in a dark frame, with a dark line across it and a soft rim. YCbCr has the
/// same levels in the codes of its range.
Image round_photograph(const ImageDesc& desc, int brightest, bool fourth_corner_bright = false) {
  constexpr int kSide = 240;
  Image image({desc.format, kSide, kSide, desc.matrix, desc.range});
  const bool limited =
      traits(desc.format).model == ColorModel::yuv && desc.range == ColorRange::limited;
  const int step = traits(desc.format).step[0];
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const double inside = 105 - std::hypot(x - 119.5, y - 119.5);
      double level = 4 + std::clamp(inside + 2, 0.0, 4.0) / 4 * (brightest - 4);
      if (std::abs(y - 110) < 3 && inside > 0) level *= 0.7;
      if (fourth_corner_bright && x > kSide - 4 && y > kSide - 4) level = 120;
      if (limited) level = 16 + level * 219 / 255;
      for (int c = 0; c < std::min(step, 3); ++c)
        image.view().row(0, y)[x * step + c] = static_cast<std::uint8_t>(level);
    }
  }
  return image;
}

/// Vessel pixels by their distance from the middle of round_photograph().
struct Found {
  int line = 0;
  int elsewhere = 0;
};
Found found_in(const ConstImageView& mask) {
  Found found;
  for (int y = 0; y < mask.desc.height; ++y) {
    for (int x = 0; x < mask.desc.width; ++x) {
      if (mask.row(0, y)[x] == 0) continue;
      ++(std::abs(y - 110) < 6 && std::hypot(x - 119.5, y - 119.5) < 105 ? found.line
                                                                         : found.elsewhere);
    }
  }
  return found;
}

TEST(FieldOfView, TheRimOfARoundPhotographIsNoVessel) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::rgba}) {
    const Image photograph = round_photograph({format, 0, 0}, 184);
    VesselParams params;
    const Found with = found_in(run(params, photograph.view()).view());
    EXPECT_GT(with.line, 700) << to_string(format);
    EXPECT_EQ(with.elsewhere, 0) << to_string(format);
    params.mask = FieldOfView::none;
    EXPECT_GT(found_in(run(params, photograph.view()).view()).elsewhere, 500);
  }
}

/// Black of limited range is no brighter than that of full range, however dim the photograph is.
TEST(FieldOfView, ADimPhotographHasTheSameRimInEveryRange) {
  for (const ColorRange range : {ColorRange::full, ColorRange::limited}) {
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::y444}) {
      const Image photograph = round_photograph({format, 0, 0, ColorMatrix::bt709, range}, 60);
      const Found found = found_in(run(VesselParams{}, photograph.view()).view());
      EXPECT_GT(found.line, 700) << to_string(format) << ' ' << to_string(range);
      EXPECT_EQ(found.elsewhere, 0) << to_string(format) << ' ' << to_string(range);
    }
  }
}

TEST(FieldOfView, NeedsAllFourCornersDark) {
  const Image photograph = round_photograph({PixelFormat::gray8, 0, 0}, 184, true);
  VesselParams params;
  const Image with = run(params, photograph.view());
  params.mask = FieldOfView::none;
  EXPECT_EQ(test::count_differences(with.view(), run(params, photograph.view()).view()), 0u);
}

/// Tinted as class_colours.h has it, sample by sample.
void expect_overlay(const ConstImageView& in, const ConstImageView& out,
                    const std::vector<std::uint8_t>& classes, const ClassColours& colours,
                    bool interlaced) {
  const FormatTraits& form = traits(in.desc.format);
  const int width = in.desc.width;
  const auto class_at = [&](int x, int y) {
    return classes[static_cast<std::size_t>(y * width + x)];
  };
  int wrong = 0;
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const ClassColour& colour = colours[class_at(x, y)];
      for (int c = 0; c < form.step[0]; ++c) {
        const int before = in.row(0, y)[x * form.step[0] + c];
        int target = form.model == ColorModel::gray ? colour.gray : colour.y;
        if (form.model == ColorModel::rgb) {
          const char name = to_string(in.desc.format)[static_cast<std::size_t>(c)];
          target = name == 'r' ? colour.r : name == 'g' ? colour.g : name == 'b' ? colour.b : -1;
        }
        const bool kept = class_at(x, y) == 0 || target < 0;
        const double expected =
            kept ? before : std::floor((before * 112 + target * 144) / 256.0 + 0.5);
        wrong += out.row(0, y)[x * form.step[0] + c] != expected;
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "luma or RGB of " << form.name;
  if (form.model != ColorModel::yuv) return;
  const bool pairs = in.desc.format == PixelFormat::nv12;
  for (int row = 0; row < plane_rows(in.desc, 1); ++row) {
    for (int column = 0; column << form.chroma_shift_x < width; ++column) {
      for (const int c : {0, 1}) {
        double sum = 0;
        int pixels = 0;
        const int plane = pairs ? 1 : 1 + c;
        const int at = pairs ? 2 * column + c : column;
        const int before = in.row(plane, row)[at];
        for (int y = 0; y < in.desc.height; ++y) {
          const int owner = form.chroma_shift_y == 0 ? y : interlaced ? 2 * (y / 4) + y % 2 : y / 2;
          if (owner != row) continue;
          for (int x = column << form.chroma_shift_x;
               x < std::min(width, (column + 1) << form.chroma_shift_x); ++x) {
            const ClassColour& colour = colours[class_at(x, y)];
            ++pixels;
            sum += class_at(x, y) == 0 ? 256.0 * before
                                       : 112.0 * before + 144.0 * (c == 0 ? colour.cb : colour.cr);
          }
        }
        wrong += out.row(plane, row)[at] != std::floor(sum / (256 * pixels) + 0.5);
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "chroma of " << form.name;
}

TEST(VesselOverlay, EveryFormatIsTintedWhereTheMaskIs) {
  const test::VesselTree tree = test::vessel_tree(301, 160, 8, false);
  for (int f = 0; f < kPixelFormatCount; ++f) {
    VesselParams params;
    params.output = VesselOutput::overlay;
    const ImageDesc desc{static_cast<PixelFormat>(f), 301, 160};
    if (!make_cpu_filter(params)->accepts(desc.format)) continue;
    PaddedImage in(desc, 3, true);
    test::fill(in.view(), Content::noise, 31);
    for (int y = 0; y < 160; ++y) {
      const int step = traits(desc.format).step[0];
      for (int x = 0; x < 301; ++x) {
        for (int c = 0; c < step; ++c)
          in.view().row(0, y)[step * x + c] = std::as_const(tree.image).view().row(0, y)[x];
      }
    }
    VesselParams mask_params;
    std::vector<std::uint8_t> classes = test::tight_copy(run(mask_params, in.view()).view());
    for (std::uint8_t& k : classes)
      k = k == 255 ? 1 : 0;
    ASSERT_GT(std::count(classes.begin(), classes.end(), 1), 1000);
    const ClassColours colours = vessel_colours(desc.matrix, desc.range);
    for (const bool interlaced : {false, true}) {
      const auto filter = make_cpu_filter(params, {2});
      filter->configure(desc);
      PaddedImage out(desc, 5);
      FrameContext context;
      context.field_order = interlaced ? FieldOrder::top_first : FieldOrder::progressive;
      filter->submit(in.view(), out.view(), context);
      expect_overlay(in.view(), out.view(), classes, colours, interlaced);
      EXPECT_TRUE(out.padding_intact());
      PaddedImage same(desc, 3, true);
      copy_image(in.view(), same.view());
      filter->submit(same.view(), same.view(), context);
      EXPECT_EQ(test::count_differences(same.view(), out.view()), 0u) << "in place";
    }
  }
}

TEST(VesselHeat, IsBlackWhereNothingIsAndBrightOnVessels) {
  const test::VesselTree tree = test::vessel_tree(300, 200, 5, false);
  VesselParams params;
  params.output = VesselOutput::heat;
  const Image heat = run(params, tree.image.view());
  ASSERT_EQ(heat.desc().format, PixelFormat::bgr);
  double on = 0, off = 0;
  int pixels = 0;
  for (int i = 0; i < 300 * 200; ++i) {
    const std::uint8_t* p = heat.view().row(0, i / 300) + 3 * (i % 300);
    // Red fills first, then green, then blue.
    EXPECT_TRUE((p[1] == 0 || p[2] == 255) && (p[0] == 0 || p[1] == 255));
    const bool vessel = tree.mask[static_cast<std::size_t>(i)] != 0;
    (vessel ? on : off) += p[0] + p[1] + p[2];
    pixels += vessel ? 1 : 0;
  }
  EXPECT_GT(on / pixels, 250);
  EXPECT_LT(off / (300 * 200 - pixels), 40);
}

/// Ground with a line and a blob, darker and brighter.
Image shapes_frame(PixelFormat format) {
  Image image({format, 200, 120});
  test::fill(image.view(), Content::constant, 1);
  const int step = traits(format).step[0];
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 200; ++x) {
      const auto bump = [&](double distance) { return 60 * std::exp(-distance * distance / 18); };
      const double level = 128 - bump(y - 30) + bump(y - 60) - bump(std::hypot(x - 50, y - 95)) +
                           bump(std::hypot(x - 150, y - 95));
      for (int c = 0; c < step; ++c)
        image.view().row(0, y)[step * x + c] = static_cast<std::uint8_t>(level + 0.5);
    }
  }
  return image;
}

TEST(Shapes, LinesAndBlobsOfBothKindsHaveTheirClass) {
  ShapesParams params;
  params.output = ShapesOutput::classes;
  const Image in = shapes_frame(PixelFormat::gray8);
  const Image classes = run(params, in.view());
  const auto at = [&](int x, int y) { return static_cast<int>(classes.view().row(0, y)[x]); };
  EXPECT_EQ(at(100, 30), 1);
  EXPECT_EQ(at(100, 60), 2);
  EXPECT_EQ(at(50, 95), 3);
  EXPECT_EQ(at(150, 95), 4);
  EXPECT_EQ(at(100, 110), 0);
  params.threshold = 200;
  EXPECT_THAT(test::tight_copy(run(params, in.view()).view()), ::testing::Each(0));
}

TEST(Shapes, OverlaysAreTintedByClass) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::xbgr, PixelFormat::i420}) {
    const Image in = shapes_frame(format);
    ShapesParams params;
    params.output = ShapesOutput::classes;
    const auto classes = test::tight_copy(run(params, in.view()).view());
    params.output = ShapesOutput::overlay;
    expect_overlay(in.view(), run(params, in.view(), 2).view(), classes,
                   shape_colours(in.desc().matrix, in.desc().range), false);
  }
}

template <typename Params>
std::vector<std::string> broken(const Params& params, const ImageDesc* desc = nullptr) {
  return violations(params, Backend::cpu, desc);
}

TEST(HessianParams, RulesAreNamedOneByOne) {
  EXPECT_THAT(broken(HessianParams{}), IsEmpty());
  EXPECT_THAT(broken(VesselParams{}), IsEmpty());
  EXPECT_THAT(broken(ShapesParams{}), IsEmpty());
  HessianParams h;
  h.sigma = 0.4;
  h.truncate = 9;
  EXPECT_THAT(broken(h), ElementsAre("sigma is 0.4, must be 0.5 to 16 pixels",
                                     "truncate is 9, must be 1 to 8"));
  h = {};
  h.sigma = 16;
  h.truncate = 5;
  EXPECT_THAT(broken(h), ElementsAre(HasSubstr("times sigma is at most 64")));
  h.sigma = std::nan("");
  EXPECT_THAT(broken(h), SizeIs(1));
  h = {};
  h.derivative = HessianDerivative::sobel_laplacian;
  EXPECT_THAT(broken(h), IsEmpty());
  h.sigma = 16;
  h.truncate = 8;
  EXPECT_THAT(broken(h), ElementsAre(HasSubstr("sigma is 16, must be left out with derivative"),
                                     HasSubstr("truncate is 8, must be left out with")));
  VesselParams v;
  v.low = 0.5;
  EXPECT_THAT(broken(v), ElementsAre("low is 0.5, must be at most high, which is 0.16"));
  v = {};
  v.sigmas = {2, 0.9};
  EXPECT_THAT(broken(v), ElementsAre("sigmas is 0.9, must be 1 to 16 pixels"));
  v.sigmas = {};
  v.min_size = -1;
  EXPECT_THAT(broken(v), SizeIs(2));
  v = {};
  v.derivative = HessianDerivative::sobel_laplacian;
  EXPECT_THAT(broken(v), ElementsAre(HasSubstr("has no scale")));
  ShapesParams s;
  s.line_ratio = 0.7;
  EXPECT_THAT(broken(s), ElementsAre(HasSubstr("line-ratio is 0.7")));
  s = {};
  s.derivative = HessianDerivative::sobel_laplacian;
  s.sigma = 2;
  EXPECT_THAT(broken(s), ElementsAre(HasSubstr("sigma is 2, must be left out with derivative")));
}

TEST(HessianParams, FramesWithoutTheChannelAreRefused) {
  const ImageDesc nv12{PixelFormat::nv12, 8, 8};
  HessianParams h;
  EXPECT_THAT(broken(h, &nv12), IsEmpty());
  h.channel = HessianChannel::green;
  EXPECT_THAT(broken(h, &nv12), ElementsAre(HasSubstr("frames of format nv12 do not have")));
  const ImageDesc planes{PixelFormat::grayf32x2, 8, 8};
  EXPECT_THAT(broken(HessianParams{}, &planes), SizeIs(1));
  const ImageDesc floats{PixelFormat::grayf32, 8, 8};
  VesselParams v;
  EXPECT_THAT(broken(v, &floats), IsEmpty());
  v.output = VesselOutput::overlay;
  EXPECT_THAT(broken(v, &floats), ElementsAre(HasSubstr("8 bits")));
}

TEST(HessianParams, OptionsSetEveryKey) {
  VesselParams v;
  const auto set = [&](const char* text) {
    for (const auto& [key, value] : parse_filter_spec(text).options)
      set_option(v, key, value);
  };
  set("vessel:sigmas=1,2.5,4,truncate=3,derivative=gradient,channel=green,polarity=bright,"
      "measure=frangi,mask=none,low=0.2,high=0.5,min-size=7,output=heat");
  VesselParams expected;
  expected.sigmas = {1, 2.5, 4};
  expected.truncate = 3;
  expected.derivative = HessianDerivative::gradient;
  expected.channel = HessianChannel::green;
  expected.polarity = Polarity::bright;
  expected.measure = VesselMeasure::frangi;
  expected.mask = FieldOfView::none;
  expected.low = 0.2;
  expected.high = 0.5;
  expected.min_size = 7;
  expected.output = VesselOutput::heat;
  EXPECT_EQ(v, expected);
  ShapesParams s;
  for (const auto& [key, value] :
       parse_filter_spec("shapes:sigma=2,threshold=5,line-ratio=0.1,blob-ratio=0.9,output=classes")
           .options)
    set_option(s, key, value);
  EXPECT_EQ(s.sigma + s.threshold + s.line_ratio + s.blob_ratio, 2 + 5 + 0.1 + 0.9);
  EXPECT_EQ(s.output, ShapesOutput::classes);
  for (const char* text :
       {"x:sigmas=2,,3", "x:sigmas=two", "x:min-size=1.5", "x:mask=round", "x:sigma=2"})
    EXPECT_THROW(set(text), Error) << text;
}

}  // namespace
}  // namespace equalux
