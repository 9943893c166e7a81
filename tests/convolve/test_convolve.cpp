#include <functional>
#include <numeric>
#include <random>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "src/cpu/convolve/convolve.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "tests/convolve/reference_convolve.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;
using test::ReferenceKernel;

constexpr std::array<Border, 3> kBorders{Border::replicate, Border::reflect_101, Border::constant};
constexpr std::array<const char*, 7> kNamed{"box-blur",          "gaussian-blur",   "edge",
                                            "emboss-horizontal", "emboss-vertical", "sharpen",
                                            "identity"};

/// Parameters and what they mean.
struct Case {
  ConvolveParams params;
  ReferenceKernel meaning;
};

Case named(const char* name) {
  ConvolveParams params;
  params.kernel = name;
  return {params, test::reference_kernel(name)};
}

Case box(int size) {
  ConvolveParams params;
  params.kernel = "box";
  params.size = size;
  return {params, test::reference_box(size)};
}

/// The weights are the library's own: test_exact_kernel says that they are a Gaussian's.
Case gaussian(int size, double sigma) {
  ConvolveParams params;
  params.kernel = "gaussian";
  params.size = size;
  params.sigma = sigma;
  const ExactKernel kernel = exact_kernel(params);
  return {params, test::reference_gaussian({kernel.row.begin(), kernel.row.end()})};
}

/// Whole weights of -most to most, over 10^places.
Case custom(int size, int most, int places, const char* offset, std::uint32_t seed) {
  std::mt19937 random(seed);
  Case result;
  result.params.kernel = "custom";
  result.params.offset = offset;
  result.meaning.size = size;
  result.meaning.offset = std::stod(offset);
  for (int i = 0; i < places; ++i)
    result.meaning.divisor *= 10;
  for (int i = 0; i < size * size; ++i) {
    const int weight = static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most;
    std::string digits = std::to_string(std::abs(weight));
    digits.insert(0, static_cast<std::size_t>(places) + 1, '0');
    digits.insert(digits.size() - static_cast<std::size_t>(places), ".");
    result.params.weights.push_back((weight < 0 ? "-" : "") + digits);
    result.meaning.weights.push_back(weight);
  }
  return result;
}

std::string text_of(const Case& each, const ImageDesc& desc) {
  return each.params.kernel + " of " + std::to_string(each.meaning.size) + ", " +
         std::string(enum_name(each.params.border)) + ", " + std::string(to_string(desc.format)) +
         " " + std::to_string(desc.width) + "x" + std::to_string(desc.height);
}

struct Memory {
  int padding = 0;
  bool negative = false;
};

/// A frame of noise through the production path, compared with the definition.
void expect_exact(const ConvolveRows& loops, RowExecutor& executor, const Case& each,
                  const ImageDesc& desc, Memory memory = {}) {
  SCOPED_TRACE(std::string(loops.target) + " " + text_of(each, desc));
  PaddedImage in(desc, memory.padding, memory.negative, memory.padding % 7);
  PaddedImage out(desc, memory.padding, memory.negative, (memory.padding + 3) % 5);
  PaddedImage expected(desc);
  test::fill(in.view(), Content::noise, 7);
  test::fill(out.view(), Content::noise, 99);
  const BorderRule border{each.params.border, static_cast<std::uint8_t>(each.params.border_value)};
  test::reference_convolve(each.meaning, border.border, border.value, in.view(), expected.view());
  // Planes behind the first are not the stage's business.
  for (int p = 1; p < traits(desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(desc, p); ++y)
      std::copy_n(out.view().row(p, y), row_bytes(desc, p), expected.view().row(p, y));
  }
  ASSERT_TRUE(violations(each.params, Backend::cpu).empty());
  Convolution convolution(exact_kernel(each.params), border, executor, loops);
  convolution.configure(desc);
  convolution.process(in.view(), out.view());
  EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
  EXPECT_TRUE(in.padding_intact());
  EXPECT_TRUE(out.padding_intact());
}

class ConvolveTest : public testing::TestWithParam<std::size_t> {
 protected:
  const ConvolveRows& loops() const {
    static const std::vector<ConvolveRows> all = all_convolve_rows();
    return all[GetParam()];
  }
  RowExecutor one_{1};
};

TEST_P(ConvolveTest, EveryKernelBorderAndFormat) {
  std::vector<Case> cases{gaussian(5, 1.1), box(5), custom(3, 9000, 3, "3.5", 1)};
  for (const char* name : kNamed)
    cases.push_back(named(name));
  for (Case& each : cases) {
    for (const Border border : kBorders) {
      each.params.border = border;
      each.params.border_value = border == Border::constant ? 77 : 0;
      for (const PixelFormat format :
           {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::bgr, PixelFormat::rgbx,
            PixelFormat::xbgr, PixelFormat::bgra, PixelFormat::argb, PixelFormat::nv12,
            PixelFormat::i420, PixelFormat::y42b, PixelFormat::y444}) {
        expect_exact(loops(), one_, each, {format, 75, 6});
      }
    }
  }
}

TEST_P(ConvolveTest, EverySizeAndStride) {
  const std::vector<std::pair<int, int>> sizes{
      {1, 1},  {2, 3},  {3, 2},  {1, 9},  {9, 1},  {5, 5},   {16, 3},  {21, 4},  {22, 5},
      {48, 2}, {49, 2}, {64, 3}, {65, 3}, {66, 2}, {129, 2}, {193, 2}, {1000, 2}};
  std::vector<Case> cases{named("sharpen"),          named("gaussian-blur"),
                          custom(5, 20, 0, "12", 3), custom(15, 30000, 4, "100", 4),
                          gaussian(31, 5),           box(7)};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const auto& [width, height] : sizes) {
      for (const Memory& memory : {Memory{0, false}, Memory{1, true}, Memory{29, false}}) {
        cases[i].params.border = kBorders[(i + static_cast<std::size_t>(width)) % 3];
        const int step = memory.padding == 0 ? 3 : memory.padding == 1 ? 1 : 4;
        const PixelFormat format = step == 3   ? PixelFormat::bgr
                                   : step == 1 ? PixelFormat::gray8
                                               : PixelFormat::abgr;
        expect_exact(loops(), one_, cases[i], {format, width, height}, memory);
      }
    }
  }
}

/// Sums of 16 bits, of 32 bits with weights of 16 and of more bits, negative and fractional.
TEST_P(ConvolveTest, CustomWeights) {
  for (int size = 1; size <= kMaxCustomKernel; size += 2) {
    const auto seed = static_cast<std::uint32_t>(size);
    for (const Case& each :
         {custom(size, 1, 0, "0", seed), custom(size, 14, 1, "7.25", seed),
          custom(size, 128, 2, "-20", seed), custom(size, 30000, 4, "128", seed),
          custom(size, 36000, 5, "0.5", seed), custom(size, 99, 0, "-1000.5", seed)}) {
      expect_exact(loops(), one_, each, {PixelFormat::bgr, 83, 5});
    }
  }
}

TEST_P(ConvolveTest, LargeWeightsAndEveryKindOfDivisor) {
  for (int divisor = 1; divisor < 400; ++divisor) {
    Case each = custom(3, 12, 0, "0", static_cast<std::uint32_t>(divisor));
    each.params.divisor = std::to_string(divisor);
    each.meaning.divisor = divisor;
    expect_exact(loops(), one_, each, {PixelFormat::gray8, 71, 2});
  }
  for (const int divisor : {509, 4096, 40000, 65535, 65536, 8000000, 8421503, 2147483646}) {
    Case each = custom(1, 1, 0, "0", 1);
    const int weight = (2147483647 - divisor / 2) / 255 - 1;  // as large as sums allow
    each.params.weights = {std::to_string(weight)};
    each.meaning.weights = {double(weight)};
    each.params.divisor = std::to_string(divisor);
    each.meaning.divisor = divisor;
    expect_exact(loops(), one_, each, {PixelFormat::gray8, 771, 2});
  }
}

TEST_P(ConvolveTest, SeparableKernelsOfEverySize) {
  for (int size = 3; size <= kMaxSeparableKernel; size += 2) {
    for (const Case& each : {gaussian(size, 0), gaussian(size, 2.5), gaussian(size, 100),
                             gaussian(size, 0.05), box(size)}) {
      expect_exact(loops(), one_, each, {PixelFormat::bgr, 51, 5});
    }
  }
}

/// Rows are made in batches, columns in strips, of which small frames fill none and wide ones many.
TEST_P(ConvolveTest, SeparableKernelsOfEveryHeightAndOverManyStrips) {
  std::vector<Case> cases{gaussian(3, 0.7), gaussian(7, 1.5), gaussian(17, 2), box(3), box(9)};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (int height = 1; height <= 26; ++height) {
      cases[i].params.border = kBorders[(i + static_cast<std::size_t>(height)) % 3];
      expect_exact(loops(), one_, cases[i], {PixelFormat::bgr, 43, height});
    }
  }
  for (const Case& each : {gaussian(5, 1), gaussian(17, 2), gaussian(31, 4), box(5), box(31)}) {
    expect_exact(loops(), one_, each, {PixelFormat::gray8, 9001, 4}, {27, true});
    expect_exact(loops(), one_, each, {PixelFormat::bgr, 1600, 3});
    expect_exact(loops(), one_, each, {PixelFormat::argb, 1311, 5}, {12, false});
  }
}

/// Strips are cut into bands where threads need more pieces.
TEST_P(ConvolveTest, SeparableKernelsInBands) {
  RowExecutor five(5);
  for (const Case& each : {gaussian(17, 2), gaussian(3, 0), box(15)})
    expect_exact(loops(), five, each, {PixelFormat::bgr, 33, 777});
}

/// Every sum that a box can have, divided.
TEST_P(ConvolveTest, MeansOfBoxesAreRoundedToNearest) {
  for (int size = 3; size <= kMaxSeparableKernel; size += 2) {
    alignas(kConvolveBytes) std::array<std::uint16_t, kConvolveBytes> entering;
    alignas(kConvolveBytes) const std::array<std::uint16_t, kConvolveBytes> leaving{};
    alignas(kConvolveBytes) std::array<std::uint32_t, kConvolveBytes> sums{};
    alignas(kConvolveBytes) std::array<std::uint8_t, kConvolveBytes> means;
    const RowOut to{means.data(), means.size()};
    const int divisor = size * size;
    std::iota(entering.begin(), entering.end(), std::uint16_t{0});
    for (int sum = 0; sum + 63 <= 255 * divisor; sum += 64) {
      loops().box_columns(size, entering.data(), leaving.data(), sums.data(), to);
      for (int i = 0; i < 64; ++i)
        ASSERT_EQ(means[static_cast<std::size_t>(i)], (2 * (sum + i) + divisor) / (2 * divisor));
      entering.fill(64);
    }
  }
}

/// White stays white: sums reach their bounds.
TEST_P(ConvolveTest, FlatFramesStayFlat) {
  for (const Case& each : {named("box-blur"), named("gaussian-blur"), box(31), gaussian(31, 9),
                           gaussian(17, 2), gaussian(5, 1)}) {
    for (const Content content : {Content::white, Content::black}) {
      const ImageDesc desc{PixelFormat::gray8, 333, 3};
      Image in(desc);
      Image out(desc);
      test::fill(in.view(), content);
      test::fill(out.view(), Content::noise);
      Convolution convolution(exact_kernel(each.params), {}, one_, loops());
      convolution.configure(desc);
      convolution.process(in.view(), out.view());
      EXPECT_EQ(test::count_differences(in.view(), out.view()), 0u) << each.params.kernel;
    }
  }
}

/// Frames over 1 MiB with aligned rows are written past the caches; threads share the rows.
TEST_P(ConvolveTest, StreamedFramesOnThreads) {
  RowExecutor three(3);
  for (const int width : {1216, 1203}) {
    for (const Case& each : {named("sharpen"), gaussian(5, 1), box(5), custom(3, 9000, 3, "0", 2)})
      expect_exact(loops(), three, each, {PixelFormat::bgra, width, 300});
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ConvolveTest,
                         testing::Range(std::size_t{0}, all_convolve_rows().size()),
                         [](const auto& info) {
                           return std::string(all_convolve_rows()[info.param].target);
                         });

TEST(ConvolveTargets, AreThoseOfTheOtherChains) {
  const std::vector<ConvolveRows> all = all_convolve_rows();
  const std::vector<FusedRows> fused = all_fused_rows();
  ASSERT_EQ(all.size(), fused.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i].target, fused[i].target);
  EXPECT_EQ(convolve_rows().target, fused_rows().target);
}

TEST(ShortDivision, IsExactForEveryDividend) {
  std::mt19937 random(5);
  for (std::uint32_t k = 1; k <= 1200; ++k) {
    const std::uint32_t divisor = k <= 1000 ? k : static_cast<std::uint32_t>(random() % 65535 + 1);
    const ShortDivision division = short_division(divisor);
    for (std::uint32_t n = 0; n < 32768; ++n) {
      const std::uint32_t high = division.multiplier == 0 ? n : n * division.multiplier >> 16;
      ASSERT_EQ(high >> division.shift, n / divisor) << n << " / " << divisor;
    }
  }
}

TEST(GaussianWeights, AreTrimmedAndSplitWhere16BitsHoldTheRest) {
  for (int size = 3; size <= kMaxSeparableKernel; size += 2) {
    for (const double sigma : {0.05, 0.5, 1.0, 1.7, 2.0, 3.0, 4.5, 9.0, 100.0}) {
      const std::vector<std::int32_t> all = exact_kernel(gaussian(size, sigma).params).row;
      const GaussianWeights weights = gaussian_weights(all);
      ASSERT_EQ(weights.half.size(), static_cast<std::size_t>(weights.radius) + 2);
      ASSERT_EQ(weights.half.back(), 0);
      int rest = kGaussianHalf;
      for (int k = 0; k <= size / 2; ++k) {
        const std::int32_t weight = all[static_cast<std::size_t>(size / 2 + k)];
        ASSERT_EQ(weight, k <= weights.radius ? weights.half[static_cast<std::size_t>(k)] : 0);
        if (k >= weights.small) rest += 2 * 255 * weight;
      }
      ASSERT_LE(rest, 32767);
      ASSERT_TRUE(weights.small % 2 == 1 || weights.small == weights.radius + 1);
      if (weights.radius <= kUnrolledRadius) {
        ASSERT_EQ(weights.small, weights.radius + 1);
      }
    }
  }
}

/// A frame through a filter as a user makes it.
Image filtered(const ConvolveParams& params, const ConstImageView& in, int threads = 1) {
  const auto filter = make_cpu_filter(params, {threads});
  Image out(filter->configure(in.desc));
  test::fill(out.view(), Content::noise, 42);
  FrameContext context;
  filter->submit(in, out.view(), context);
  return out;
}

TEST(ConvolveFilter, ModesAndThreadsGiveTheSameFrame) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::argb,
                                   PixelFormat::nv12, PixelFormat::i420, PixelFormat::y42b}) {
    const ImageDesc desc{format, 101, 67};
    Image in(desc);
    Image expected(desc);
    test::fill(in.view(), Content::natural, 3);
    for (Case each : {named("edge"), gaussian(9, 1.7), box(9), custom(7, 900, 3, "4", 8)}) {
      SCOPED_TRACE(text_of(each, desc));
      test::reference_convolve(each.meaning, Border::replicate, 0, in.view(), expected.view());
      for (const ConvolveMode mode : {ConvolveMode::production, ConvolveMode::sequential}) {
        each.params.mode = mode;
        for (const int threads : {1, 2, 5}) {
          const Image out = filtered(each.params, in.view(), threads);
          EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u)
              << enum_name(mode) << " on " << threads;
        }
      }
    }
  }
}

TEST(ConvolveFilter, SequentialBorders) {
  for (const Border border : kBorders) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {2, 5}, {13, 2}}) {
      const ImageDesc desc{PixelFormat::rgbx, width, height};
      Image in(desc);
      Image expected(desc);
      test::fill(in.view(), Content::noise, 3);
      for (Case each : {gaussian(7, 2), custom(5, 50, 1, "0", 8)}) {
        each.params.border = border;
        each.params.border_value = border == Border::constant ? 200 : 0;
        each.params.mode = ConvolveMode::sequential;
        test::reference_convolve(each.meaning, border, each.params.border_value, in.view(),
                                 expected.view());
        EXPECT_EQ(test::count_differences(expected.view(), filtered(each.params, in.view()).view()),
                  0u)
            << text_of(each, desc);
      }
    }
  }
}

TEST(ConvolveFilter, FramesOfAnotherSizeFollow) {
  const auto filter = make_cpu_filter(named("sharpen").params, {2});
  for (const int width : {300, 20, 700}) {
    const ImageDesc desc{PixelFormat::bgr, width, 9};
    Image in(desc);
    Image out(desc);
    Image expected(desc);
    test::fill(in.view(), Content::noise, 3);
    test::reference_convolve(named("sharpen").meaning, Border::replicate, 0, in.view(),
                             expected.view());
    filter->configure(desc);
    FrameContext context;
    filter->submit(in.view(), out.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
  }
}

ExitCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::done;
}

TEST(ConvolveFilter, RefusesWhatItDoesNotTake) {
  const auto filter = make_cpu_filter(ConvolveParams{});
  EXPECT_FALSE(filter->works_in_place());
  EXPECT_FALSE(filter->accepts(PixelFormat::yuy2));
  EXPECT_FALSE(filter->accepts(PixelFormat::grayf32));
  EXPECT_TRUE(filter->accepts(PixelFormat::y444));
  EXPECT_EQ(code_of([&] { filter->configure({PixelFormat::uyvy, 8, 8}); }), ExitCode::usage);
  const ImageDesc desc{PixelFormat::gray8, 8, 8};
  Image in(desc);
  Image out({PixelFormat::gray8, 8, 9});
  FrameContext context;
  filter->configure(desc);
  EXPECT_EQ(code_of([&] { filter->submit(in.view(), in.view(), context); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { filter->submit(in.view(), out.view(), context); }), ExitCode::usage);
  ConvolveParams params;
  params.mode = ConvolveMode::shared;
  EXPECT_EQ(code_of([&] { static_cast<void>(make_cpu_filter(params)); }), ExitCode::usage);
}

TEST(ConvolveFilter, TellsItsTimes) {
  const ImageDesc desc{PixelFormat::nv12, 8, 8};
  Image in(desc);
  Image out(desc);
  test::fill(in.view(), Content::noise);
  const auto filter = make_cpu_filter(ConvolveParams{});
  filter->configure(desc);
  std::vector<StageTime> times;
  FrameContext context;
  context.timings = &times;
  filter->submit(in.view(), out.view(), context);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].stage, "convolve");
  EXPECT_EQ(times[1].stage, "chroma");
}

}  // namespace
}  // namespace equalux
