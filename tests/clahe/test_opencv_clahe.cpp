// clahe:compatible=opencv gives the bytes of cv::createCLAHE.
#include <array>
#include <functional>
#include <limits>
#include <numeric>

#include <equalux/clahe.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/clahe/opencv_clahe_chain.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"
#include "tests/support/opencv_bytes.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ClaheParams opencv_params(double clip_limit, int x, int y) {
  ClaheParams params;
  params.tiles_x = x;
  params.tiles_y = y;
  params.curve.clip_limit = clip_limit;
  params.curve.compatible = Compatible::opencv;
  return params;
}

#if defined(EQUALUX_TEST_OPENCV)
Image opencv_result(const ImageView& in, const ClaheParams& params) {
  Image tight(in.desc);
  copy_image(in, tight.view());
  Image result(in.desc);
  cv::Mat out;
  cv::createCLAHE(params.curve.clip_limit, {params.tiles_x, params.tiles_y})
      ->apply(test::as_mat(tight.view()), out);
  out.copyTo(test::as_mat(result.view()));
  return result;
}

/// Every target of this machine on one picture, beside OpenCV, and in place.
void expect_opencv(const ClaheParams& params, const PaddedImage& in) {
  const ImageDesc& desc = in.view().desc;
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
               std::to_string(desc.height) + " tiles " + std::to_string(params.tiles_x) + "," +
               std::to_string(params.tiles_y) + " clip " + std::to_string(params.curve.clip_limit));
  ASSERT_THAT(violations(params, Backend::cpu, &desc), IsEmpty());
  const Image expected = opencv_result(in.view(), params);
  RowExecutor two(2);
  for (const OpencvRows& loops : all_opencv_rows()) {
    PaddedImage out(desc, 13, true, 3);
    OpencvClaheChain chain(params, two, fused_rows(), loops);
    chain.configure(desc);
    chain.process(in.view(), out.view(), {});
    ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U) << loops.target;
    ASSERT_TRUE(out.padding_intact());
    // A second frame finds no counts of the first.
    copy_image(in.view(), out.view());
    chain.process(out.view(), out.view(), {});
    ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U)
        << loops.target << " in place";
  }
}

/// Limits that are none, below what a level can have, usual, and beyond all pixels and numbers.
double random_limit(std::mt19937& random) {
  constexpr std::array<double, 12> kLimits{0,  0.001, 0.5, 1,    2,   3.7,
                                           40, 255,   1e4, 16e6, 1e9, 1e300};
  return kLimits[random() % kLimits.size()];
}

int random_side(std::mt19937& random, int most) {
  return 1 + static_cast<int>(random() % (random() % 3 == 0 ? 9U : static_cast<unsigned>(most)));
}

void try_pictures(PixelFormat format, int count, int most_side, int most_tiles) {
  std::mt19937 random(26);
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const ImageDesc desc{format, random_side(random, most_side), random_side(random, most_side)};
    const PaddedImage in(desc, static_cast<int>(random() % 9), random() % 2 == 0,
                         static_cast<int>(random() % 7));
    test::fill_random(in.view(), random);
    const bool even = random() % 4 == 0;  // tiles that need no mirrored pixels
    const int x = even ? std::gcd(desc.width, 12) : random_side(random, most_tiles);
    const int y = even ? std::gcd(desc.height, 12) : random_side(random, most_tiles);
    ASSERT_NO_FATAL_FAILURE(expect_opencv(opencv_params(random_limit(random), x, y), in));
  }
}

TEST(OpencvClahe, RandomPicturesOf8BitsEqualItsBytes) {
  if (!test::kHasOpencvBytes) GTEST_SKIP() << test::kNoOpencvBytes;
  try_pictures(PixelFormat::gray8, test::picture_count(150), 300, 40);
}

/// Fewer tiles: each costs OpenCV 65,536 levels.
TEST(OpencvClahe, RandomPicturesOf16BitsEqualItsBytes) {
  if (!test::kHasOpencvBytes) GTEST_SKIP() << test::kNoOpencvBytes;
  try_pictures(PixelFormat::gray16_le, test::picture_count(30), 200, 7);
}

TEST(OpencvClahe, SizesAndTilesAtTheirBoundsEqualItsBytes) {
  if (!test::kHasOpencvBytes) GTEST_SKIP() << test::kNoOpencvBytes;
  std::mt19937 random(8);
  test::EveryNth third(3);
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::gray16_le}) {
    for (const auto& [width, height] :
         {std::pair{1, 1}, {1, 40}, {40, 1}, {2, 3}, {16, 16}, {17, 16}, {16, 17}}) {
      for (const auto& [x, y] : {std::pair{1, 1}, {8, 8}, {1, 16}, {16, 1}, {17, 5}}) {
        if (format == PixelFormat::gray16_le && x * y > 8 && width * height > 2) continue;
        for (const double limit : {0.0, 1.0, 2.0, 40.0, 1e9}) {
          if (format == PixelFormat::gray16_le && third.skips()) continue;
          const PaddedImage in({format, width, height});
          test::fill_random(in.view(), random);
          ASSERT_NO_FATAL_FAILURE(expect_opencv(opencv_params(limit, x, y), in));
        }
      }
    }
  }
  const PaddedImage wide({PixelFormat::gray8, 301, 260});
  test::fill(wide.view(), Content::natural);
  ASSERT_NO_FATAL_FAILURE(expect_opencv(opencv_params(2, 256, 256), wide));
}
#else
TEST(OpencvClahe, EqualsItsBytes) {
  GTEST_SKIP() << test::kNoOpencvBytes;
}
#endif

/// FNV-1a of what OpenCV 4.6.0 of Debian 12 gives: held also where there is no OpenCV.
std::uint64_t hash_of(const ConstImageView& view) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::uint8_t byte : test::tight_copy(view))
    hash = (hash ^ byte) * 1099511628211U;
  return hash;
}

TEST(OpencvClahe, KeepsTheBytesThatOpencv46Gave) {
  struct Case {
    PixelFormat format;
    int width, height, x, y;
    double clip_limit;
    std::uint64_t hash;
  };
  for (const Case& each :
       {Case{PixelFormat::gray8, 320, 240, 8, 8, 2, 4928032492080222873U},
        Case{PixelFormat::gray8, 321, 243, 7, 5, 40, 2175678211382183287U},
        Case{PixelFormat::gray8, 63, 5, 8, 8, 0, 10932892207485379239U},
        Case{PixelFormat::gray16_le, 320, 240, 8, 8, 2, 14984376714817479387U},
        Case{PixelFormat::gray16_le, 97, 61, 4, 3, 1000, 7073019587191730781U}}) {
    Image in({each.format, each.width, each.height});
    test::fill(in.view(), Content::natural, 5);
    const ClaheParams params = opencv_params(each.clip_limit, each.x, each.y);
#if defined(EQUALUX_TEST_OPENCV)
    if (test::kHasOpencvBytes) {
      EXPECT_EQ(hash_of(opencv_result(in.view(), params).view()), each.hash)
          << "OpenCV " CV_VERSION;
    }
#endif
    const auto filter = make_cpu_filter(params, {1});
    filter->configure(in.view().desc);
    FrameContext context;
    filter->submit(in.view(), in.view(), context);
    EXPECT_EQ(hash_of(in.view()), each.hash) << each.width << "x" << each.height;
  }
}

/// A live change of the limit is the next frame's; another number of tiles is another filter.
TEST(OpencvClahe, TakesAnotherLimitBetweenFrames) {
  Image in({PixelFormat::gray8, 90, 70});
  test::fill(in.view(), Content::natural);
  Image got(in.view().desc);
  Image expected(in.view().desc);
  FrameContext context;
  const auto filter = make_cpu_filter(opencv_params(2, 4, 4), {1});
  filter->configure(in.view().desc);
  filter->submit(in.view(), got.view(), context);
  ASSERT_TRUE(filter->update({{"clip-limit", "9"}}));
  filter->submit(in.view(), got.view(), context);
  EXPECT_FALSE(filter->update({{"tiles", "5,4"}}));
  EXPECT_FALSE(filter->update({{"compatible", "none"}}));
  const auto fresh = make_cpu_filter(opencv_params(9, 4, 4), {1});
  fresh->configure(in.view().desc);
  fresh->submit(in.view(), expected.view(), context);
  EXPECT_EQ(test::count_differences(expected.view(), got.view()), 0U);
  EXPECT_EQ(filter->save(), "{}");
}

TEST(OpencvClahe, SaysWhatItDoesNotTake) {
  const auto only = [](const ClaheParams& params, const ImageDesc* desc = nullptr) {
    const std::vector<std::string> clauses = violations(params, Backend::cpu, desc);
    return clauses.size() == 1 ? clauses.front() : "not one clause";
  };
  ClaheParams params = opencv_params(0.25, 200, 1);
  EXPECT_THAT(violations(params, Backend::cpu), IsEmpty());
  for (const auto& [key, value] : {std::pair{"strength", "0.5"},
                                   {"floor", "1"},
                                   {"ceiling", "99"},
                                   {"max-gain", "8"},
                                   {"min-gain", "0.5"},
                                   {"temporal-ms", "500"},
                                   {"scaler", "min-max"}}) {
    ClaheParams other = params;
    set_option(other, key, value);
    EXPECT_THAT(only(other), HasSubstr("beside " + std::string(key))) << key;
  }
  params.curve.clip_limit = -1;
  EXPECT_EQ(only(params), "clip-limit is -1, must be 0 for none or above for compatible opencv");
  params.curve.clip_limit = std::numeric_limits<double>::infinity();
  EXPECT_THAT(only(params), HasSubstr("clip-limit is inf"));
  params = opencv_params(2, 257, 1);
  EXPECT_EQ(only(params), "tiles is 257,1, must be 1 to 256 each");
  const ImageDesc deep{PixelFormat::gray16_le, 640, 480};
  params = opencv_params(2, 65, 64);
  EXPECT_THAT(only(params, &deep), HasSubstr("tiles is 65,64, must be at most 4096 in all"));
  const ImageDesc bgr{PixelFormat::bgr, 64, 64};
  params = opencv_params(2, 8, 8);
  EXPECT_EQ(only(params, &bgr),
            "the frame's format is bgr, must be gray8 or gray16_le for compatible opencv");
  EXPECT_TRUE(takes(params, PixelFormat::gray8));
  EXPECT_TRUE(takes(params, PixelFormat::gray16_le));
  EXPECT_FALSE(takes(params, PixelFormat::nv12));
}

}  // namespace
}  // namespace equalux
