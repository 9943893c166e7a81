// The staged chain's stages between the conversions on a GPU one by one, bit for bit those of the
// CPU.
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "cuda/staged/staged_stages.h"
#include "src/cpu/staged/staged_stages.h"
#include "tests/staged/device_array.h"
#include "tests/staged/stage_shapes.h"
#include "tests/support/device/device_image.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using cuda::LaunchShape;
using test::all_shapes;
using test::bits_of;
using test::Content;
using test::DeviceArray;
using test::kPixelsPerThread;
using test::some_shapes;
using test::text;
using test::with;

constexpr Scaler kScalers[] = {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero};
constexpr EqualizeVariant kEqualizes[] = {EqualizeVariant::divide, EqualizeVariant::curve};
constexpr HistogramVariant kHistograms[] = {HistogramVariant::global, HistogramVariant::shared};
constexpr int kBinCounts[] = {2, 3, 100, 255, 256, 257, 1000, 4096, 65536};

class CudaStages : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    histogram_bytes_ = cuda::prepare_histogram();
    scan_bytes_ = cuda::prepare_cdf_scan();
  }

  std::vector<float> levels_of(Content content, std::size_t pixels) {
    const ImageDesc desc{PixelFormat::gray8, static_cast<int>(pixels), 1};
    Image image(desc);
    test::fill(image.view(), content, 9);
    HsvImage hsv;
    hsv.resize(pixels);
    rgb_to_hsv(image.view(), hsv, executor_);
    return hsv.v;
  }

  std::vector<std::uint32_t> cpu_histogram(const std::vector<float>& v, int bins) {
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(bins));
    std::vector<std::uint32_t> partial(counts.size());
    histogram(v, counts, partial, executor_);
    return counts;
  }

  void expect_histograms(const std::vector<float>& v, int bins, const LaunchShape& shape,
                         std::size_t shared_bytes) {
    const std::vector<std::uint32_t> expected = cpu_histogram(v, bins);
    DeviceArray<float> device_v(v);
    DeviceArray<std::uint32_t> counts(expected.size());
    for (const HistogramVariant variant : kHistograms) {
      counts.poison();
      cuda::histogram(variant, shape, device_v.get(), static_cast<std::uint32_t>(v.size()),
                      counts.get(), bins, shared_bytes, nullptr);
      ASSERT_EQ(counts.download(), expected)
          << enum_name(variant) << " " << bins << " bins, " << v.size() << " values, "
          << text(shape) << ", " << shared_bytes << " shared bytes";
    }
  }

  void expect_scan(ScanVariant variant, const std::vector<std::uint32_t>& counts,
                   const LaunchShape& shape, std::size_t shared_bytes) {
    const int bins = static_cast<int>(counts.size());
    std::vector<std::uint32_t> expected(counts.size());
    std::partial_sum(counts.begin(), counts.end(), expected.begin());
    DeviceArray<std::uint32_t> device_counts(counts);
    DeviceArray<std::uint32_t> cdf(counts.size());
    DeviceArray<std::uint8_t> scratch(cuda::scan_scratch_bytes(variant, bins));
    cuda::cdf_scan(variant, shape, {device_counts.get(), cdf.get(), scratch.get()}, bins,
                   expected.back(), shared_bytes, nullptr);
    ASSERT_EQ(cdf.download(), expected) << enum_name(variant) << " " << bins << " bins, "
                                        << text(shape) << ", " << shared_bytes << " shared bytes";
    ASSERT_EQ(device_counts.download(), counts) << enum_name(variant) << " changed its input";
    static_cast<void>(scratch.download());
  }

  RowExecutor executor_{1};
  std::size_t histogram_bytes_ = 0;
  std::size_t scan_bytes_ = 0;
};

std::vector<ScanVariant> all_scans() {
  std::vector<ScanVariant> scans;
  for (std::size_t i = 0; i < enum_names<ScanVariant>().size(); ++i) {
    scans.push_back(static_cast<ScanVariant>(i));
  }
  return scans;
}

/// Their time grows with n^2: few threads take seconds for many bins.
bool is_quadratic(ScanVariant variant) {
  return variant == ScanVariant::baseline || variant == ScanVariant::two_ended ||
         variant == ScanVariant::two_ended_shared;
}

std::vector<std::uint32_t> random_counts(std::size_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> counts(n);
  const auto most = static_cast<std::uint32_t>(static_cast<std::uint64_t>(kMaxPixels) / n);
  for (std::uint32_t& count : counts) {
    count = random() % 4 == 0 ? 0 : static_cast<std::uint32_t>(random() % most);
  }
  return counts;
}

TEST_F(CudaStages, HistogramsOfEveryBinCountAndContent) {
  for (const Content content :
       {Content::constant, Content::natural, Content::noise, Content::black}) {
    const std::vector<float> v = levels_of(content, 50021);
    for (const int bins : kBinCounts) {
      expect_histograms(v, bins, {dim3{24, 1, 1}, dim3{256, 1, 1}, 4}, histogram_bytes_);
    }
  }
}

TEST_F(CudaStages, HistogramsOfEveryShape) {
  const std::vector<float> v = levels_of(Content::noise, 9973);
  for (const LaunchShape& shape : all_shapes()) {
    for (const int pixels : kPixelsPerThread) {
      expect_histograms(v, 256, with(shape, pixels), histogram_bytes_);
    }
  }
}

TEST_F(CudaStages, HistogramsOfFewValues) {
  for (std::size_t size = 1; size <= 17; ++size) {
    const std::vector<float> v = levels_of(Content::noise, size);
    for (const int pixels : kPixelsPerThread) {
      expect_histograms(v, 100, {dim3{2, 1, 1}, dim3{33, 1, 1}, pixels}, histogram_bytes_);
    }
  }
}

/// As on a device whose blocks have little shared memory.
TEST_F(CudaStages, HistogramsInSegments) {
  const std::vector<float> v = levels_of(Content::noise, 997);
  for (const int bins : {2, 100, 256, 257, 1000}) {
    for (const std::size_t shared_bytes : {std::size_t{4}, std::size_t{252}, std::size_t{1024}}) {
      for (const LaunchShape& shape : some_shapes()) {
        expect_histograms(v, bins, with(shape, 4), shared_bytes);
      }
    }
  }
}

TEST_F(CudaStages, ScansOfEveryVariantAndBinCount) {
  for (const ScanVariant variant : all_scans()) {
    for (const int bins : kBinCounts) {
      const auto n = static_cast<std::size_t>(bins);
      expect_scan(variant, random_counts(n, 3), {dim3{64, 1, 1}, dim3{256, 1, 1}, 1}, scan_bytes_);
      expect_scan(variant, random_counts(n, 4), {dim3{64, 1, 1}, dim3{1024, 1, 1}, 1}, scan_bytes_);
      std::vector<std::uint32_t> ends(n, 0);
      ends.front() = 5;
      ends.back() = static_cast<std::uint32_t>(kMaxPixels - 5);
      expect_scan(variant, ends, {dim3{64, 1, 1}, dim3{256, 1, 1}, 1}, scan_bytes_);
    }
    for (std::size_t n = 2; n <= 140; ++n) {
      expect_scan(variant, random_counts(n, 5), {dim3{2, 1, 1}, dim3{33, 1, 1}, 1}, scan_bytes_);
    }
  }
}

TEST_F(CudaStages, ScansOfEveryShape) {
  for (const ScanVariant variant : all_scans()) {
    for (const LaunchShape& shape : all_shapes()) {
      for (const std::size_t n : {2U, 100U, 256U, 257U, 1000U}) {
        expect_scan(variant, random_counts(n, 6), shape, scan_bytes_);
      }
      if (!is_quadratic(variant) || shape.blocks() * shape.threads_of_block() >= 256) {
        expect_scan(variant, random_counts(4096, 7), shape, scan_bytes_);
      }
    }
  }
}

/// As on a device whose blocks have little shared memory.
TEST_F(CudaStages, ScansInSegments) {
  for (const ScanVariant variant : {ScanVariant::two_ended_shared, ScanVariant::kogge_stone_shared,
                                    ScanVariant::brent_kung_shared}) {
    for (const std::size_t n : {2U, 3U, 100U, 255U, 256U, 257U, 1000U}) {
      for (const std::size_t shared_bytes : {std::size_t{8}, std::size_t{264}, std::size_t{1024}}) {
        for (const LaunchShape& shape : some_shapes()) {
          expect_scan(variant, random_counts(n, 8), shape, shared_bytes);
        }
      }
    }
  }
}

TEST_F(CudaStages, EqualizesAsTheCpuDoes) {
  for (const Content content : {Content::noise, Content::natural, Content::single_bin,
                                Content::black, Content::nearly_flat}) {
    const std::vector<float> v = levels_of(content, 9973);
    DeviceArray<float> device_v(v);
    for (const int bins : kBinCounts) {
      const std::vector<std::uint32_t> counts = cpu_histogram(v, bins);
      std::vector<std::uint32_t> cdf(counts.size());
      std::partial_sum(counts.begin(), counts.end(), cdf.begin());
      DeviceArray<std::uint32_t> device_cdf(cdf);
      DeviceArray<float> device_curve(cdf.size());
      std::vector<float> curve(cdf.size());
      for (const Scaler scaler : kScalers) {
        for (const EqualizeVariant variant : kEqualizes) {
          std::vector<float> expected = v;
          equalize(variant, cdf, scale_of(scaler, counts, cdf), expected, curve, executor_);
          const std::vector<std::uint32_t> expected_bits = bits_of(expected);
          for (const int pixels : kPixelsPerThread) {
            for (const LaunchShape& shape : some_shapes()) {
              device_v.upload(v);
              device_curve.poison();
              cuda::equalize(variant, with(shape, pixels), scaler, device_cdf.get(), bins,
                             device_v.get(), static_cast<std::uint32_t>(v.size()),
                             device_curve.get(), nullptr);
              ASSERT_EQ(bits_of(device_v.download()), expected_bits)
                  << enum_name(variant) << " " << enum_name(scaler) << " " << bins << " bins "
                  << test::name_of(content) << " " << text(with(shape, pixels));
            }
          }
          static_cast<void>(device_curve.download());
        }
      }
    }
  }
}

TEST_F(CudaStages, EqualizesInEveryShape) {
  const std::vector<float> v = levels_of(Content::natural, 5003);
  const std::vector<std::uint32_t> counts = cpu_histogram(v, 256);
  std::vector<std::uint32_t> cdf(counts.size());
  std::partial_sum(counts.begin(), counts.end(), cdf.begin());
  DeviceArray<float> device_v(v);
  DeviceArray<std::uint32_t> device_cdf(cdf);
  DeviceArray<float> device_curve(cdf.size());
  std::vector<float> curve(cdf.size());
  std::vector<float> expected = v;
  equalize(EqualizeVariant::divide, cdf, scale_of(Scaler::max_abs, counts, cdf), expected, curve,
           executor_);
  for (const EqualizeVariant variant : kEqualizes) {
    for (const LaunchShape& shape : all_shapes()) {
      for (const int pixels : kPixelsPerThread) {
        device_v.upload(v);
        cuda::equalize(variant, with(shape, pixels), Scaler::max_abs, device_cdf.get(), 256,
                       device_v.get(), static_cast<std::uint32_t>(v.size()), device_curve.get(),
                       nullptr);
        ASSERT_EQ(bits_of(device_v.download()), bits_of(expected))
            << enum_name(variant) << " " << text(with(shape, pixels));
      }
    }
  }
}

}  // namespace
}  // namespace equalux
