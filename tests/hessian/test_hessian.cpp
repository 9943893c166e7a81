#include <cmath>
#include <cstring>
#include <random>

#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/hessian/hessian_tiles.h"
#include "src/hessian/hessian_math.h"
#include "src/hessian/hessian_weights.h"
#include "tests/hessian/hessian_reference.h"
#include "tests/support/media/test_images.h"

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
      if (derivative == HessianDerivative::sobel_laplacian && sigma != HessianParams{}.sigma)
        continue;
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

/// The filter's own loop with loops of a target.
Planes eigenvalues_of_target(const HessianRows& loops, const ConstImageView& in,
                             const HessianParams& params, int threads) {
  const HessianWeights weights = hessian_weights(params.derivative, params.sigma, params.truncate);
  RowExecutor executor(threads);
  TileWalker walker(executor, loops, params.channel, weights.radius, 2);
  Image out({PixelFormat::grayf32x2, in.desc.width, in.desc.height});
  walker.run(in, [&](TileScratch& scratch) {
    const LevelTile& tile = scratch.tile();
    for (int j = 0; j < tile.height; ++j) {
      scratch.eigenvalues(loops, weights, j, {scratch.result(0), scratch.result(1), false});
      for (const int p : {0, 1}) {
        loops.store(scratch.result(static_cast<std::size_t>(p)),
                    static_cast<std::size_t>(tile.width), tile.x % 2 == 0,
                    out.view().row(p, tile.y + j) + 4 * tile.x);
      }
    }
  });
  return planes_of(out.view());
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

class HessianTargets : public testing::TestWithParam<std::size_t> {
 protected:
  static const HessianRows& loops() {
    static const std::vector<HessianRows> all = all_hessian_rows();
    return all[GetParam()];
  }
};

TEST_P(HessianTargets, EveryDerivativeSizeAndThreadCountGivesTheBitsOfPlainCode) {
  const std::vector<std::pair<int, int>> sizes{
      {1, 1}, {1, 40}, {40, 1}, {15, 3}, {67, 70}, {600, 20}, {kTileWidth + 1, kTileHeight + 1}};
  for (const HessianDerivative derivative : all_derivatives()) {
    for (const double sigma : {0.5, 2.0, 6.3}) {
      for (const auto& [width, height] : sizes) {
        Image in({PixelFormat::gray8, width, height});
        test::fill(in.view(), Content::noise, 17);
        HessianParams params;
        params.derivative = derivative;
        params.sigma = sigma;
        const Planes expected = eigenvalues_of_target(scalar_hessian_rows(), in.view(), params, 1);
        for (const int threads : {1, 2, 3}) {
          const Planes planes = eigenvalues_of_target(loops(), in.view(), params, threads);
          EXPECT_TRUE(same_bits(planes.first, expected.first) &&
                      same_bits(planes.second, expected.second))
              << enum_name(derivative) << " sigma " << sigma << " " << width << "x" << height
              << " on " << threads << " threads";
        }
      }
    }
  }
}

TEST_P(HessianTargets, EveryFormatAndChannelGivesTheLevelsOfPlainCode) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (traits(format).model == ColorModel::yuv || !has_byte_samples(format)) continue;
    for (int c = 0; c < 5; ++c) {
      for (const int width : {1, 7, 16, 33, 200}) {
        PaddedImage in({format, width, 1}, 0, false, c);
        test::fill(in.view(), Content::noise, 9);
        const auto n = static_cast<std::size_t>(width);
        std::vector<float> expected(n + kRowSlack);
        std::vector<float> levels(n + kRowSlack);
        const auto channel = static_cast<HessianChannel>(c);
        const std::uint8_t* row = in.view().row(0, 0);
        if (format == PixelFormat::gray8) {
          scalar_hessian_rows().gray_levels(row, n, expected.data());
          loops().gray_levels(row, n, levels.data());
        } else {
          scalar_hessian_rows().rgb_levels(channel, rgb_layout(format), row, n, expected.data());
          loops().rgb_levels(channel, rgb_layout(format), row, n, levels.data());
        }
        expected.resize(n);
        levels.resize(n);
        EXPECT_EQ(levels, expected) << to_string(format) << " " << enum_name(channel);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HessianTargets,
                         testing::Range(std::size_t{0}, all_hessian_rows().size()),
                         [](const auto& info) {
                           return std::string(all_hessian_rows()[info.param].target);
                         });

TEST(Hessian, TheTargetOfTheBackendRuns) {
  EXPECT_EQ(all_hessian_rows().back().target, "scalar");
  if (cpu_simd_target().substr(0, 3) == "AVX") {
    EXPECT_EQ(hessian_rows().target, cpu_simd_target());
  }
}

TEST(Hessian, WritesFramesOfAnyStrideAndNothingElse) {
  for (const bool negative : {false, true}) {
    for (const int offset : {0, 1, 4}) {
      PaddedImage in({PixelFormat::bgr, 333, 21}, 5, negative, offset);
      test::fill(in.view(), Content::natural, 2);
      const auto filter = make_cpu_filter(HessianParams{}, {2});
      PaddedImage out(filter->configure(in.view().desc), 13, negative, offset);
      FrameContext context;
      filter->submit(in.view(), out.view(), context);
      EXPECT_TRUE(in.padding_intact());
      EXPECT_TRUE(out.padding_intact());
      const Planes expected = eigenvalues(in.view(), {});
      EXPECT_TRUE(same_bits(planes_of(out.view()).first, expected.first));
      EXPECT_TRUE(same_bits(planes_of(out.view()).second, expected.second));
    }
  }
}

/// A frame of floats, f(x, y).
template <typename F>
Image float_frame(int width, int height, const F& f) {
  Image image({PixelFormat::grayf32, width, height});
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto level = static_cast<float>(f(x, y));
      std::memcpy(image.view().row(0, y) + 4 * x, &level, 4);
    }
  }
  return image;
}

/// A quadratic has its Hessian everywhere; a kernel cut at 4 sigmas sees all but a few 10^-3 of it.
TEST(Hessian, QuadraticSurfacesHaveTheirEigenvalues) {
  for (const HessianDerivative derivative : all_derivatives()) {
    HessianParams params;
    params.derivative = derivative;
    const double scale = derivative == HessianDerivative::sobel_laplacian ? 1 : 4;
    const struct {
      double xx, xy, yy, first, second;
    } cases[]{{0.5, 0, 0, 0, 0.5},       {0, 0, -0.5, 0, -0.5},  {0.2, 0, 0.6, 0.2, 0.6},
              {-0.3, 0, 0.1, 0.1, -0.3}, {0, 0.4, 0, -0.4, 0.4}, {0.3, 0.4, -0.3, -0.5, 0.5}};
    for (const auto& c : cases) {
      const Image in = float_frame(41, 41, [&](int x, int y) {
        const double u = x - 20;
        const double v = y - 20;
        return 0.5 * c.xx * u * u + c.xy * u * v + 0.5 * c.yy * v * v;
      });
      const Planes planes = eigenvalues(in.view(), params);
      const std::size_t middle = 20 * 41 + 20;
      EXPECT_NEAR(planes.first[middle] / scale, c.first, 6e-3) << enum_name(derivative);
      EXPECT_NEAR(planes.second[middle] / scale, c.second, 6e-3) << enum_name(derivative);
    }
  }
}

TEST(Hessian, RampsAndFlatFramesHaveNone) {
  for (const HessianDerivative derivative : all_derivatives()) {
    HessianParams params;
    params.derivative = derivative;
    const Image ramp = float_frame(60, 40, [](int x, int y) { return 0.01 * x - 0.02 * y; });
    const Planes planes = eigenvalues(ramp.view(), params);
    const std::size_t middle = 20 * 60 + 30;
    EXPECT_NEAR(planes.first[middle], 0, 1e-3);
    EXPECT_NEAR(planes.second[middle], 0, 1e-3);
    // A cut kernel's weights of order 2 do not quite sum to 0: that of a level is told in the docs.
    const Image flat = float_frame(9, 7, [](int, int) { return 1.0; });
    for (const float e : eigenvalues(flat.view(), params).second)
      EXPECT_NEAR(e, 0, 1.2e-3);
  }
}

TEST(Hessian, TiesPutTheSmallerFirst) {
  const Eigenvalues saddle = hessian_eigenvalues(3.0f, 0.0f, -3.0f);
  EXPECT_EQ(saddle.first, -3.0f);
  EXPECT_EQ(saddle.second, 3.0f);
  const Eigenvalues twisted = hessian_eigenvalues(0.0f, 2.5f, 0.0f);
  EXPECT_EQ(twisted.first, -2.5f);
  EXPECT_EQ(twisted.second, 2.5f);
}

/// The characteristic polynomial at an eigenvalue is 0. The report prints +2 I_H I_V under the root
/// of its equations 6 to 8, where -2 is right.
TEST(Hessian, TheReportsPrintedEquationsAreNoEigenvalues) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> level(-100, 100);
  for (int i = 0; i < 1000; ++i) {
    const double h = level(random);
    const double v = level(random);
    const double d = level(random);
    const auto polynomial = [&](double lambda) { return (h - lambda) * (v - lambda) - d * d; };
    const double scale = h * h + v * v + d * d;
    const double printed = std::sqrt(std::max(0.0, 2 * h * v + h * h + v * v + 4 * d * d));
    if (std::abs(h * v) > 0.01 * scale) {
      EXPECT_GT(std::abs(polynomial((h + v + printed) / 2)), 1e-6 * scale);
      EXPECT_GT(std::abs(polynomial((h + v - printed) / 2)), 1e-6 * scale);
    }
    const Eigenvalues ours =
        hessian_eigenvalues(static_cast<float>(h), static_cast<float>(d), static_cast<float>(v));
    EXPECT_LT(std::abs(polynomial(ours.first)), 1e-5 * scale);
    EXPECT_LT(std::abs(polynomial(ours.second)), 1e-5 * scale);
    EXPECT_LE(std::abs(ours.first), std::abs(ours.second));
  }
}

}  // namespace
}  // namespace equalux
