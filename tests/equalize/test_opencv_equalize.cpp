// equalize:compatible=opencv gives the bytes of cv::equalizeHist.
#include <array>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/fused/fused_chain.h"
#include "tests/support/media/test_images.h"
#include "tests/support/opencv_bytes.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;
using testing::HasSubstr;
using testing::IsEmpty;

EqualizeParams opencv_params() {
  EqualizeParams params;
  params.compatible = Compatible::opencv;
  return params;
}

#if defined(EQUALUX_TEST_OPENCV)
/// Every target of this machine on one picture, beside OpenCV, and in place.
void expect_opencv(const PaddedImage& in) {
  const ImageDesc& desc = in.view().desc;
  SCOPED_TRACE(std::to_string(desc.width) + "x" + std::to_string(desc.height));
  Image expected(desc);
  cv::Mat result;
  cv::equalizeHist(test::as_mat(in.view()), result);
  result.copyTo(test::as_mat(expected.view()));
  RowExecutor two(2);
  for (const FusedRows& loops : all_fused_rows()) {
    PaddedImage out(desc, 13, true, 3);
    FusedChain chain(opencv_params(), two, loops);
    chain.configure(desc);
    chain.process(in.view(), out.view(), {});
    ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U) << loops.target;
    ASSERT_TRUE(out.padding_intact());
    chain.process(in.view(), in.view(), {});
    ASSERT_EQ(test::count_differences(expected.view(), in.view()), 0U)
        << loops.target << " in place";
    cv::equalizeHist(test::as_mat(in.view()), result);
    result.copyTo(test::as_mat(expected.view()));
  }
}

TEST(OpencvEqualize, RandomPicturesEqualItsBytes) {
  if (!test::kHasOpencvBytes) GTEST_SKIP() << test::kNoOpencvBytes;
  std::mt19937 random(3);
  for (int i = 0; i < test::picture_count(150); ++i) {
    SCOPED_TRACE(i);
    const auto side = [&] { return 1 + static_cast<int>(random() % (i % 3 == 0 ? 9 : 400)); };
    const PaddedImage in({PixelFormat::gray8, side(), side()}, static_cast<int>(random() % 9),
                         random() % 2 == 0, static_cast<int>(random() % 7));
    test::fill_random(in.view(), random);
    ASSERT_NO_FATAL_FAILURE(expect_opencv(in));
  }
}

/// More pixels than single precision counts one by one.
TEST(OpencvEqualize, LargePicturesEqualItsBytes) {
  if (!test::kHasOpencvBytes) GTEST_SKIP() << test::kNoOpencvBytes;
  const PaddedImage in({PixelFormat::gray8, 6001, 4001});
  test::fill(in.view(), Content::natural);
  ASSERT_NO_FATAL_FAILURE(expect_opencv(in));
}
#else
TEST(OpencvEqualize, EqualsItsBytes) {
  GTEST_SKIP() << test::kNoOpencvBytes;
}
#endif

TEST(OpencvEqualize, OneLevelStaysAndOthersSpread) {
  Image image({PixelFormat::gray8, 4, 1});
  const auto filter = make_cpu_filter(opencv_params(), {1});
  filter->configure(image.view().desc);
  const auto filtered = [&](std::array<std::uint8_t, 4> pixels) {
    std::copy(pixels.begin(), pixels.end(), image.view().row(0, 0));
    FrameContext context;
    filter->submit(image.view(), image.view(), context);
    std::copy_n(image.view().row(0, 0), 4, pixels.begin());
    return pixels;
  };
  EXPECT_EQ(filtered({77, 77, 77, 77}), (std::array<std::uint8_t, 4>{77, 77, 77, 77}));
  EXPECT_EQ(filtered({9, 7, 8, 8}), (std::array<std::uint8_t, 4>{255, 0, 170, 170}));
}

TEST(OpencvEqualize, SaysWhatItDoesNotTake) {
  const auto only = [](const EqualizeParams& params, const ImageDesc* desc = nullptr) {
    const std::vector<std::string> clauses = violations(params, Backend::cpu, desc);
    return clauses.size() == 1 ? clauses.front() : "not one clause";
  };
  EXPECT_THAT(violations(opencv_params(), Backend::cpu), IsEmpty());
  for (const auto& [key, value] : {std::pair{"strength", "0.5"},
                                   {"clip-limit", "2"},
                                   {"bins", "64"},
                                   {"scaler", "min-max"},
                                   {"surround", "ignore"},
                                   {"region", "0,0,8,8"},
                                   {"temporal-ms", "500"},
                                   {"space", "luma"},
                                   {"chain", "staged"}}) {
    EqualizeParams params = opencv_params();
    set_option(params, key, value);
    EXPECT_THAT(only(params), HasSubstr("beside " + std::string(key) + ", must stand alone"));
  }
  const ImageDesc nv12{PixelFormat::nv12, 64, 64};
  EXPECT_EQ(only(opencv_params(), &nv12),
            "the frame's format is nv12, must be gray8 for compatible opencv");
  EXPECT_TRUE(takes(opencv_params(), PixelFormat::gray8));
  EXPECT_FALSE(takes(opencv_params(), PixelFormat::gray16_le));
  const auto filter = make_cpu_filter(opencv_params(), {1});
  filter->configure({PixelFormat::gray8, 8, 8});
  EXPECT_FALSE(filter->update({{"compatible", "none"}}));
  EXPECT_THROW((void)filter->update({{"strength", "0.5"}}), Error);
  EXPECT_FALSE(filter->curves()->collect());
}

}  // namespace
}  // namespace equalux
