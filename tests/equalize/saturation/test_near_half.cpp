#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "src/equalize/near_half.h"
#include "tests/support/long_counts.h"

namespace equalux {
namespace {

__extension__ using Unsigned128 = unsigned __int128;

/// A gain M sum / (N v) as the kernel makes it: in single precision, and moved off a half where
/// code_near_half() says so.
struct Gain {
  std::uint64_t numerator;
  std::uint64_t denominator;
  float value;
  bool moved;

  Gain(std::uint64_t over, std::uint64_t under, int most) : numerator(over), denominator(under) {
    const double exact = static_cast<double>(over) / static_cast<double>(under);
    value = static_cast<float>(exact);
    const auto fraction = static_cast<std::uint32_t>(static_cast<std::uint64_t>(exact * 0x1p32));
    const auto error =
        static_cast<std::uint32_t>(std::ceil(std::fabs(double{value} - exact) * 0x1p32));
    const int code = code_near_half(value, fraction, error, most);
    moved = code != 0;
    if (!moved) return;
    const auto below = static_cast<std::uint64_t>(code * exact);
    const bool reaches = 2 * static_cast<std::uint64_t>(code) * over >= (2 * below + 1) * under;
    value = static_cast<float>(exact + (exact + 1.0) * (reaches ? 0x1p-22 : -0x1p-22));
  }

  /// round(code gain), halves up, in whole numbers.
  [[nodiscard]] std::uint64_t exact(int code) const {
    const auto product = static_cast<Unsigned128>(code) * numerator;
    return static_cast<std::uint64_t>((2 * product + denominator) /
                                      (2 * static_cast<Unsigned128>(denominator)));
  }
  /// code gain, rounded as a fused multiplication and addition rounds it.
  [[nodiscard]] std::uint64_t rounded(int code) const {
    return static_cast<std::uint64_t>(std::nearbyint(double{value} * code));
  }
};

struct Counts {
  int moved = 0;
  int wrong = 0;
};

Counts check(std::uint64_t over, std::uint64_t under, int most) {
  const Gain gain(over, under, most);
  Counts counts;
  counts.moved = gain.moved ? 1 : 0;
  for (int code = 1; code <= most; ++code)
    counts.wrong += gain.exact(code) != gain.rounded(code) ? 1 : 0;
  return counts;
}

/// Gains of random frames, and of frames whose sums bring a product as near to a half as can be.
TEST(NearHalf, MovedGainsRoundAsExactOnesDo) {
  const int rounds = test::wants_every_count() ? 20'000'000 : 100'000;
  std::mt19937_64 random(7);
  const auto up_to = [&](std::uint64_t most) { return 1 + random() % most; };
  Counts sum;
  for (int i = 0; i < rounds; ++i) {
    const int range = i % 3 == 0 ? 219 : 255;
    const int v = static_cast<int>(up_to(static_cast<std::uint64_t>(range)));
    const int most = v == 219 && range == 219 ? 239 : v;
    const std::uint64_t sizes[] = {up_to(1000), 961 * 640, 1920 * 1080, 3840 * 2160,
                                   up_to(std::uint64_t{1} << 31)};
    const std::uint64_t pixels = sizes[random() % 5];
    const auto whole_range = static_cast<std::uint64_t>(range);
    const auto value = static_cast<std::uint64_t>(v);
    std::uint64_t cdf = up_to(pixels);
    if (i % 2 != 0) {
      const std::uint64_t code = up_to(static_cast<std::uint64_t>(most));
      const std::uint64_t k = random() % (code * whole_range / value + 1);
      const std::uint64_t near =
          (2 * k + 1) * pixels * value / (2 * code * whole_range) + random() % 3;
      if (near >= 2 && near - 1 <= pixels) cdf = near - 1;
    }
    const Counts counts = check(whole_range * cdf, pixels * value, most);
    ASSERT_EQ(counts.wrong, 0) << range << " * " << cdf << " / (" << pixels << " * " << v << ")";
    sum.moved += counts.moved;
  }
  EXPECT_GT(sum.moved, rounds / 20);  // the second kind of frames does come near
}

TEST(NearHalf, TiesAreFoundForEveryValue) {
  for (int v = 2; v <= 255; ++v) {
    // The gain (2k + 1) / (2v): its product with v is a tie.
    for (const std::uint64_t k : {0, 1, 100, 254}) {
      const auto value = static_cast<std::uint64_t>(v);
      EXPECT_EQ(check(2 * k + 1, 2 * value, v).wrong, 0) << v << " " << k;
    }
  }
}

TEST(NearHalf, WithoutTheMoveSomeWouldBeWrong) {
  // A half to be rounded up, from a gain that single precision may have rounded down.
  int wrong = 0;
  for (int v = 1; v <= 255; ++v) {
    const auto gain = static_cast<float>(1.0 / (2.0 * v));
    wrong += static_cast<int>(std::nearbyint(double{gain} * v)) != 1 ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace equalux
