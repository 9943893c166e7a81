#include <cmath>
#include <cstring>
#include <random>

#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/hessian/components.h"
#include "src/cpu/hessian/hessian_rows.h"
#include "src/cpu/hessian/vessel_rows.h"
#include "src/hessian/hessian_weights.h"
#include "src/hessian/vessel_math.h"
#include "tests/hessian/hessian_reference.h"
#include "tests/hessian/vessel_trees.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

/// `vessel`: its measures, hysteresis, field of view and outputs.
namespace equalux {
namespace {

using test::Content;

Image run(Filter& filter, const ConstImageView& in) {
  Image out(filter.configure(in.desc));
  FrameContext context;
  filter.submit(in, out.view(), context);
  return out;
}

Image run(const VesselParams& params, const ConstImageView& in, int threads = 1) {
  const auto filter = make_cpu_filter(params, {threads});
  return run(*filter, in);
}

/// A frame's levels, and passes over it pixel by pixel with the shared formulas.
class SlowFrame {
 public:
  SlowFrame(const ConstImageView& in, HessianChannel channel)
      : width_(in.desc.width), height_(in.desc.height) {
    for (const double level : test::reference_levels(in, channel))
      levels_.push_back(static_cast<float>(level));
  }

  float at(const HessianWeights& w, int x, int y, int order_x, int order_y) const {
    const auto column = [&](int k) {
      return sum(w, order_y, [&, k](int j) { return level(x + k, y + j); });
    };
    return sum(w, order_x, column);
  }
  Eigenvalues eigenvalues(const HessianWeights& w, int x, int y) const {
    return hessian_eigenvalues(at(w, x, y, 2, 0), at(w, x, y, 1, 1), at(w, x, y, 0, 2));
  }

 private:
  template <typename Samples>
  static float sum(const HessianWeights& w, int order, const Samples& x) {
    if (order == 1) return odd_sum(w.slope.data(), w.radius, x);
    return even_sum(order == 0 ? w.smooth.data() : w.curve.data(), w.radius, x);
  }
  float level(int x, int y) const {
    const int column = std::clamp(x, 0, width_ - 1);
    return levels_[static_cast<std::size_t>(std::clamp(y, 0, height_ - 1) * width_ + column)];
  }

  int width_;
  int height_;
  std::vector<float> levels_;
};

/// The measure of every pixel as docs/hessian.md has it.
std::vector<float> slow_measure(const ConstImageView& in, const VesselParams& params) {
  const SlowFrame frame(in, params.channel);
  const float sign = params.polarity == Polarity::dark ? 1.0f : -1.0f;
  const double largest = *std::max_element(params.sigmas.begin(), params.sigmas.end());
  std::vector<HessianWeights> scales;
  for (const double sigma : params.sigmas)
    scales.push_back(hessian_weights(params.derivative, sigma, params.truncate));
  const HessianWeights wide = hessian_weights(params.derivative, largest, params.truncate);
  const HessianWeights own =
      hessian_weights(HessianDerivative::gaussian, own_level_sigma(largest), params.truncate);
  std::vector<float> measures;
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const float light = frame.at(wide, x, y, 0, 0);
      const float gain = contrast_gain(light);
      float best = 0;
      for (const HessianWeights& scale : scales) {
        const Eigenvalues e = frame.eigenvalues(scale, x, y);
        best = std::max(best, params.measure == VesselMeasure::frangi
                                  ? frangi_measure(sign, e, gain)
                                  : ridge_strength(sign, e.second));
      }
      if (params.measure == VesselMeasure::ridge) best = best * gain;
      measures.push_back(within_line(sign, light, frame.at(own, x, y, 0, 0), best));
    }
  }
  return measures;
}

/// Components by flooding: the label of each pixel where `set`, or -1.
std::vector<int> flood(const std::vector<std::uint8_t>& set, int width, bool eight) {
  const int height = static_cast<int>(set.size()) / width;
  std::vector<int> labels(set.size(), -1);
  int next = 0;
  for (int start = 0; start < static_cast<int>(set.size()); ++start) {
    if (set[static_cast<std::size_t>(start)] == 0 || labels[static_cast<std::size_t>(start)] >= 0)
      continue;
    std::vector<int> open{start};
    labels[static_cast<std::size_t>(start)] = next;
    while (!open.empty()) {
      const int x = open.back() % width;
      const int y = open.back() / width;
      open.pop_back();
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int to = (y + dy) * width + x + dx;
          if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
          if (!eight && dx != 0 && dy != 0) continue;
          if (set[static_cast<std::size_t>(to)] == 0 || labels[static_cast<std::size_t>(to)] >= 0)
            continue;
          labels[static_cast<std::size_t>(to)] = next;
          open.push_back(to);
        }
      }
    }
    ++next;
  }
  return labels;
}

std::vector<std::uint8_t> slow_mask(const ConstImageView& in, const VesselParams& params) {
  const VesselThresholds t = vessel_thresholds(params);
  const std::vector<float> measures = slow_measure(in, params);
  std::vector<std::uint8_t> candidates;
  for (const float m : measures)
    candidates.push_back(m >= static_cast<float>(t.low) ? 1 : 0);
  const std::vector<int> labels = flood(candidates, in.desc.width, true);
  std::vector<std::int64_t> area(labels.size() + 1);
  std::vector<bool> strong(labels.size() + 1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    ++area[static_cast<std::size_t>(labels[i])];
    if (measures[i] >= static_cast<float>(t.high))
      strong[static_cast<std::size_t>(labels[i])] = true;
  }
  std::vector<std::uint8_t> ground(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(std::max(0, labels[i]));
    ground[i] = labels[i] >= 0 && strong[label] && area[label] >= params.min_size ? 0 : 1;
  }
  const std::vector<int> holes = flood(ground, in.desc.width, false);
  std::vector<std::int64_t> hole_area(labels.size() + 1);
  for (const int hole : holes)
    if (hole >= 0) ++hole_area[static_cast<std::size_t>(hole)];
  const double largest = *std::max_element(params.sigmas.begin(), params.sigmas.end());
  std::vector<std::uint8_t> mask;
  for (const int hole : holes) {
    const bool vessel =
        hole < 0 || static_cast<double>(hole_area[static_cast<std::size_t>(hole)]) <=
                        std::floor(4 * largest * largest + 0.5);
    mask.push_back(vessel ? 255 : 0);
  }
  return mask;
}

TEST(Vessel, MasksEqualTheDefinition) {
  const test::VesselTree dark = test::vessel_tree(150, 60, 3, false);
  const test::VesselTree bright = test::vessel_tree(150, 60, 4, true);
  test::EveryNth third(3);
  for (const VesselMeasure measure : {VesselMeasure::ridge, VesselMeasure::frangi}) {
    for (const HessianDerivative derivative :
         {HessianDerivative::gaussian, HessianDerivative::gradient}) {
      for (const Polarity polarity : {Polarity::dark, Polarity::bright}) {
        if (third.skips()) continue;
        VesselParams params;
        params.measure = measure;
        params.derivative = derivative;
        params.polarity = polarity;
        params.sigmas = {1, 2};
        params.min_size = 30;
        const auto in =
            std::as_const(polarity == Polarity::dark ? dark.image : bright.image).view();
        const std::vector<std::uint8_t> expected = slow_mask(in, params);
        EXPECT_GT(std::count(expected.begin(), expected.end(), 255), 150);
        for (const int threads : {1, 2}) {
          EXPECT_EQ(test::tight_copy(run(params, in, threads).view()), expected)
              << enum_name(measure) << " " << enum_name(derivative) << " " << enum_name(polarity)
              << " on " << threads << " threads";
        }
      }
    }
  }
}

TEST(Vessel, EverySizeEqualsTheDefinition) {
  for (const auto& [width, height] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 30}, {30, 1}, {2, 2}, {17, 5}, {257, 66}}) {
    for (const int min_size : {0, 5}) {
      Image in({PixelFormat::gray8, width, height});
      test::fill(in.view(), Content::noise, 6);
      VesselParams params;
      params.sigmas = {1, 1.5};
      params.min_size = min_size;
      EXPECT_EQ(test::tight_copy(run(params, std::as_const(in).view()).view()),
                slow_mask(std::as_const(in).view(), params))
          << width << "x" << height;
    }
  }
}

/// Rows of numbers that reach every branch: 0, both signs, equal and extreme ones.
std::vector<float> numbers(std::uint32_t seed, double most) {
  std::mt19937 random(seed);
  std::vector<float> row(300 + kRowSlack);
  for (float& x : row) {
    const auto bits = random();
    x = bits % 8 == 0
            ? 0.0f
            : static_cast<float>(most * (static_cast<double>(random()) / 2147483648.0 - 1));
    if (bits % 8 == 1) x = static_cast<float>(most);
  }
  return row;
}

TEST(VesselTargets, EveryLoopGivesTheBitsOfPlainCode) {
  const VesselRows& plain = scalar_vessel_rows();
  const std::vector<float> second = numbers(1, 90);
  std::vector<float> first = numbers(2, 90);
  for (std::size_t i = 0; i < first.size(); ++i)
    first[i] = std::abs(first[i]) <= std::abs(second[i]) ? first[i] : second[i];
  const std::vector<float> light = numbers(3, 255);
  const std::vector<float> own = numbers(4, 255);
  const std::vector<float> zero(first.size());
  for (const VesselRows& loops : all_vessel_rows()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{19}, std::size_t{300}}) {
      for (const float sign : {1.0f, -1.0f}) {
        const auto floats = [&](const VesselRows& k) {
          std::vector<float> gain = zero;
          k.contrast_gains(light.data(), n, gain.data());
          std::vector<float> ridge = zero;
          k.add_ridge(sign, second.data(), n, ridge.data());
          k.scale(gain.data(), n, ridge.data());
          k.keep_within(sign, light.data(), own.data(), n, ridge.data());
          std::vector<float> frangi = zero;
          k.add_frangi(sign, first.data(), second.data(), gain.data(), n, frangi.data());
          std::vector<std::uint8_t> bytes(3 * n);
          k.classify(ridge.data(), 0.08f, 0.2f, n, bytes.data());
          k.heat(ridge.data(), 400.0f, n, bytes.data() + n);
          k.shapes(first.data(), second.data(), 30, 0.3f, 0.6f, n, bytes.data() + 2 * n);
          for (std::vector<float>* row : {&gain, &ridge, &frangi})
            row->resize(n);
          return std::tuple(gain, ridge, frangi, bytes);
        };
        EXPECT_EQ(floats(loops), floats(plain)) << loops.target << " n " << n;
      }
    }
  }
}

TEST(Vessel, TheExponentialIsRight) {
  for (double t = 0; t < 86; t += 0.0137) {
    const auto x = static_cast<float>(t);
    const double expected = std::exp(-static_cast<double>(x));
    EXPECT_NEAR(exp_of_minus(x) / expected, 1, 2e-7 + 1.2e-7 * t) << t;
  }
  EXPECT_EQ(exp_of_minus(0.0f), 1.0f);
  EXPECT_EQ(exp_of_minus(1e9f), 0.0f);
}

/// A bar as wide as its scale has the contrast that it is said to have.
TEST(Vessel, ContrastIsThatOfABar) {
  Image in({PixelFormat::gray8, 400, 60});
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 400; ++x)
      in.view().row(0, y)[x] = static_cast<std::uint8_t>(x >= 196 && x < 204 ? 150 : 200);
  }
  VesselParams params;
  params.sigmas = {4};
  const std::vector<float> measures = slow_measure(std::as_const(in).view(), params);
  // A quarter of the ground's 200 levels; the local mean is that of bar and ground, plus 16 levels.
  EXPECT_NEAR(measures[30 * 400 + 199], 50.0 / (200 - 50 * 0.68 + 16), 0.01);
}

TEST(Components, EqualFloodFill) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    const int width = 1 + static_cast<int>(random() % 60);
    const int height = 1 + static_cast<int>(random() % 40);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(width * height));
    for (std::uint8_t& byte : bytes)
      byte = static_cast<std::uint8_t>(random() % 5 < 2 ? 1 + (random() % 20 == 0 ? 1 : 0) : 0);
    for (const Connectivity connectivity : {Connectivity::four, Connectivity::eight}) {
      const auto labels = flood(bytes, width, connectivity == Connectivity::eight);
      std::vector<std::int64_t> area(bytes.size());
      std::vector<bool> marked(bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (labels[i] < 0) continue;
        ++area[static_cast<std::size_t>(labels[i])];
        if (bytes[i] == 2) marked[static_cast<std::size_t>(labels[i])] = true;
      }
      Components components(width, height, connectivity);
      for (int again = 0; again < 2; ++again) {
        components.clear();
        for (int y = 0; y < height; ++y)
          components.add_row(bytes.data() + y * width);
        std::int64_t pixels = 0;
        for (int y = 0; y < height; ++y) {
          for (std::size_t i = components.first_run(y); i < components.last_run(y); ++i) {
            const auto label = static_cast<std::size_t>(
                labels[static_cast<std::size_t>(y * width + components.run(i).begin)]);
            EXPECT_EQ(components.area(i), area[label]);
            EXPECT_EQ(components.marked(i), marked[label]);
            pixels += components.run(i).end - components.run(i).begin;
          }
        }
        EXPECT_EQ(pixels, std::count_if(bytes.begin(), bytes.end(), [](auto b) { return b != 0; }));
      }
    }
  }
}

}  // namespace
}  // namespace equalux
