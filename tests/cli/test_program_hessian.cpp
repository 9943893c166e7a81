#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program_test.h"

/// `eigenvalues`, `vessel` and `shapes` as a user meets them.
namespace equalux::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HessianCommand : public ProgramTest {
 protected:
  HessianCommand() { folder_.write("in.ppm", noisy_ppm(61, 43)); }
  ProgramResult image(const std::string& out, const std::string& filter) {
    return run_program({"image", "in.ppm", out, "-y", "--backend", "cpu", "--filter", filter},
                       options_);
  }
  /// A P6 picture of seeded noise.
  static std::string noisy_ppm(int width, int height) {
    std::string text = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
    std::uint32_t state = 1;
    for (int i = 0; i < 3 * width * height; ++i) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(state >> 24);
    }
    return text;
  }
};

TEST_F(HessianCommand, EigenvaluesGoIntoArraysAndTiffs) {
  EXPECT_EQ(image("out.npy", "eigenvalues:sigma=2,channel=green").exit_code, 0);
  const std::string npy = folder_.read("out.npy");
  EXPECT_THAT(npy.substr(0, 128), HasSubstr("(2, 43, 61)"));
  EXPECT_EQ(npy.size(), 128u + 2 * 43 * 61 * 4);
  EXPECT_EQ(image("out.tif", "eigenvalues").exit_code, 0);
  EXPECT_THAT(folder_.names(), ElementsAre("in.ppm", "out.npy", "out.tif"));
}

TEST_F(HessianCommand, MasksOverlaysAndClassesArePictures) {
  for (const char* filter :
       {"vessel:sigmas=1,2,channel=green", "vessel:output=overlay",
        "vessel:output=heat,measure=frangi", "shapes", "shapes:output=classes,sigma=1"}) {
    EXPECT_EQ(image("out.ppm", filter).exit_code, 0) << filter;
    EXPECT_EQ(folder_.read("out.ppm").size(), folder_.read("in.ppm").size()) << filter;
  }
}

TEST_F(HessianCommand, MistakesAreOneLineAndExitCodeTwo) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"eigenvalues", "out.ppm: the result is grayf32x2, floats that no picture holds"},
      {"eigenvalues:sigma=0.1", "sigma is 0.1, must be 0.5 to 16"},
      {"eigenvalues:sigma=two", "sigma is 'two', must be a number"},
      {"eigenvalues:sigmas=2", "eigenvalues has no key 'sigmas', must be sigma"},
      {"vessel:polarity=black", "polarity is 'black', must be dark or bright"},
      {"vessel:low=0.3,high=0.2", "low is 0.3, must be at most high, which is 0.2"},
      {"vessels", "is unknown, must be vessel"},
      {"shapes:line-ratio=0.9", "line-ratio is 0.9, must be at most blob-ratio"}};
  for (const auto& [filter, line] : cases) {
    const ProgramResult result = image("out.ppm", filter);
    EXPECT_EQ(result.exit_code, 2) << filter;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr(line)));
  }
  const ProgramResult folder =
      run_program({"image", "in.ppm", "--out", "results", "--filter", "eigenvalues"}, options_);
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(lines_of(folder.err),
              ElementsAre(HasSubstr("results keep their names with --out; filter one still, ")));
  const ProgramResult result = image("out.npy", "vessel");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("name it .ppm or .png")));
  EXPECT_THAT(folder_.names(), ElementsAre("in.ppm"));
}

TEST_F(HessianCommand, VideoAndChainsOfFiltersWork) {
  folder_.write("in.y4m", dim_y4m(64, 48, 3));
  const ProgramResult result =
      run_program({"run", "in.y4m", "-o", "out.y4m", "--backend", "cpu", "--filter", "equalize",
                   "--filter", "vessel:output=overlay,sigmas=1,2"},
                  options_);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("3 in, 3 out"));
  EXPECT_GT(folder_.read("out.y4m").size(), 3u * 64 * 48 * 3 / 2);
  const ProgramResult arrays = run_program(
      {"run", "in.y4m", "-o", "e%02d.npy", "--backend", "cpu", "--filter", "eigenvalues"},
      options_);
  EXPECT_EQ(arrays.exit_code, 0) << arrays.err;
  EXPECT_EQ(folder_.read("e02.npy").size(), 128u + 2 * 48 * 64 * 4);
}

/// Compares out.npy with scipy's gaussian_filter of the green channel; prints the largest error
/// over the largest magnitude.
constexpr const char* kCompare = R"(
import sys
import numpy as np
from scipy.ndimage import gaussian_filter
sigma = float(sys.argv[1])
found = np.load('out.npy')
data = open('in.ppm', 'rb').read()
pixels = np.frombuffer(data[-61 * 43 * 3:], np.uint8).reshape(43, 61, 3)
green = pixels[..., 1].astype(np.float64)
xx, xy, yy = (sigma ** 2 * gaussian_filter(green, sigma, order, mode='nearest')
              for order in ((0, 2), (1, 1), (2, 0)))
root = np.sqrt(((xx - yy) / 2) ** 2 + xy ** 2)
expected = np.stack([(xx + yy) / 2 - root, (xx + yy) / 2 + root])
largest = np.abs(expected).max()
assert found.shape == expected.shape and found.dtype == np.float32
assert (np.abs(found[0]) <= np.abs(found[1])).all()
error = np.abs(np.sort(found, 0) - expected).max() / largest
print('largest error over largest magnitude', error)
sys.exit(0 if error <= 1e-5 else 1)
)";

TEST_F(HessianCommand, EigenvaluesAreThoseOfScipy) {
  if (std::system("/usr/bin/python3 -c 'import scipy.ndimage' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3-scipy is not installed";
  }
  folder_.write("compare.py", kCompare);
  for (const char* sigma : {"0.5", "1.3", "2", "5"}) {
    ASSERT_EQ(image("out.npy", std::string("eigenvalues:channel=green,sigma=") + sigma).exit_code,
              0);
    const std::string command =
        "cd '" + folder_.path().string() + "' && /usr/bin/python3 compare.py " + sigma;
    EXPECT_EQ(std::system(command.c_str()), 0) << "sigma " << sigma;
  }
}

}  // namespace
}  // namespace equalux::test
