// Which pixels count: regions, against counting them one by one.
#include <fstream>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/deep/deep_chain.h"
#include "src/cpu/equalize/fused/fused_chain.h"
#include "src/equalize/region.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/equalize/reference.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/test_images.h"
#include "tests/support/temp_folder.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;
using testing::HasSubstr;

struct Box {
  int left, top, right, bottom;
  [[nodiscard]] std::string text() const {
    return std::to_string(left) + "," + std::to_string(top) + "," + std::to_string(right - left) +
           "," + std::to_string(bottom - top);
  }
  [[nodiscard]] bool has(int x, int y) const {
    return x >= left && x < right && y >= top && y < bottom;
  }
};

EqualizeParams of_region(const std::string& region) {
  EqualizeParams params;
  params.region = region;
  return params;
}

std::string error_of(const EqualizeParams& params, const ImageDesc& desc) {
  try {
    make_cpu_filter(params, {1})->configure(desc);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

/// A mask with an island and a ragged edge; white counts.
bool in_mask(int x, int y) {
  return (x * x + 3 * y * y) % 97 < 40 || (x > 20 && x < 31);
}

std::string write_mask(const test::TempFolder& folder, int width, int height) {
  const std::string path = folder / "mask.pgm";
  std::ofstream file(path, std::ios::binary);
  file << "P5\n# a comment\n" << width << " " << height << "\n255\n";
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      file.put(static_cast<char>(in_mask(x, y) ? 255 : 0));
  }
  return path;
}

void expect_exact(const EqualizeParams& params, const ImageDesc& desc, const FusedRows& loops,
                  int padding, FieldOrder order, const std::function<bool(int, int)>& inside) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::string(loops.target) + " " +
               params.region + " in " + std::to_string(desc.width) + "x" +
               std::to_string(desc.height));
  PaddedImage in(desc, padding, padding % 2 != 0, padding % 5);
  PaddedImage out(desc, padding);
  PaddedImage expected(desc);
  test::fill(in.view(), Content::natural, 3);
  test::reference_equalize(params, in.view(), expected.view(), order != FieldOrder::progressive,
                           [&](int x, int y, int) { return inside(x, y); });
  RowExecutor two(2);
  FusedChain chain(params, two, loops);
  chain.configure(desc);
  FrameContext context;
  context.field_order = order;
  for (int frame = 0; frame < 2; ++frame) {
    test::fill(out.view(), Content::noise, 9);
    chain.process(in.view(), out.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0U);
  }
  EXPECT_TRUE(in.padding_intact());
}

TEST(Region, EveryFormatTargetAndFieldOrderCountsExactlyThePixelsInside) {
  for (const FusedRows& loops : all_fused_rows()) {
    for (int f = 0; f < kPixelFormatCount; ++f) {
      const auto format = static_cast<PixelFormat>(f);
      if (!has_byte_samples(format)) continue;
      for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
        for (const Box& box : {Box{5, 3, 60, 29}, Box{0, 0, 133, 1}, Box{64, 10, 133, 36},
                               Box{131, 34, 133, 37}, Box{0, 0, 133, 37}}) {
          expect_exact(of_region(box.text()), {format, 133, 37}, loops, f % 7, order,
                       [&](int x, int y) { return box.has(x, y); });
        }
      }
    }
  }
}

/// Expects the exact result of frames of more than 8 bits, by each of `targets`.
void expect_exact_deep(const EqualizeParams& params, const ImageDesc& desc,
                       const std::vector<DeepRows>& targets, int padding, FieldOrder order,
                       const std::function<bool(int, int)>& inside) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + params.region + " in " +
               std::to_string(desc.width) + "x" + std::to_string(desc.height));
  PaddedImage in(desc, padding, padding % 2 != 0, padding % 5);
  PaddedImage out(desc, padding);
  PaddedImage expected(desc);
  test::fill(in.view(), Content::natural, 3);
  test::reference_equalize_deep(params, in.view(), expected.view(),
                                order != FieldOrder::progressive,
                                [&](int x, int y, int) { return inside(x, y); });
  RowExecutor two(2);
  FrameContext context;
  context.field_order = order;
  for (const DeepRows& loops : targets) {
    DeepChain chain(params, two, loops);
    chain.configure(desc);
    for (int frame = 0; frame < 2; ++frame) {
      test::fill(out.view(), Content::noise, 9);
      chain.process(in.view(), out.view(), context);
      EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0U) << loops.target;
    }
  }
  EXPECT_TRUE(in.padding_intact());
}

TEST(Region, EveryFormatOfMoreThan8BitsCountsExactlyThePixelsInside) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
      for (const Box& box : {Box{5, 3, 60, 29}, Box{64, 10, 133, 36}, Box{131, 34, 133, 37}}) {
        expect_exact_deep(of_region(box.text()), {format, 133, 37}, all_deep_rows(),
                          static_cast<int>(format) % 7, order,
                          [&](int x, int y) { return box.has(x, y); });
      }
    }
  }
}

TEST(Region, MoreThan8BitsOfEverySizeScalerBinCountAndMask) {
  const test::TempFolder folder;
  for (const PixelFormat format :
       {PixelFormat::p010_10le, PixelFormat::i420_12le, PixelFormat::rgb48_le}) {
    expect_exact_deep(of_region(write_mask(folder, 133, 37)), {format, 133, 37}, {deep_rows()}, 1,
                      FieldOrder::bottom_first, in_mask);
    for (const auto& [width, height] : {std::pair(1, 1), {1, 9}, {9, 1}, {3, 7}, {700, 3}}) {
      for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
        for (const int bins : {0, 77}) {
          const Box box{width / 3, height / 2, width, height};
          EqualizeParams params = of_region(box.text());
          params.scaler = scaler;
          params.bins = bins;
          expect_exact_deep(params, {format, width, height}, {deep_rows()}, 3,
                            FieldOrder::progressive, [&](int x, int y) { return box.has(x, y); });
        }
      }
    }
  }
}

TEST(Region, EverySizeScalerAndBinCount) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::yuy2}) {
    for (const auto& [width, height] :
         {std::pair(1, 1), {1, 9}, {9, 1}, {2, 2}, {3, 7}, {65, 18}, {700, 3}}) {
      for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
        for (const int bins : {0, 2, 77, 65536}) {
          const Box box{width / 3, height / 2, width, height};
          EqualizeParams params = of_region(box.text());
          params.scaler = scaler;
          params.bins = bins;
          expect_exact(params, {format, width, height}, fused_rows(), 3, FieldOrder::progressive,
                       [&](int x, int y) { return box.has(x, y); });
        }
      }
    }
  }
}

TEST(Region, MasksCountWhereTheyAreWhite) {
  const test::TempFolder folder;
  const std::string path = write_mask(folder, 133, 37);
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::argb,
                                   PixelFormat::i420, PixelFormat::uyvy, PixelFormat::y444}) {
    for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::bottom_first})
      expect_exact(of_region(path), {format, 133, 37}, fused_rows(), 1, order, in_mask);
  }
}

TEST(Region, BlackMasksLeaveTheWholeFrame) {
  const test::TempFolder folder;
  const std::string path = folder / "black.pgm";
  std::ofstream(path, std::ios::binary) << "P5 4 2 1\n" << std::string(8, '\0');
  const auto all = [](int, int) { return true; };
  expect_exact(of_region(path), {PixelFormat::bgr, 4, 2}, fused_rows(), 0, FieldOrder::progressive,
               all);
  expect_exact_deep(of_region(path), {PixelFormat::p010_10le, 4, 2}, {deep_rows()}, 0,
                    FieldOrder::progressive, all);
}

TEST(Region, PerCentAreOfTheFrameAndTileIt) {
  const ImageDesc desc{PixelFormat::gray8, 101, 33};
  int pixels = 0;
  for (const std::string left : {"0%,0,33.3%,100%", "33.3%,0%,33.4%,33", "66.7%,0,33.3%,100%"}) {
    const RegionOutside outside(left, desc);
    pixels += desc.width * desc.height;
    for (int y = 0; y < desc.height; ++y) {
      for (const Columns& run : outside.row(y))
        pixels -= run.end - run.begin;
    }
  }
  EXPECT_EQ(pixels, desc.width * desc.height);
}

TEST(Region, IsCutToTheFrame) {
  expect_exact(of_region("60,20,5000,5000"), {PixelFormat::bgr, 133, 37}, fused_rows(), 0,
               FieldOrder::progressive, [](int x, int y) { return x >= 60 && y >= 20; });
}

/// Equalizes by the definition of the format's depth, with the pixels of a box counted.
void equalize_inside(const ConstImageView& in, const ImageView& out, const Box& box) {
  const auto counted = [&](int x, int y, int) { return box.has(x, y); };
  if (has_deep_samples(in.desc.format))
    return test::reference_equalize_deep({}, in, out, false, counted);
  test::reference_equalize({}, in, out, false, counted);
}

class RegionOf : public testing::TestWithParam<PixelFormat> {};

INSTANTIATE_TEST_SUITE_P(Depths, RegionOf,
                         testing::Values(PixelFormat::i420, PixelFormat::i420_10le),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST_P(RegionOf, ChangesWhileFramesGoBy) {
  const ImageDesc desc{GetParam(), 96, 40};
  Image in(desc);
  Image out(desc);
  Image expected(desc);
  test::fill(in.view(), Content::natural, 5);
  const auto filter = make_cpu_filter(EqualizeParams{}, {1});
  filter->configure(desc);
  FrameContext context;
  filter->submit(in.view(), out.view(), context);
  for (const Box& box : {Box{0, 0, 40, 20}, Box{50, 7, 96, 40}}) {
    ASSERT_TRUE(retune(*filter, of_region(box.text())));
    filter->submit(in.view(), out.view(), context);
    equalize_inside(in.view(), expected.view(), box);
    EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0U);
  }
  ASSERT_TRUE(retune(*filter, EqualizeParams{}));
  filter->submit(in.view(), out.view(), context);
  equalize_inside(in.view(), expected.view(), {0, 0, 96, 40});
  EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0U);
}

/// A curve over time and with limits is that of a frame that has the region's pixels alone.
TEST(Region, CurvesWithLimitsAreThoseOfTheRegion) {
  EqualizeParams params;
  params.clip_limit = 2;
  params.temporal_ms = 500;
  for (const auto& [format, space] :
       {std::pair(PixelFormat::bgr, Space::value), std::pair(PixelFormat::rgb48_le, Space::value),
        std::pair(PixelFormat::i420, Space::luma), std::pair(PixelFormat::p010_10le, Space::luma),
        std::pair(PixelFormat::gray8, Space::luma)}) {
    SCOPED_TRACE(to_string(format));
    params.space = space;
    const ImageDesc whole{format, 90, 60};
    const ImageDesc part{format, 40, 60};
    const auto of_part = make_cpu_filter(params, {1});
    EqualizeParams inside = params;
    inside.region = "50,0,40,60";
    const auto of_whole = make_cpu_filter(inside, {1});
    of_part->configure(part);
    of_whole->configure(whole);
    Image in(whole);
    Image out(whole);
    Image expected(part);
    FrameContext context;
    for (int frame = 0; frame < 12; ++frame) {
      test::fill(in.view(), frame < 6 ? Content::natural : Content::ramp,
                 static_cast<std::uint32_t>(frame));
      context.pts_ns = frame * 40'000'000LL;
      of_whole->submit(in.view(), out.view(), context);
      of_part->submit(part_of<ConstImageView>(in.view(), 50, 0, 40, 60), expected.view(), context);
      ASSERT_EQ(test::count_differences(expected.view(),
                                        part_of<ConstImageView>(out.view(), 50, 0, 40, 60)),
                0U)
          << "frame " << frame;
    }
  }
}

TEST(Region, MistakesAreNamed) {
  const ImageDesc desc{PixelFormat::bgr, 64, 48};
  EXPECT_THAT(error_of(of_region("1,2,3"), desc), HasSubstr("region is '1,2,3', must be x,y,"));
  EXPECT_THAT(error_of(of_region("1,2,3,x"), desc), HasSubstr("region is '1,2,3,x'"));
  EXPECT_THAT(error_of(of_region("1,2,nan%,4"), desc), HasSubstr("region is '1,2,nan%,4'"));
  EXPECT_THAT(error_of(of_region("-1,2,3,4"), desc), HasSubstr("region is -1,2,3,4, must have x"));
  EXPECT_THAT(error_of(of_region("1,2,0,4"), desc), HasSubstr("must have x and y of at least 0"));
  EXPECT_THAT(error_of(of_region("64,0,5,5"), desc), HasSubstr("the frame's 64x48"));
  EXPECT_THAT(error_of(of_region("0,0,0.1%,5"), desc), HasSubstr("must have a pixel"));
  EXPECT_THAT(error_of(of_region("no.pgm"), desc), HasSubstr("no.pgm cannot be opened"));
  EqualizeParams spaced = of_region("1,2,3,4");
  spaced.space = Space::luma;
  EXPECT_THAT(error_of(spaced, desc), HasSubstr("space is luma for frames of bgr, must be value"));
  EXPECT_EQ(error_of(spaced, {PixelFormat::nv12, 64, 48}), "none");
  spaced.space = Space::lightness;
  EXPECT_THAT(error_of(spaced, desc), HasSubstr("space is lightness, must be value or luma with"));
  EqualizeParams staged = of_region("1,2,3,4");
  staged.chain = Chain::staged;
  EXPECT_THAT(error_of(staged, desc), HasSubstr("must be fused with region or surround"));

  const test::TempFolder folder;
  EXPECT_THAT(error_of(of_region(write_mask(folder, 63, 48)), desc),
              HasSubstr("has 63x48 pixels of gray8, must have the frame's 64x48"));
  for (const std::string text : {"", "P6 4 2 255\n", "P5 4", "P5 4 x 255\n", "P5 4 2 255\n1234567",
                                 "P5 0 2 255\n", "P5 4 2 65535\n0123456789012345", "P5 #"}) {
    const std::string path = folder / "bad.pgm";
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_THAT(error_of(of_region(path), desc), HasSubstr("region mask " + path)) << text;
  }
}

}  // namespace
}  // namespace equalux
