#include <cmath>
#include <cstring>
#include <random>

#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpu/hessian_rows.h"
#include "hessian_math.h"
#include "hessian_weights.h"
#include "support/hessian_reference.h"
#include "support/test_images.h"

/// `eigenvalues`, and the arithmetic of its family.
namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

/// Planes of eigenvalues, row after row.
struct Planes {
  std::vector<float> first;
  std::vector<float> second;
};

Planes planes_of(const ConstImageView& view) {
  Planes planes;
  for (int y = 0; y < view.desc.height; ++y) {
    for (const int p : {0, 1}) {
      std::vector<float>& plane = p == 0 ? planes.first : planes.second;
      const auto width = static_cast<std::size_t>(view.desc.width);
      plane.resize(plane.size() + width);
      std::memcpy(plane.data() + plane.size() - width, view.row(p, y), 4 * width);
    }
  }
  return planes;
}

Planes eigenvalues(const ConstImageView& in, const HessianParams& params, int threads = 1) {
  const auto filter = make_cpu_filter(params, {threads});
  Image out(filter->configure(in.desc));
  FrameContext context;
  filter->submit(in, out.view(), context);
  return planes_of(out.view());
}

/// Both pairs, by value and by magnitude, within the bounds that docs/hessian.md promises.
void expect_near_reference(const ConstImageView& in, const HessianParams& params) {
  SCOPED_TRACE(std::string(to_string(in.desc.format)) + " " + std::to_string(in.desc.width) + "x" +
               std::to_string(in.desc.height) + " " + std::string(enum_name(params.derivative)) +
               " sigma " + std::to_string(params.sigma) + " " +
               std::string(enum_name(params.channel)));
  const Planes planes = eigenvalues(in, params);
  const auto hessians =
      test::reference_hessians(test::reference_levels(in, params.channel), in.desc.width,
                               params.derivative, params.sigma, params.truncate);
  ASSERT_EQ(planes.first.size(), hessians.size());
  double largest = 0;
  for (const auto& h : hessians) {
    const auto pair = test::reference_eigenvalues(h);
    largest = std::max({largest, std::abs(pair.least), std::abs(pair.most)});
  }
  double worst = 0;
  std::size_t misplaced = 0;
  for (std::size_t i = 0; i < hessians.size(); ++i) {
    const double a = planes.first[i];
    const double b = planes.second[i];
    const auto pair = test::reference_eigenvalues(hessians[i]);
    worst = std::max(
        {worst, std::abs(std::min(a, b) - pair.least), std::abs(std::max(a, b) - pair.most)});
    if (std::abs(std::abs(pair.least) - std::abs(pair.most)) > 1e-4 * largest) {
      const bool swapped = std::abs(pair.least) > std::abs(pair.most);
      const double expected = swapped ? pair.least : pair.most;
      if (std::abs(b - expected) > 1e-5 * largest) ++misplaced;
    }
    if (std::abs(a) > std::abs(b) || (std::abs(a) == std::abs(b) && a > b)) ++misplaced;
  }
  EXPECT_LE(worst, 1e-5 * largest);
  EXPECT_EQ(misplaced, 0u);
}

const std::vector<HessianDerivative>& all_derivatives() {
  static const std::vector<HessianDerivative> all{
      HessianDerivative::gaussian, HessianDerivative::gradient, HessianDerivative::sobel_laplacian};
  return all;
}

TEST(Hessian, EveryDerivativeAndScaleAgreesWithTheDefinition) {
  for (const HessianDerivative derivative : all_derivatives()) {
    for (const double sigma : {0.5, 1.0, 2.0, 3.7, 8.0}) {
      for (const Content content : {Content::noise, Content::natural}) {
        Image in({PixelFormat::gray8, 97, 61});
        test::fill(in.view(), content, 5);
        HessianParams params;
        params.sigma = sigma;
        params.derivative = derivative;
        expect_near_reference(in.view(), params);
      }
    }
  }
}

TEST(Hessian, EverySizeAgreesWithTheDefinition) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 9},     {9, 1},   {2, 2},
                                               {3, 5},   {16, 16},   {17, 33}, {64, 65},
                                               {513, 3}, {1030, 70}, {5, 130}};
  for (const auto& [width, height] : sizes) {
    Image in({PixelFormat::gray8, width, height});
    test::fill(in.view(), Content::noise, 11);
    if (width * height == 1) continue;  // Its eigenvalues are 0 but for rounding; see below.
    expect_near_reference(in.view(), {});
  }
}

TEST(Hessian, EveryFormatAndChannelAgreesWithTheDefinition) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    for (int c = 0; c < 5; ++c) {
      HessianParams params;
      params.channel = static_cast<HessianChannel>(c);
      const auto filter = make_cpu_filter(params);
      if (!filter->accepts(format)) {
        EXPECT_THROW(filter->configure({format, 8, 8}), Error) << to_string(format);
        continue;
      }
      PaddedImage in({format, 131, 37}, 7, c % 2 == 1, 3);
      if (format == PixelFormat::grayf32) {
        std::mt19937 random(3);
        std::uniform_real_distribution<float> level(0.0f, 1.0f);
        for (int y = 0; y < 37; ++y) {
          for (int x = 0; x < 131; ++x) {
            const float v = level(random);
            std::memcpy(in.view().row(0, y) + 4 * x, &v, 4);
          }
        }
      } else {
        test::fill(in.view(), Content::noise, 20);
      }
      expect_near_reference(in.view(), params);
    }
  }
}

}  // namespace
}  // namespace equalux
