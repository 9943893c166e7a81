#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <equalux/convolve.h>
#include <equalux/error.h>
#include <gtest/gtest.h>

#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::DeviceImage;
using test::DeviceLayout;

constexpr std::array<Border, 3> kBorders{Border::replicate, Border::reflect_101, Border::constant};
constexpr std::array<int, 3> kBlocks{8, 16, 32};
constexpr std::array<const char*, 7> kNamed{"box-blur",          "gaussian-blur",   "edge",
                                            "emboss-horizontal", "emboss-vertical", "sharpen",
                                            "identity"};
constexpr std::array<PixelFormat, 14> kFormats{
    PixelFormat::gray8, PixelFormat::rgb,  PixelFormat::bgr,  PixelFormat::rgbx, PixelFormat::bgrx,
    PixelFormat::xrgb,  PixelFormat::xbgr, PixelFormat::rgba, PixelFormat::bgra, PixelFormat::argb,
    PixelFormat::nv12,  PixelFormat::i420, PixelFormat::y42b, PixelFormat::y444};

ConvolveParams named(const char* name) {
  ConvolveParams params;
  params.kernel = name;
  return params;
}

ConvolveParams separable(const char* name, int size, double sigma = 0) {
  ConvolveParams params = named(name);
  params.size = size;
  params.sigma = sigma;
  return params;
}

/// Whole weights of -most to most.
ConvolveParams custom(int size, int most, const char* divisor, const char* offset,
                      std::uint32_t seed) {
  std::mt19937 random(seed);
  ConvolveParams params = named("custom");
  params.divisor = divisor;
  params.offset = offset;
  for (int i = 0; i < size * size; ++i) {
    const int weight = static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most;
    params.weights.push_back(std::to_string(weight));
  }
  return params;
}

ConvolveParams with(ConvolveParams params, Border border) {
  params.border = border;
  params.border_value = border == Border::constant ? 177 : 0;
  return params;
}

ConvolveParams with(ConvolveParams params, ConvolveMode mode, int block) {
  params.mode = mode;
  params.block = block;
  return params;
}

class CudaConvolve : public test::DeviceTest {
 protected:
  /// A frame through the filter, every byte compared with the CPU's.
  static void expect_same_as_cpu(const ConvolveParams& params, const ImageDesc& desc,
                                 Content content = Content::noise,
                                 const DeviceLayout& in_layout = {},
                                 const DeviceLayout& out_layout = {}) {
    SCOPED_TRACE(
        params.kernel + " of size " + std::to_string(params.size) + " weights " +
        std::to_string(params.weights.size()) + ", " + std::string(enum_name(params.border)) +
        ", " + std::string(enum_name(params.mode)) + " " + std::to_string(params.block) + ", " +
        std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
        std::to_string(desc.height) + " " + test::name_of(content) + " offset " +
        std::to_string(in_layout.offset) + " padding " + std::to_string(in_layout.padding));
    ConvolveParams on_cpu = params;
    on_cpu.mode = ConvolveMode::production;
    on_cpu.block = ConvolveParams{}.block;
    const auto cpu = make_cpu_filter(on_cpu, {1});
    const auto cuda = make_cuda_filter(params);
    Image in(desc);
    Image expected(cpu->configure(desc));
    ASSERT_EQ(cuda->configure(desc), expected.view().desc);
    test::fill(in.view(), content, 7);
    FrameContext context;
    cpu->submit(in.view(), expected.view(), context);
    DeviceImage device_in(desc, in_layout);
    DeviceImage device_out(desc, out_layout);
    device_in.upload(in.view());
    cuda->submit(device_in.view(), device_out.view(), context);
    const Image got = device_out.download();
    ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U);
    ASSERT_EQ(test::count_differences(in.view(), device_in.download().view()), 0U) << "the input";
  }
};

TEST_F(CudaConvolve, EveryNamedKernelFormatBorderAndContent) {
  for (const char* name : kNamed) {
    for (const PixelFormat format : kFormats) {
      for (const Border border : kBorders) {
        const ConvolveParams params = with(named(name), border);
        expect_same_as_cpu(params, {format, 1203, 37});
        expect_same_as_cpu(params, {format, 1203, 37}, Content::natural, {0, 0, true},
                           {0, 0, true});
      }
    }
    for (const Content content : test::all_contents())
      expect_same_as_cpu(named(name), {PixelFormat::bgr, 640, 33}, content);
  }
}

TEST_F(CudaConvolve, EverySizeAndStride) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 7},   {7, 1},   {2, 2},   {3, 3},
                                               {5, 6},   {16, 4},  {21, 10}, {22, 5},  {64, 5},
                                               {129, 9}, {171, 3}, {512, 6}, {513, 7}, {1536, 3}};
  const std::vector<ConvolveParams> cases{
      named("sharpen"),           named("box-blur"),          custom(3, 30000, "1000", "3.5", 1),
      custom(5, 20, "7", "2", 2), custom(15, 9, "31", "", 3), separable("gaussian", 31, 5),
      separable("box", 7)};
  for (const ConvolveParams& params : cases) {
    for (const auto& [width, height] : sizes) {
      int turn = 0;
      for (const PixelFormat format :
           {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::i420}) {
        for (const DeviceLayout& layout :
             {DeviceLayout{}, DeviceLayout{0, 16, true}, DeviceLayout{0, 0, true, true},
              DeviceLayout{1, 0}, DeviceLayout{3, 29}, DeviceLayout{48, 5, false, true}}) {
          const Border border = kBorders[static_cast<std::size_t>(turn++) % 3];
          expect_same_as_cpu(with(params, border), {format, width, height}, Content::noise, layout,
                             layout);
        }
      }
    }
  }
}

TEST_F(CudaConvolve, EveryOffset) {
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::nv12}) {
    for (int offset = 0; offset < 64; ++offset) {
      const DeviceLayout layout{offset, offset % 3};
      expect_same_as_cpu(named("edge"), {format, 701, 9}, Content::noise, layout);
      expect_same_as_cpu(named("edge"), {format, 701, 9}, Content::noise, {}, layout);
      expect_same_as_cpu(named("edge"), {format, 704, 9}, Content::noise, {offset, 0, true},
                         {offset, 0, true});
    }
  }
}

/// Weights that fit a byte and that do not, negative, divided by powers of two and not.
TEST_F(CudaConvolve, CustomKernels) {
  for (int size = 1; size <= kMaxCustomKernel; size += 2) {
    const auto seed = static_cast<std::uint32_t>(size);
    for (const ConvolveParams& params :
         {custom(size, 1, "1", "0", seed), custom(size, 14, "10", "7.25", seed),
          custom(size, 127, "256", "-20", seed), custom(size, 128, "100", "128", seed),
          custom(size, 30000, "65536", "0.5", seed), custom(size, 99, "1", "-1000.5", seed)}) {
      for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::bgra})
        expect_same_as_cpu(params, {format, 283, 41});
    }
  }
}

TEST_F(CudaConvolve, EveryDivisor) {
  for (int divisor = 1; divisor < 400; ++divisor) {
    const std::string text = std::to_string(divisor);
    expect_same_as_cpu(custom(3, 12, text.c_str(), "0", static_cast<std::uint32_t>(divisor)),
                       {PixelFormat::gray8, 371, 3});
  }
  for (const int divisor : {509, 4096, 40000, 65535, 65536, 8000000, 8421503, 2147483646}) {
    ConvolveParams params = named("custom");
    params.weights = {std::to_string((2147483647 - divisor / 2) / 255 - 1)};
    params.divisor = std::to_string(divisor);
    expect_same_as_cpu(params, {PixelFormat::gray8, 771, 2});
  }
}

TEST_F(CudaConvolve, SeparableKernelsOfEverySize) {
  for (int size = 3; size <= kMaxSeparableKernel; size += 2) {
    for (const ConvolveParams& params :
         {separable("gaussian", size), separable("gaussian", size, 2.5),
          separable("gaussian", size, 100), separable("gaussian", size, 0.05),
          separable("box", size)}) {
      for (const Border border : kBorders) {
        expect_same_as_cpu(with(params, border), {PixelFormat::bgr, 151, 45});
        expect_same_as_cpu(with(params, border), {PixelFormat::gray8, 333, 70}, Content::white);
      }
    }
  }
  for (const PixelFormat format : kFormats)
    expect_same_as_cpu(separable("gaussian", 9, 1.7), {format, 301, 67});
}

/// Rows of whole words at multiples of 16 bytes, which a kernel of their own takes: the last 16
/// bytes of a row whole and in part, columns of 128 bytes that hold a few bytes or a pixel in part.
TEST_F(CudaConvolve, SeparableKernelsInColumns) {
  const std::vector<std::pair<int, int>> sizes{{4, 15}, {40, 16}, {44, 70}, {172, 19}, {1196, 131}};
  for (int size = 3; size <= 15; size += 2) {
    int turn = 0;
    for (const ConvolveParams& params :
         {separable("gaussian", size), separable("gaussian", size, 100),
          separable("gaussian", size, 0.05), separable("box", size)}) {
      for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::bgra,
                                       PixelFormat::xrgb, PixelFormat::nv12}) {
        for (const auto& [width, height] : sizes) {
          const Border border = kBorders[static_cast<std::size_t>(turn++) % 3];
          const DeviceLayout layout{0, turn % 2 * 16, true, turn % 3 == 0};
          expect_same_as_cpu(with(params, border), {format, width, height},
                             turn % 4 == 0 ? Content::white : Content::noise, layout, layout);
        }
      }
    }
  }
}

TEST_F(CudaConvolve, ModesAndBlocksGiveTheSameFrame) {
  for (const ConvolveMode mode :
       {ConvolveMode::global, ConvolveMode::constant, ConvolveMode::shared}) {
    for (const int block : kBlocks) {
      for (const Border border : kBorders) {
        for (const PixelFormat format : kFormats)
          expect_same_as_cpu(with(with(named("edge"), border), mode, block), {format, 131, 47});
        for (const ConvolveParams& params : {custom(15, 30000, "65536", "3", 8),
                                             separable("gaussian", 31, 5), separable("box", 9)}) {
          for (const auto& [width, height] :
               std::vector<std::pair<int, int>>{{1, 1}, {3, 40}, {77, 2}, {129, 65}}) {
            expect_same_as_cpu(with(with(params, border), mode, block),
                               {PixelFormat::bgr, width, height}, Content::noise, {3, 5});
          }
        }
      }
    }
  }
}

TEST_F(CudaConvolve, LargeFrames) {
  for (const char* name : kNamed) {
    expect_same_as_cpu(named(name), {PixelFormat::bgr, 3840, 2160}, Content::natural);
    expect_same_as_cpu(named(name), {PixelFormat::nv12, 3840, 2160}, Content::noise);
  }
  expect_same_as_cpu(named("sharpen"), {PixelFormat::bgr, 10000, 6000}, Content::natural);
  expect_same_as_cpu(separable("gaussian", 15, 3), {PixelFormat::bgra, 3840, 2160});
  for (const int size : {5, 9, 15}) {
    expect_same_as_cpu(separable("gaussian", size), {PixelFormat::bgr, 3840, 2160},
                       Content::natural);
    expect_same_as_cpu(with(separable("box", size), Border::reflect_101),
                       {PixelFormat::bgr, 3844, 1082});
    expect_same_as_cpu(separable("gaussian", size), {PixelFormat::gray8, 7680, 1090});
  }
  expect_same_as_cpu(custom(7, 50, "64", "", 4), {PixelFormat::bgr, 3840, 2160});
}

/// Frames so large that warps at their sides have fewer rows than others.
TEST_F(CudaConvolve, SidesOfFewerRows) {
  const DeviceLayout rows{0, 0, true};
  for (const Border border : kBorders) {
    for (const int size : {7, 15}) {
      const ConvolveParams params = with(separable("gaussian", size), border);
      expect_same_as_cpu(params, {PixelFormat::bgr, 1204, 901}, Content::noise, rows, rows);
      expect_same_as_cpu(params, {PixelFormat::bgra, 901, 1204}, Content::noise, rows, rows);
    }
  }
}

TEST_F(CudaConvolve, RandomFrames) {
  const int count = test::wants_every_count() ? 2000 : 200;
  std::mt19937 random(20261122);
  for (int i = 0; i < count; ++i) {
    const auto pick = [&random](int most) {
      return static_cast<int>(random() % static_cast<unsigned>(most));
    };
    const auto seed = static_cast<std::uint32_t>(random());
    const int half = 1 + pick(7);
    ConvolveParams params = named(kNamed[static_cast<std::size_t>(pick(7))]);
    if (i % 4 == 1) params = custom(2 * half + 1, 1 + pick(200), "37", "12.5", seed);
    if (i % 4 == 2) params = separable("gaussian", 2 * half + 1, 0.3 + 0.1 * pick(40));
    if (i % 4 == 3) params = custom(3, 127, "16", "-3", seed);
    const auto layout = [&pick] {
      DeviceLayout made;
      made.aligned_rows = pick(2) == 0;
      made.offset = made.aligned_rows ? 0 : pick(64);
      made.padding = pick(40);
      made.negative = pick(4) == 0;
      return made;
    };
    const DeviceLayout in_layout = layout();
    const DeviceLayout out_layout = layout();
    expect_same_as_cpu(with(params, kBorders[static_cast<std::size_t>(pick(3))]),
                       {kFormats[static_cast<std::size_t>(pick(14))], 1 + pick(1500), 1 + pick(90)},
                       test::all_contents()[static_cast<std::size_t>(pick(8))], in_layout,
                       out_layout);
    if (HasFatalFailure()) return;
  }
}

/// A little of every kernel, for tools under which all of it takes minutes.
TEST_F(CudaConvolve, EveryPathOnce) {
  std::vector<ConvolveParams> all{custom(3, 30000, "1000", "3.5", 1), custom(3, 100, "37", "", 2),
                                  custom(5, 20, "7", "2", 2),         custom(15, 9, "31", "", 3),
                                  separable("gaussian", 31, 5),       separable("box", 7),
                                  separable("gaussian", 15),          separable("box", 31),
                                  separable("gaussian", 5),           separable("gaussian", 9)};
  for (const char* name : kNamed)
    all.push_back(named(name));
  for (const ConvolveMode mode :
       {ConvolveMode::global, ConvolveMode::constant, ConvolveMode::shared})
    all.push_back(with(named("edge"), mode, 16));
  for (const ConvolveParams& params : all) {
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::i420}) {
      expect_same_as_cpu(params, {format, 304, 21}, Content::noise, {0, 0, true}, {0, 0, true});
      expect_same_as_cpu(params, {format, 300, 21}, Content::noise, {0, 0, true}, {0, 0, true});
      expect_same_as_cpu(params, {format, 203, 9}, Content::noise, {4, 0}, {1, 2});
    }
  }
}

TEST_F(CudaConvolve, FramesOfAnotherSizeFollow) {
  const auto cuda = make_cuda_filter(named("sharpen"));
  const auto cpu = make_cpu_filter(named("sharpen"), {1});
  FrameContext context;
  for (const int width : {300, 20, 700}) {
    const ImageDesc desc{PixelFormat::bgr, width, 9};
    Image in(desc);
    Image expected(cpu->configure(desc));
    cuda->configure(desc);
    test::fill(in.view(), Content::noise, 3);
    cpu->submit(in.view(), expected.view(), context);
    DeviceImage device_in(desc);
    DeviceImage device_out(desc);
    device_in.upload(in.view());
    cuda->submit(device_in.view(), device_out.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U);
  }
}

TEST_F(CudaConvolve, RefusesWhatItDoesNotTake) {
  const auto cuda = make_cuda_filter(ConvolveParams{});
  EXPECT_FALSE(cuda->works_in_place());
  EXPECT_FALSE(cuda->accepts(PixelFormat::yuy2));
  EXPECT_FALSE(cuda->accepts(PixelFormat::grayf32));
  EXPECT_TRUE(cuda->accepts(PixelFormat::y444));
  const ImageDesc desc{PixelFormat::gray8, 8, 8};
  cuda->configure(desc);
  DeviceImage in(desc);
  DeviceImage out({PixelFormat::gray8, 8, 9});
  FrameContext context;
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code_of([&] { cuda->configure({PixelFormat::uyvy, 8, 8}); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { cuda->submit(in.view(), in.view(), context); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { cuda->submit(in.view(), out.view(), context); }), ExitCode::usage);
  ConvolveParams params;
  params.mode = ConvolveMode::sequential;
  EXPECT_EQ(code_of([&] { static_cast<void>(make_cuda_filter(params)); }), ExitCode::usage);
}

}  // namespace
}  // namespace equalux
