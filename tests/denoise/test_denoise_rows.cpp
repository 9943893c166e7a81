#include <random>

#include <gtest/gtest.h>

#include "src/cpu/common/simd_targets.h"
#include "src/cpu/denoise/denoise_rows.h"
#include "src/cpu/denoise/plane.h"
#include "src/denoise/noise_estimate.h"

namespace equalux::denoise {
namespace {

/// Rows with a margin, as the loops are promised.
template <typename Sample>
class SomeRows {
 public:
  SomeRows(int width, int count, int least, int most, unsigned seed) : plane_(width, count) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> any(least, most);
    for (int y = 0; y < count; ++y) {
      for (int x = -kMargin; x < width + kMargin; ++x)
        plane_.row(y)[x] = static_cast<Sample>(any(random));
    }
  }
  [[nodiscard]] Sample* row(int y = 0) { return plane_.row(y); }
  template <std::size_t kCount>
  [[nodiscard]] std::array<const Sample*, kCount> rows(int first = 0) {
    std::array<const Sample*, kCount> all;
    for (std::size_t k = 0; k < kCount; ++k)
      all[k] = plane_.row(first + static_cast<int>(k));
    return all;
  }
  [[nodiscard]] std::ptrdiff_t stride() const { return plane_.stride(); }
  /// From a column and the third row on.
  [[nodiscard]] SampleWindow window(int column) const {
    return {plane_.row(SampleWindow::kAbove) + column, plane_.stride()};
  }

 private:
  Plane<Sample> plane_;
};

using Samples16 = SomeRows<std::int16_t>;
using Bytes = SomeRows<std::uint8_t>;
using Deviations = SomeRows<std::int8_t>;

const int kWidths[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 62, 64, 65, 100, 1030, 2077};

class DenoiseTargets : public testing::TestWithParam<std::size_t> {
 protected:
  static const std::vector<DenoiseRows>& all() {
    static const std::vector<DenoiseRows> rows = all_denoise_rows();
    return rows;
  }
  const DenoiseRows& fast = all()[GetParam()];
  const DenoiseRows& plain = scalar_denoise_rows();

  /// Runs both on outputs of the same random contents, and compares n samples.
  template <typename Sample, typename Run>
  void same(int n, const char* what, Run run) {
    SomeRows<Sample> a(n, 1, 0, 100, 3);
    SomeRows<Sample> b(n, 1, 0, 100, 3);
    run(fast, a.row());
    run(plain, b.row());
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(a.row()[i], b.row()[i]) << fast.target << " " << what << " " << n << " at " << i;
  }
};

TEST_P(DenoiseTargets, RunTheLoopsOfTheirOwn) {
  if (fast.target == kScalarTarget) {
    EXPECT_EQ(fast.smooth, plain.smooth);
  } else {
    EXPECT_NE(fast.smooth, plain.smooth);
    EXPECT_NE(fast.changes, plain.changes);
    EXPECT_NE(fast.interpolate, plain.interpolate);
  }
  EXPECT_EQ(all().front().target, simd_targets().front());
}

TEST_P(DenoiseTargets, SamplesAreReadAndWrittenAlike) {
  struct Form {
    int step, depth, shift;
  };
  for (const Form& form :
       {Form{1, 8, 0}, Form{2, 8, 0}, Form{3, 8, 0}, Form{4, 8, 0}, Form{2, 10, 0}, Form{2, 12, 0},
        Form{2, 10, 6}, Form{4, 10, 6}, Form{4, 12, 4}}) {
    for (const int n : kWidths) {
      // Exactly as many bytes as there are, for tools that watch over them to see more.
      const int word = form.depth > 8 ? 2 : 1;
      std::vector<std::uint8_t> bytes(static_cast<std::size_t>((n - 1) * form.step + word));
      std::mt19937 random(static_cast<unsigned>(n));
      for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(random());
      const auto count = static_cast<std::size_t>(n);
      same<std::int16_t>(n, "load", [&](const DenoiseRows& rows, std::int16_t* out) {
        rows.load(bytes.data(), form.step, form.depth, form.shift, count, out);
      });
      Samples16 samples(n, 1, 0, kSampleMost, 9);
      std::vector<std::uint8_t> a = bytes;
      std::vector<std::uint8_t> b = bytes;
      fast.store(samples.row(), form.step, form.depth, form.shift, count, a.data());
      plain.store(samples.row(), form.step, form.depth, form.shift, count, b.data());
      ASSERT_EQ(a, b) << fast.target << " step " << form.step << " depth " << form.depth << " "
                      << n;
    }
  }
}

TEST_P(DenoiseTargets, RowsAreCopiedAlike) {
  Samples16 plane(70, 9, 0, kSampleMost, 5);
  for (const int height : {1, 2, 9}) {
    for (int y = -30; y <= height + 30; ++y) {
      const int rows = 1 + (y + 30) % SampleWindow::kAll;
      std::vector<std::int16_t> copies(static_cast<std::size_t>(rows * kCopied), -1);
      fast.copy_rows(plane.row() + y, plane.stride(), height, y, rows, copies.data());
      for (int k = 0; k < rows; ++k) {
        const std::int16_t* const from = plane.row(std::clamp(y + k, 0, height - 1)) + y;
        for (int x = 0; x < kCopied; ++x) {
          ASSERT_EQ(copies[static_cast<std::size_t>(k * kCopied + x)], from[x])
              << fast.target << " " << y << " of " << height << ", row " << k << " at " << x;
        }
      }
    }
  }
}

TEST_P(DenoiseTargets, MotionIsMeasuredAlike) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    // Extremes first: sums must fit.
    const bool extreme = seed < 4;
    Samples16 now(60, 21, extreme ? kSampleMost * (seed & 1) : 0,
                  extreme ? kSampleMost * (seed & 1) : kSampleMost, seed);
    Samples16 then(60, 21, extreme ? kSampleMost * (seed >> 1) : 0,
                   extreme ? kSampleMost * (seed >> 1) : kSampleMost, seed + 50);
    const SampleWindow a = now.window(0);
    const SampleWindow b = then.window(static_cast<int>(seed));
    EXPECT_EQ(fast.difference(a, b), plain.difference(a, b));
    const Taps* const none = nullptr;
    const Taps* const across = &taps_of(1 + static_cast<int>(seed) % (kPhases - 1));
    const Taps* const down = &taps_of(kPhases - 1 - static_cast<int>(seed) % (kPhases - 1));
    for (const int limit : {0, 1, 150, drift_limit(weight_tables().certainty[1], 64 * kLevel)}) {
      const auto alike = [limit](const WindowDifference& one, const WindowDifference& other) {
        EXPECT_EQ(std::tie(one.magnitudes, one.drift), std::tie(other.magnitudes, other.drift))
            << limit;
      };
      alike(fast.differences(a, b, limit), plain.differences(a, b, limit));
      EXPECT_EQ(plain.differences(a, b, limit).magnitudes, plain.difference(a, b));
      alike(fast.moved_differences(a, b, none, none, limit), plain.differences(a, b, limit));
      for (const auto& [x, y] : {std::pair(across, none), {none, down}, {across, down}})
        alike(fast.moved_differences(a, b, x, y, limit),
              plain.moved_differences(a, b, x, y, limit));
    }
    const SlopeSums x = fast.slopes(a, b);
    const SlopeSums y = plain.slopes(a, b);
    EXPECT_EQ(std::tie(x.xx, x.xy, x.yy, x.xd, x.yd), std::tie(y.xx, y.xy, y.yy, y.xd, y.yd));
  }
  for (unsigned seed = 0; seed < 50; ++seed) {
    Samples16 samples(kNoiseBlock, kNoiseBlock, 0, kSampleMost, seed);
    // The largest differences first.
    for (int y = 0; seed < 2 && y < kNoiseBlock; ++y)
      for (int x = -2; x < kNoiseBlock + 2; ++x)
        samples.row(y)[x] =
            static_cast<std::int16_t>((x + y) % 2 == static_cast<int>(seed) ? kSampleMost : 0);
    const NoiseBlock a = fast.noise_block(samples.row(), samples.stride());
    EXPECT_EQ(a.level, block_level(samples.row(), samples.stride()));
    EXPECT_EQ(a.texture, block_texture(samples.row(), samples.stride()));
    Samples16 then(kNoiseBlock, kNoiseBlock, 0, kSampleMost, seed + 100);
    for (int y = 0; seed == 2 && y < kNoiseBlock; ++y)
      for (int x = 0; x < kNoiseBlock; ++x)
        samples.row(y)[x] = static_cast<std::int16_t>(kSampleMost - (then.row(y)[x] = 0));
    // Over two samples the largest differences.
    for (int y = 0; seed == 3 && y < kNoiseBlock; ++y)
      for (int x = -2; x < kNoiseBlock + 2; ++x)
        samples.row(y)[x] = static_cast<std::int16_t>((x / 2 + y / 2) % 2 == 0 ? kSampleMost : 0);
    for (const int gain : {0, 1, -300, kMostGain, -kMostGain}) {
      const int level = block_level(samples.row(), samples.stride());
      const auto sums = [&](const DenoiseRows& rows) {
        return rows.noise_sums(samples.row(), samples.stride(), level, then.row(), then.stride(),
                               gain);
      };
      const NoiseSums b = sums(fast);
      const NoiseSums c = sums(plain);
      EXPECT_EQ(std::tie(b.spread, b.change, b.residual, b.activity, b.before, b.sum),
                std::tie(c.spread, c.change, c.residual, c.activity, c.before, c.sum));
      EXPECT_EQ(c.spread, block_spread(samples.row(), samples.stride()));
    }
  }
  for (const int n : kWidths) {
    Samples16 samples(2 * n, 2, 0, kSampleMost, 4);
    same<std::int16_t>(n, "halve", [&](const DenoiseRows& rows, std::int16_t* out) {
      rows.halve(samples.row(0), samples.row(1), static_cast<std::size_t>(n), out);
    });
  }
}

TEST_P(DenoiseTargets, EstimatesAreMovedAlike) {
  constexpr int kRows = 3;
  for (const int n : kWidths) {
    const auto count = static_cast<std::size_t>(n);
    for (int phase = 1; phase < kPhases; ++phase) {
      // Black beside white overshoots both ways.
      Samples16 samples(n, kRows + kTaps - 1, 0, 1, static_cast<unsigned>(phase));
      for (int y = 0; y < kRows + kTaps - 1; ++y)
        for (int x = -kMargin; x < n + kMargin; ++x)
          samples.row(y)[x] = static_cast<std::int16_t>(samples.row(y)[x] * kSampleMost);
      const Taps* const none = nullptr;
      const Taps* const some = &taps_of(phase);
      const Taps* const others = &taps_of(kPhases - phase);
      for (const auto& [across, down] :
           {std::pair(some, none), {none, some}, {some, others}, {none, none}}) {
        for (int y = 0; y < kRows; ++y) {
          const auto moved_row = [&, x_taps = across, y_taps = down](const DenoiseRows& rows,
                                                                     std::int16_t* out) {
            Samples16 moved(n, kRows, 0, 0, 1);
            rows.interpolate(samples.row(2), samples.stride(), x_taps, y_taps, count, kRows,
                             moved.row(), moved.stride());
            std::copy_n(moved.row(y), count, out);
          };
          same<std::int16_t>(n, "interpolate", moved_row);
        }
      }
    }
    Bytes weights(n, kRows, 0, kWeights - 1, 6);
    for (int y = 0; y < kRows; ++y) {
      for (const bool between : {false, true}) {
        same<std::uint8_t>(n, "move_weights", [&](const DenoiseRows& rows, std::uint8_t* out) {
          Bytes moved(n, kRows, 0, 0, 1);
          rows.move_weights(weights.row(), weights.stride(), between, count, kRows, moved.row(),
                            moved.stride());
          std::copy_n(moved.row(y), count, out);
        });
      }
    }
  }
}

TEST_P(DenoiseTargets, ChangesAndEstimatesAreAlike) {
  NoiseCurves curves = constant_noise(150);
  for (int i = 0; i < kSegments; ++i) {
    curves.inverse.knot[i] = static_cast<std::int16_t>(i % 3 == 0 ? 32767 : 40 * i);
    curves.inverse.rise[i] = static_cast<std::int16_t>(i % 3 == 0 ? -32000 : 900 - i);
    curves.sigma.knot[i] = static_cast<std::int16_t>(i % 4 == 0 ? 4096 : 7 * i);
    curves.sigma.rise[i] = static_cast<std::int16_t>(i % 4 == 0 ? -4000 : 33 * i);
  }
  for (const int n : kWidths) {
    const auto count = static_cast<std::size_t>(n);
    Samples16 samples(n, 5, 0, kSampleMost, 11);
    Samples16 estimates(n, 5, 0, kSampleMost, 12);
    Bytes weights(n, 1, 0, kWeights - 1, 13);
    Samples16 gains(n, 1, -kMostGain, kMostGain, 20);
    same<std::int16_t>(n, "lighten", [&](const DenoiseRows& rows, std::int16_t* out) {
      rows.lighten(estimates.row(), gains.row(), count, out);
    });
    same<std::int8_t>(n, "deviations", [&](const DenoiseRows& rows, std::int8_t* out) {
      rows.deviations(samples.row(), estimates.row(), weights.row(), curves.inverse, count, out);
    });
    for (const int most : {3, 14, 20, 127}) {
      Deviations deviations(n, 5, -most, most, 14);
      for (const bool chroma : {false, true}) {
        same<std::uint8_t>(n, "changes", [&](const DenoiseRows& rows, std::uint8_t* out) {
          rows.changes(deviations.rows<5>(), chroma, count, out);
        });
      }
    }
    Bytes luma(2 * n, 2, 0, 255, 15);
    for (const int shift : {0, 1}) {
      same<std::uint8_t>(n, "join", [&](const DenoiseRows& rows, std::uint8_t* out) {
        rows.join(luma.row(0), luma.row(1), shift, count, out);
      });
    }
    Bytes changes(n, 1, 0, 255, 16);
    Bytes slight(n, 1, 0, 2, 21);
    Bytes new_weights(n, 1, 0, 0, 17);
    Samples16 new_estimates(n, 1, 0, 0, 18);
    same<std::int16_t>(n, "update", [&](const DenoiseRows& rows, std::int16_t* out) {
      rows.update(samples.row(), estimates.row(), weights.row(), changes.row(), {24, false}, count,
                  out, new_weights.row());
    });
    for (Bytes* const by : {&changes, &slight}) {
      for (const bool chroma : {false, true}) {
        same<std::uint8_t>(n, "update", [&](const DenoiseRows& rows, std::uint8_t* out) {
          rows.update(samples.row(), estimates.row(), weights.row(), by->row(), {31, chroma}, count,
                      new_estimates.row(), out);
        });
      }
    }
    // Little noise has loops of its own, up to a reach of 127.
    for (const int sigma : {-1, 0, 3, 17, 18, 19, 40, 100}) {
      const LevelCurve curve = sigma < 0 ? curves.sigma : constant_noise(sigma).sigma;
      for (const int range : {40, 300, kSampleMost}) {
        Samples16 near(n, 5, 0, range, 19);
        same<std::int16_t>(n, "smooth", [&](const DenoiseRows& rows, std::int16_t* out) {
          rows.smooth(near.rows<5>(), weights.row(), curve, kMostSpatial, count, out);
        });
      }
    }
    same<std::int16_t>(n, "blend", [&](const DenoiseRows& rows, std::int16_t* out) {
      rows.blend(samples.row(), 20000, count, out);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, DenoiseTargets,
                         testing::Range<std::size_t>(0, all_denoise_rows().size()),
                         [](const auto& info) {
                           return std::string(all_denoise_rows()[info.param].target);
                         });

}  // namespace
}  // namespace equalux::denoise
