#include <cmath>
#include <numeric>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/convolve/exact_kernel.h"

namespace equalux {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ConvolveParams with(std::initializer_list<std::pair<const char*, const char*>> options) {
  ConvolveParams params;
  for (const auto& [key, value] : options)
    set_option(params, key, value);
  return params;
}

std::vector<std::string> broken(std::initializer_list<std::pair<const char*, const char*>> options,
                                Backend backend = Backend::automatic) {
  return violations(with(options), backend);
}

std::string usage_error(const ConvolveParams& start, const char* key, const char* value) {
  ConvolveParams params = start;
  try {
    set_option(params, key, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error for " << key << "=" << value;
  return {};
}

TEST(ExactKernel, NamedKernelsAreThePublishedOnes) {
  struct Row {
    const char* name;
    std::vector<std::int32_t> weights;
    std::int64_t divisor;
    std::int64_t bias;
  };
  const std::vector<Row> rows{
      {"box-blur", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, 4},
      {"gaussian-blur", {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16, 8},
      {"edge", {-1, -1, -1, -1, 8, -1, -1, -1, -1}, 1, 0},
      {"emboss-horizontal", {0, 0, 0, 1, 0, -1, 0, 0, 0}, 1, 128},
      {"emboss-vertical", {0, 1, 0, 0, 0, 0, 0, -1, 0}, 1, 128},
      {"sharpen", {0, -1, 0, -1, 5, -1, 0, -1, 0}, 1, 0},
      {"identity", {0, 0, 0, 0, 1, 0, 0, 0, 0}, 1, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const ExactKernel kernel = exact_kernel(with({{"kernel", row.name}}));
    EXPECT_EQ(kernel.size, 3);
    EXPECT_FALSE(kernel.separable);
    EXPECT_EQ(kernel.weights, row.weights);
    EXPECT_EQ(kernel.divisor, row.divisor);
    EXPECT_EQ(kernel.bias, row.bias);
  }
}

TEST(ExactKernel, DecimalsBecomeWholeNumbersWithoutCommonFactors) {
  const ExactKernel tenth = exact_kernel(with({{"weights", "0.1"}}));
  EXPECT_EQ(tenth.size, 1);
  EXPECT_THAT(tenth.weights, ElementsAre(1));
  EXPECT_EQ(tenth.divisor, 10);
  EXPECT_EQ(tenth.bias, 5);

  const ExactKernel mixed = exact_kernel(with(
      {{"weights", "-.5,+0.25,0,1,2.000,0,-1,0,3.125"}, {"divisor", "2.5"}, {"offset", "1.3"}}));
  EXPECT_EQ(mixed.size, 3);
  EXPECT_THAT(mixed.weights, ElementsAre(-4, 2, 0, 8, 16, 0, -8, 0, 25));
  EXPECT_EQ(mixed.divisor, 20);
  EXPECT_EQ(mixed.bias, 36);  // 1.3 * 20 + 10

  EXPECT_EQ(exact_kernel(with({{"weights", "1"}, {"offset", "-0.5"}})).bias, 0);
  EXPECT_EQ(exact_kernel(with({{"weights", "1"}, {"offset", "-0.6"}})).bias, -1);
  EXPECT_EQ(exact_kernel(with({{"weights", "1"}, {"offset", "-3.500000001"}})).bias, -4);
  EXPECT_EQ(exact_kernel(with({{"kernel", "edge"}, {"offset", "100.25"}})).bias, 100);
  EXPECT_EQ(exact_kernel(with({{"kernel", "emboss-vertical"}, {"offset", "0"}})).bias, 0);
}

TEST(ExactKernel, GaussianWeightsAreTheNearestMultiplesThatSumToOne) {
  for (int size = 3; size <= kMaxSeparableKernel; size += 2) {
    for (const double sigma : {0.0, 0.05, 0.3, 0.8, 1.0, 2.0, 5.0, 13.0, 200.0}) {
      SCOPED_TRACE(std::to_string(size) + " " + std::to_string(sigma));
      ConvolveParams params = with({{"kernel", "gaussian"}});
      params.size = size;
      params.sigma = sigma;
      const ExactKernel kernel = exact_kernel(params);
      EXPECT_TRUE(kernel.separable);
      EXPECT_THAT(kernel.weights, IsEmpty());
      ASSERT_THAT(kernel.row, SizeIs(size));
      EXPECT_EQ(kernel.row, kernel.column);
      EXPECT_EQ(std::accumulate(kernel.row.begin(), kernel.row.end(), 0), 4096);
      EXPECT_THAT(kernel.row, Each(::testing::Ge(0)));
      EXPECT_TRUE(std::equal(kernel.row.begin(), kernel.row.end(), kernel.row.rbegin()));
      EXPECT_EQ(kernel.divisor, 1 << 24);
      EXPECT_EQ(kernel.bias, 1 << 23);
      const double s = sigma > 0 ? sigma : 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
      double sum = 0;
      for (int i = -size / 2; i <= size / 2; ++i)
        sum += std::exp(-i * i / (2 * s * s));
      for (int i = -size / 2; i <= size / 2; ++i) {
        const double exact = 4096 * std::exp(-i * i / (2 * s * s)) / sum;
        EXPECT_NEAR(kernel.row[static_cast<std::size_t>(i + size / 2)], exact, 1.5) << i;
      }
    }
  }
}

TEST(ExactKernel, SizesOfGaussianAndBox) {
  EXPECT_EQ(exact_kernel(with({{"kernel", "gaussian"}})).size, 3);
  EXPECT_EQ(exact_kernel(with({{"kernel", "gaussian"}, {"sigma", "1.2"}})).size, 11);
  EXPECT_EQ(exact_kernel(with({{"kernel", "gaussian"}, {"sigma", "2"}})).size, 17);
  EXPECT_EQ(exact_kernel(with({{"kernel", "gaussian"}, {"sigma", "2"}, {"truncate", "3"}})).size,
            13);
  EXPECT_EQ(exact_kernel(with({{"kernel", "gaussian"}, {"sigma", "0.1"}})).size, 1);
  EXPECT_EQ(exact_kernel(with({{"kernel", "gaussian"}, {"sigma", "9"}, {"size", "7"}})).size, 7);
  const ExactKernel box = exact_kernel(with({{"kernel", "box"}, {"size", "31"}}));
  EXPECT_THAT(box.row, AllOf(SizeIs(31), Each(1)));
  EXPECT_EQ(box.divisor, 961);
  EXPECT_EQ(box.bias, 480);
}

TEST(ConvolveViolations, DefaultsAndNamesHoldOnEveryBackend) {
  for (const Backend backend : {Backend::automatic, Backend::cpu, Backend::cuda}) {
    for (const std::string_view name : spellings(convolve_kernel_list())) {
      if (name == "custom") continue;
      EXPECT_THAT(violations(with({{"kernel", std::string(name).c_str()}}), backend), IsEmpty());
    }
  }
}

TEST(ConvolveViolations, NameWhatIsWrongAndWhatWouldBeRight) {
  const auto one = [](const char* text) { return ElementsAre(HasSubstr(text)); };
  EXPECT_THAT(broken({{"kernel", "sharpn"}}), one("must be sharpen"));
  EXPECT_THAT(broken({{"kernel", "no-such-thing"}}), one("box-blur, gaussian-blur,"));
  EXPECT_THAT(broken({{"kernel", "custom"}}), one("kernel is custom without weights"));
  EXPECT_THAT(broken({{"weights", "1,2"}}), one("n * n numbers with n odd, 1 to 15"));
  EXPECT_THAT(broken({{"weights", "1,2,3,4"}}), one("weights are 4"));
  EXPECT_THAT(broken({{"weights", "1,2,3,4,x,6,7,8,9"}}), one("weights has 'x' as number 5"));
  for (const char* text : {"1e5", "-", ".", "1.2.3", "2147483648", "0.1234567891", "nan"})
    EXPECT_THAT(broken({{"weights", text}}), one("as number 1, must be a decimal with")) << text;
  for (const char* text : {"0", "-1", "x"})
    EXPECT_THAT(broken({{"weights", "1"}, {"divisor", text}}), one("must be a decimal over 0 with"))
        << text;
  EXPECT_THAT(broken({{"weights", "1"}, {"offset", "x"}}), one("offset is 'x'"));
  EXPECT_THAT(broken({{"kernel", "sharpen"}, {"divisor", "2"}}), one("divisor belongs"));
  EXPECT_THAT(broken({{"weights", "1"}, {"kernel", "sharpen"}}), one("weights belongs"));
  EXPECT_THAT(broken({{"kernel", "sharpen"}, {"size", "5"}}), one("size belongs"));
  EXPECT_THAT(broken({{"kernel", "box"}, {"sigma", "2"}}), one("sigma belongs"));
  EXPECT_THAT(broken({{"kernel", "box"}, {"truncate", "2"}}), one("truncate belongs"));
  EXPECT_THAT(broken({{"kernel", "gaussian"}, {"offset", "2"}}), one("offset belongs"));
  for (const char* size : {"-1", "1", "2", "4", "33"})
    EXPECT_THAT(broken({{"kernel", "box"}, {"size", size}}), one("odd, 3 to 31")) << size;
  for (const char* sigma : {"-1", "0.001", "1001", "nan"})
    EXPECT_THAT(broken({{"kernel", "gaussian"}, {"size", "5"}, {"sigma", sigma}}),
                one("0.01 to 1000"))
        << sigma;
  EXPECT_THAT(broken({{"kernel", "gaussian"}, {"sigma", "4"}}), one("takes a kernel of 33"));
  EXPECT_THAT(broken({{"kernel", "gaussian"}, {"truncate", "2"}}), one("must stand with sigma"));
  EXPECT_THAT(broken({{"kernel", "gaussian"}, {"truncate", "2"}, {"sigma", "1"}, {"size", "9"}}),
              one("must stand with sigma and without size"));
  for (const char* truncate : {"0", "-2", "101", "nan"})
    EXPECT_THAT(broken({{"kernel", "gaussian"}, {"sigma", "1"}, {"truncate", truncate}}),
                one("truncate is"))
        << truncate;
  EXPECT_THAT(broken({{"border-value", "3"}}), one("with border constant"));
  EXPECT_THAT(broken({{"border", "constant"}, {"border-value", "256"}}), one("0 to 255"));
  EXPECT_THAT(broken({{"block", "8"}}), one("mode global, constant or shared"));
  EXPECT_THAT(broken({{"mode", "shared"}, {"block", "12"}}), one("8, 16 or 32"));
  ConvolveParams params;
  params.border = static_cast<Border>(9);
  params.mode = static_cast<ConvolveMode>(9);
  EXPECT_THAT(violations(params, Backend::cpu), SizeIs(2));
}

TEST(ConvolveViolations, SumsStayBelowTwoToThe31) {
  // 255 * 8421504 = 2^31 - 128
  EXPECT_THAT(broken({{"weights", "8421504"}}), IsEmpty());
  EXPECT_THAT(broken({{"weights", "8421504"}, {"offset", "127"}}), IsEmpty());
  EXPECT_THAT(broken({{"weights", "8421504"}, {"offset", "128"}}), SizeIs(1));
  EXPECT_THAT(broken({{"weights", "8421505"}}), SizeIs(1));
  EXPECT_THAT(broken({{"weights", "-8421504"}, {"offset", "-127"}}), IsEmpty());
  EXPECT_THAT(broken({{"weights", "-8421504"}, {"offset", "-128"}}), SizeIs(1));
  EXPECT_THAT(broken({{"weights", "0.001234567"}}), IsEmpty());
  EXPECT_THAT(broken({{"weights", "9.123456789"}}), SizeIs(1));
  EXPECT_THAT(broken({{"weights", "0.1"}, {"divisor", "0.000000001"}}), SizeIs(1));
  EXPECT_THAT(broken({{"weights", "1"}, {"divisor", "2147483647"}}), IsEmpty());
  EXPECT_THAT(broken({{"kernel", "edge"}, {"offset", "2147483647"}}), SizeIs(1));
}

TEST(ConvolveViolations, ModesBelongToABackend) {
  for (const char* mode : {"global", "constant", "shared"}) {
    const ConvolveParams params = with({{"mode", mode}, {"block", "32"}});
    EXPECT_TRUE(needs_cuda(params));
    EXPECT_THAT(violations(params, Backend::cpu), ElementsAre(HasSubstr("CUDA backend only")));
    EXPECT_THAT(violations(params, Backend::cuda), IsEmpty());
    EXPECT_THAT(violations(params, Backend::automatic), IsEmpty());
  }
  const ConvolveParams params = with({{"mode", "sequential"}});
  EXPECT_FALSE(needs_cuda(params));
  EXPECT_THAT(violations(params, Backend::cpu), IsEmpty());
  EXPECT_THAT(violations(params, Backend::cuda), ElementsAre(HasSubstr("CPU only")));
}

TEST(ConvolveViolations, Formats) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const ImageDesc desc{static_cast<PixelFormat>(f), 4, 4};
    const bool refused = desc.format == PixelFormat::yuy2 || desc.format == PixelFormat::uyvy ||
                         !has_byte_samples(desc.format);
    EXPECT_EQ(violations(ConvolveParams{}, Backend::cpu, &desc).size(), refused ? 1U : 0U)
        << to_string(desc.format);
  }
}

TEST(ConvolveOptions, ReadsEveryKeyAndNamesWhatWouldBeRight) {
  const ConvolveParams params = with({{"weights", "1,2,3"},
                                      {"divisor", "0.5"},
                                      {"offset", "-3"},
                                      {"size", "5"},
                                      {"sigma", "1.25"},
                                      {"truncate", "3.5"},
                                      {"border", "constant"},
                                      {"border-value", "7"},
                                      {"mode", "shared"},
                                      {"block", "32"}});
  EXPECT_EQ(params.kernel, "custom");
  EXPECT_THAT(params.weights, ElementsAre("1", "2", "3"));
  EXPECT_EQ(params.divisor, "0.5");
  EXPECT_EQ(params.offset, "-3");
  EXPECT_EQ(params.size, 5);
  EXPECT_EQ(params.sigma, 1.25);
  EXPECT_EQ(params.truncate, 3.5);
  EXPECT_EQ(params.border, Border::constant);
  EXPECT_EQ(params.border_value, 7);
  EXPECT_EQ(params.mode, ConvolveMode::shared);
  EXPECT_EQ(params.block, 32);
  EXPECT_THAT(usage_error({}, "border", "mirror"), HasSubstr("replicate, reflect-101 or constant"));
  EXPECT_THAT(usage_error({}, "mode", "fast"), HasSubstr("production, sequential,"));
  EXPECT_THAT(usage_error({}, "size", "3x"), HasSubstr("odd, 3 to 31"));
  EXPECT_THAT(usage_error({}, "sigma", "wide"), HasSubstr("0.01 to 1000"));
  EXPECT_THAT(usage_error({}, "ofset", "1"), HasSubstr("must be offset"));
}

TEST(ConvolveNames, RoundTrip) {
  EXPECT_THAT(enum_names<Border>(), ElementsAre("replicate", "reflect-101", "constant"));
  EXPECT_THAT(enum_names<ConvolveMode>(),
              ElementsAre("production", "sequential", "global", "constant", "shared"));
  EXPECT_EQ(enum_name(Border::reflect_101), "reflect-101");
  EXPECT_EQ(enum_from<ConvolveMode>("sequential"), ConvolveMode::sequential);
  EXPECT_FALSE(enum_from<Border>("reflect"));
}

TEST(BorderIndex, FoldsAnyDistance) {
  for (const int n : {1, 2, 3, 7}) {
    for (int i = -40; i < 40; ++i) {
      const bool inside = i >= 0 && i < n;
      EXPECT_EQ(border_index(i, n, Border::replicate), std::min(std::max(i, 0), n - 1));
      EXPECT_EQ(border_index(i, n, Border::constant), inside ? i : -1);
      int folded = i;
      while (n > 1 && (folded < 0 || folded >= n))
        folded = folded < 0 ? -folded : 2 * (n - 1) - folded;
      EXPECT_EQ(border_index(i, n, Border::reflect_101), n == 1 ? 0 : folded) << i << " of " << n;
    }
  }
}

}  // namespace
}  // namespace equalux
