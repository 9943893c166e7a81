#include <cstdlib>
#include <numeric>
#include <random>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "src/cpu/staged/staged_stages.h"

namespace equalux {
namespace {

constexpr ScanVariant kCpuScans[] = {ScanVariant::baseline, ScanVariant::two_ended,
                                     ScanVariant::kogge_stone, ScanVariant::brent_kung};

std::vector<std::uint32_t> scan(std::optional<ScanVariant> variant,
                                const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> cdf(counts.size(), 0xDEAD);
  std::vector<std::uint32_t> scratch(counts.size(), 0xBEEF);
  cdf_scan(variant, counts, cdf, scratch);
  return cdf;
}

std::vector<std::uint32_t> random_counts(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> counts(n);
  for (std::uint32_t& count : counts) {
    count = static_cast<std::uint32_t>(random() % (static_cast<std::uint64_t>(kMaxPixels) / n + 1));
  }
  return counts;
}

void expect_agreement(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> expected(counts.size());
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    expected[i] = sum += counts[i];
  EXPECT_EQ(scan(std::nullopt, counts), expected);
  for (const ScanVariant variant : kCpuScans) {
    EXPECT_EQ(scan(variant, counts), expected) << enum_name(variant) << " n " << counts.size();
  }
}

TEST(CdfScan, AllVariantsAgreeOnEverySmallSize) {
  for (std::size_t n = 2; n <= 600; ++n)
    expect_agreement(random_counts(n, n));
}

TEST(CdfScan, AllVariantsAgreeOnLargeSizes) {
  for (const std::size_t n : {1000u, 1023u, 1024u, 1025u, 4097u, 16384u, 65536u}) {
    expect_agreement(random_counts(n, 7));
  }
}

TEST(CdfScan, SumsReachThePixelBound) {
  std::vector<std::uint32_t> counts(256, 0);
  counts.back() = static_cast<std::uint32_t>(kMaxPixels - 5);
  counts.front() = 5;
  expect_agreement(counts);
  EXPECT_EQ(scan(ScanVariant::brent_kung, counts).back(), static_cast<std::uint32_t>(kMaxPixels));
}

TEST(CdfScan, GpuVariantsSayThatTheyNeedAGpu) {
  for (const ScanVariant variant : {ScanVariant::two_ended_shared, ScanVariant::kogge_stone_shared,
                                    ScanVariant::brent_kung_shared, ScanVariant::cub}) {
    try {
      scan(variant, random_counts(16, 1));
      FAIL() << enum_name(variant);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("CUDA"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace equalux
