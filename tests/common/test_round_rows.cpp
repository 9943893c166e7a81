#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "src/cpu/common/round_rows.h"
#include "src/format/rounding.h"
#include "tests/support/dither_matrix.h"

namespace equalux {
namespace {

using test::kDitherMatrix;

std::vector<std::uint8_t> words(std::size_t n, unsigned seed, int shift) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned value = i == 0 ? 4095 : (i == 1 ? 4080 : random() % 4096);
    bytes[2 * i] = static_cast<std::uint8_t>(value << shift);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(value << shift >> 8);
  }
  return bytes;
}

std::uint8_t* aligned(std::uint8_t* at) {
  return at + (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
}

TEST(RoundRows, ThresholdsAreThoseOfTheMatrix) {
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      const int number = kDitherMatrix[y % 8][x % 8];
      EXPECT_EQ(dither_number(x, y), number);
      EXPECT_EQ(rounding_threshold(Dither::ordered, x, y, 6), number);
      EXPECT_EQ(rounding_threshold(Dither::ordered, x, y, 4), number / 4);
      EXPECT_EQ(rounding_threshold(Dither::ordered, x, y, 2), number / 16);
      EXPECT_EQ(rounding_threshold(Dither::ordered, x, y, 8), 4 * number + 2);
      EXPECT_EQ(rounding_threshold(Dither::none, x, y, 4), 8);
    }
  }
}

TEST(RoundRows, EveryTargetEqualsTheFormulaInEveryPlane) {
  for (const RoundRows& loops : all_round_rows()) {
    SCOPED_TRACE(loops.target);
    for (int i = 0; i < kPixelFormatCount; ++i) {
      const auto format = static_cast<PixelFormat>(i);
      if (!format_with_fractions(format)) continue;
      SCOPED_TRACE(to_string(format));
      const FormatTraits& fine = traits(*format_with_fractions(format));
      const FractionRounder rounder(format, loops);
      for (int plane = 0; plane < fine.planes; ++plane) {
        const int samples = fine.step[static_cast<std::size_t>(plane)] / 2;
        for (const std::size_t n : {1U, 2U, 7U, 31U, 32U, 33U, 64U, 96U, 191U, 400U}) {
          // 12 bits in the high bits of a word, where it has more.
          const int up = fine.depth + fine.shift - 12;
          const std::vector<std::uint8_t> row = words(n, static_cast<unsigned>(n), up);
          for (const Dither dither : {Dither::none, Dither::ordered}) {
            for (const int y : {0, 3, 13}) {
              std::vector<std::uint8_t> room(n + 129, 0xA5);
              // Where streaming stores are possible, and elsewhere.
              std::uint8_t* const out = aligned(room.data()) + (y == 13 ? 1 : 0);
              rounder.round(plane, y, row.data(), n, dither,
                            y == 3 ? Stores::streaming : Stores::cached, out);
              rounder.flush_stores();
              for (std::size_t k = 0; k < n; ++k) {
                const int value = (row[2 * k] | row[2 * k + 1] << 8) >> up;
                const int column = static_cast<int>(k) / samples;
                const int threshold =
                    dither == Dither::none ? 8 : kDitherMatrix[y % 8][column % 8] / 4;
                ASSERT_EQ(out[k], std::min((value + threshold) / 16, 255)) << k << " of " << n;
              }
              ASSERT_EQ(out[n], 0xA5);
            }
          }
        }
      }
    }
  }
}

TEST(RoundRows, EveryTargetPacksPairs) {
  for (const RoundRows& loops : all_round_rows()) {
    SCOPED_TRACE(loops.target);
    for (const PixelFormat format : {PixelFormat::yuy2, PixelFormat::uyvy}) {
      const FractionRounder rounder(format, loops);
      for (const std::size_t n : {1U, 2U, 3U, 63U, 64U, 65U, 130U, 300U}) {
        const std::size_t pairs = (n + 1) / 2;
        const std::vector<std::uint8_t> luma = words(n, 1, 0);
        const std::vector<std::uint8_t> cb = words(pairs, 2, 0);
        const std::vector<std::uint8_t> cr = words(pairs, 3, 0);
        std::vector<std::uint8_t> scratch(4 * pairs);
        std::vector<std::uint8_t> out(4 * pairs + 1, 0xA5);
        rounder.pack(5, {{luma.data(), luma.data()}, cb.data(), cr.data()}, n, Dither::ordered,
                     scratch.data(), out.data());
        const auto level = [](const std::vector<std::uint8_t>& row, std::size_t x) {
          const int value = row[2 * x] | row[2 * x + 1] << 8;
          return std::min((value + kDitherMatrix[5][x % 8] / 4) / 16, 255);
        };
        const int first = format == PixelFormat::yuy2 ? 0 : 1;
        for (std::size_t i = 0; i < pairs; ++i) {
          const std::uint8_t* const pair = out.data() + 4 * i;
          ASSERT_EQ(pair[first], level(luma, 2 * i)) << i << " of " << n;
          ASSERT_EQ(pair[first + 2], level(luma, std::min(2 * i + 1, n - 1))) << i << " of " << n;
          ASSERT_EQ(pair[1 - first], level(cb, i)) << i << " of " << n;
          ASSERT_EQ(pair[3 - first], level(cr, i)) << i << " of " << n;
        }
        ASSERT_EQ(out.back(), 0xA5);
      }
    }
  }
}

}  // namespace
}  // namespace equalux
