// The staged chain's stages on a GPU one by one, bit for bit those of the CPU.
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "cpu/staged_stages.h"
#include "staged_stages.h"
#include "support/device_array.h"
#include "support/device_image.h"
#include "support/test_images.h"

namespace equalux {
namespace {

using cuda::LaunchShape;
using test::Content;
using test::DeviceArray;
using test::DeviceImage;
using test::DeviceLayout;

constexpr Scaler kScalers[] = {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero};
constexpr EqualizeVariant kEqualizes[] = {EqualizeVariant::divide, EqualizeVariant::curve};
constexpr RgbToHsvVariant kRgbToHsvs[] = {RgbToHsvVariant::coalesced, RgbToHsvVariant::uncoalesced};
constexpr HistogramVariant kHistograms[] = {HistogramVariant::global, HistogramVariant::shared};
constexpr int kPixelsPerThread[] = {1, 2, 4, 8};
constexpr int kBinCounts[] = {2, 3, 100, 255, 256, 257, 1000, 4096, 65536};

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

std::string text(const dim3& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}
std::string text(const LaunchShape& shape) {
  return "grid " + text(shape.grid) + " block " + text(shape.block) + " pixels per thread " +
         std::to_string(shape.pixels_per_thread);
}

std::vector<LaunchShape> all_shapes() {
  std::vector<LaunchShape> shapes;
  for (const dim3& grid : {dim3{1, 1, 1}, dim3{8, 8, 1}, dim3{7, 3, 2}, dim3{1024, 1, 1}}) {
    for (const dim3& block :
         {dim3{1, 1, 1}, dim3{8, 4, 1}, dim3{8, 8, 4}, dim3{256, 1, 1}, dim3{33, 1, 1}}) {
      shapes.push_back({grid, block, 1});
    }
  }
  shapes.push_back({dim3{2, 1, 1}, dim3{1024, 1, 1}, 1});
  return shapes;
}

std::vector<LaunchShape> some_shapes() {
  return {{dim3{1, 1, 1}, dim3{1, 1, 1}, 1},
          {dim3{7, 3, 2}, dim3{8, 8, 4}, 1},
          {dim3{24, 1, 1}, dim3{256, 1, 1}, 1},
          {dim3{3, 1, 1}, dim3{33, 1, 1}, 1},
          {dim3{2, 1, 1}, dim3{1024, 1, 1}, 1}};
}

LaunchShape with(LaunchShape shape, int pixels_per_thread) {
  shape.pixels_per_thread = pixels_per_thread;
  return shape;
}

std::vector<PixelFormat> rgb_formats() {
  std::vector<PixelFormat> formats;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    const ColorModel model = traits(format).model;
    if (model == ColorModel::rgb || model == ColorModel::gray) formats.push_back(format);
  }
  return formats;
}

std::string text(const ImageDesc& desc, const DeviceLayout& layout) {
  return std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
         std::to_string(desc.height) + " offset " + std::to_string(layout.offset) + " padding " +
         std::to_string(layout.padding) + (layout.negative ? " bottom up" : "");
}

std::size_t pixels_of(const ImageDesc& desc) {
  return static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height);
}

/// Layouts with and without groups of four pixels: tight, rows of 16 bytes, odd ones, bottom up.
const std::vector<DeviceLayout>& layouts() {
  static const std::vector<DeviceLayout> all{
      {}, {0, 0, true}, {0, 16, true, true}, {4, 0}, {1, 0}, {3, 29}, {48, 5, false, true}};
  return all;
}

/// A frame in HSV, on the CPU and on the device.
struct HsvPair {
  explicit HsvPair(std::size_t pixels) : h(pixels), s(pixels), v(pixels) { cpu.resize(pixels); }
  void upload() {
    h.upload(cpu.h);
    s.upload(cpu.s);
    v.upload(cpu.v);
  }
  void poison() {
    h.poison();
    s.poison();
    v.poison();
  }
  [[nodiscard]] cuda::HsvPlanes planes() const { return {h.get(), s.get(), v.get()}; }

  HsvImage cpu;
  DeviceArray<float> h;
  DeviceArray<float> s;
  DeviceArray<float> v;
};

class CudaStages : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    histogram_bytes_ = cuda::prepare_histogram();
    scan_bytes_ = cuda::prepare_cdf_scan();
  }

  /// Both conversions of one frame: its HSV image, and back with every V halved, also in place.
  void expect_conversions(const ImageDesc& desc, const DeviceLayout& layout, Content content,
                          const std::vector<LaunchShape>& shapes) {
    SCOPED_TRACE(text(desc, layout) + " " + test::name_of(content));
    Image in(desc);
    test::fill(in.view(), content, 5);
    HsvPair hsv(pixels_of(desc));
    rgb_to_hsv(in.view(), hsv.cpu, executor_);
    DeviceImage device_in(desc, layout);
    device_in.upload(in.view());
    for (const LaunchShape& shape : shapes) {
      for (const RgbToHsvVariant variant : kRgbToHsvs) {
        hsv.poison();
        cuda::rgb_to_hsv(variant, shape, device_in.view(), hsv.planes(), nullptr);
        ASSERT_EQ(bits_of(hsv.h.download()), bits_of(hsv.cpu.h)) << text(shape);
        ASSERT_EQ(bits_of(hsv.s.download()), bits_of(hsv.cpu.s)) << text(shape);
        ASSERT_EQ(bits_of(hsv.v.download()), bits_of(hsv.cpu.v)) << text(shape);
      }
    }
    for (float& value : hsv.cpu.v) value *= 0.5f;
    hsv.upload();
    Image expected(desc);
    hsv_to_rgb(hsv.cpu, in.view(), expected.view(), executor_);
    DeviceImage device_out(desc, layout);
    for (const LaunchShape& shape : shapes) {
      device_out.poison();
      cuda::hsv_to_rgb(shape, hsv.planes(), device_in.view(), device_out.view(), nullptr);
      const Image got = device_out.download();
      ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U) << text(shape);
    }
    cuda::hsv_to_rgb(shapes.front(), hsv.planes(), device_in.view(), device_in.view(), nullptr);
    const Image got = device_in.download();
    ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U) << "in place";
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

TEST_F(CudaStages, ConversionsOfEveryFormatLayoutAndPixelsPerThread) {
  std::vector<LaunchShape> shapes;
  for (const int pixels : kPixelsPerThread) {
    shapes.push_back({dim3{24, 1, 1}, dim3{256, 1, 1}, pixels});
  }
  for (const PixelFormat format : rgb_formats()) {
    for (const DeviceLayout& layout : layouts()) {
      expect_conversions({format, 64, 9}, layout, Content::noise, shapes);
      expect_conversions({format, 61, 7}, layout, Content::natural, shapes);
    }
  }
}

TEST_F(CudaStages, ConversionsOfEveryShape) {
  std::vector<LaunchShape> shapes;
  for (const LaunchShape& shape : all_shapes()) {
    for (const int pixels : kPixelsPerThread) shapes.push_back(with(shape, pixels));
  }
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::argb}) {
    expect_conversions({format, 101, 33}, {}, Content::natural, shapes);
    expect_conversions({format, 100, 33}, {1, 3, false, true}, Content::noise, shapes);
  }
}

TEST_F(CudaStages, ConversionsOfEverySizeAndContent) {
  std::vector<LaunchShape> shapes;
  for (const int pixels : kPixelsPerThread) {
    shapes.push_back({dim3{3, 1, 1}, dim3{33, 1, 1}, pixels});
  }
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::bgra}) {
    for (int width = 1; width <= 9; ++width) {
      expect_conversions({format, width, 1}, {}, Content::noise, shapes);
      expect_conversions({format, 1, width}, {0, 0, true}, Content::noise, shapes);
      expect_conversions({format, width, 3}, {}, Content::noise, shapes);
    }
    for (const Content content : test::all_contents()) {
      expect_conversions({format, 64, 16}, {}, content, shapes);
    }
  }
}

/// Every pair of a largest and a smallest channel, in all orders of the channels.
TEST_F(CudaStages, EveryHue) {
  const ImageDesc desc{PixelFormat::rgb, 1536, 256};
  Image in(desc);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      std::uint8_t* pixel = in.view().row(0, y) + 3 * x;
      const int channel = x / 256 % 3;
      const int least = x / 768 == 0 ? 0 : y / 2;
      pixel[channel] = static_cast<std::uint8_t>(y);
      pixel[(channel + 1) % 3] = static_cast<std::uint8_t>(x % 256);
      pixel[(channel + 2) % 3] = static_cast<std::uint8_t>(least);
    }
  }
  HsvPair hsv(pixels_of(desc));
  rgb_to_hsv(in.view(), hsv.cpu, executor_);
  DeviceImage device(desc);
  device.upload(in.view());
  const LaunchShape shape{dim3{64, 1, 1}, dim3{256, 1, 1}, 4};
  cuda::rgb_to_hsv(RgbToHsvVariant::coalesced, shape, device.view(), hsv.planes(), nullptr);
  ASSERT_EQ(bits_of(hsv.h.download()), bits_of(hsv.cpu.h));
  ASSERT_EQ(bits_of(hsv.s.download()), bits_of(hsv.cpu.s));
  ASSERT_EQ(bits_of(hsv.v.download()), bits_of(hsv.cpu.v));
  device.poison();
  cuda::hsv_to_rgb(shape, hsv.planes(), device.view(), device.view(), nullptr);
  const Image back = device.download();
  EXPECT_EQ(test::count_differences(in.view(), back.view()), 0U);
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
