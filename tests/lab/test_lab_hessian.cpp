#include <map>
#include <set>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/float_difference.h"
#include "src/lab/convolution/kernel.h"
#include "src/lab/hessian/pictures.h"
#include "src/lab/hessian/plain_hessian.h"
#include "tests/lab/lab_fixture.h"
#include "tests/support/media/test_images.h"

/// `equalux lab hessian` and `lab vessel` without a GPU, and what they are made of.
namespace equalux::test {
namespace {

using cli::lab::Table;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

class LabHessian : public LabTest {};

TEST_F(LabHessian, EveryWayOfTheCpuIsTimedAndRight) {
  const ProgramResult result =
      measure_bare("hessian", {"--sizes", "40x30,33x61", "--images", "2", "--threads", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("hessian");
  const Table rows = table("hessian");
  std::map<std::string, std::set<std::string>> steps;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const std::string& way = rows.text(i, "way");
    steps[way + " " + rows.text(i, "threads")].insert(rows.text(i, "step"));
    EXPECT_EQ(rows.text(i, "backend"), "cpu");
    EXPECT_GE(rows.number(i, "ms"), 0);
    if (way == "sequential" || way == "production") {
      EXPECT_EQ(rows.text(i, "worst_difference"), "0") << way;
    } else {
      EXPECT_EQ(rows.text(i, "worst_difference"), "") << way;
    }
  }
  EXPECT_THAT(steps["sequential 1"], ElementsAre("derivatives", "eigenvalues", "whole"));
  EXPECT_THAT(steps["production 1"], ElementsAre("whole"));
  EXPECT_THAT(steps["production 2"], ElementsAre("whole"));
#if defined(EQUALUX_HAVE_OPENCV)
  EXPECT_THAT(steps["opencv 2"], ElementsAre("derivatives", "eigenvalues", "smoothing", "whole"));
  EXPECT_THAT(steps["opencv-corner 1"], ElementsAre("whole"));
#else
  EXPECT_THAT(steps, SizeIs(3));
  EXPECT_NE(rows.fact("absent_opencv"), "");
#endif
  EXPECT_THAT(markdown("hessian"), HasSubstr("The GPU's rows are missing"));
  EXPECT_THAT(markdown("hessian"), HasSubstr("## Steps at 33x61"));
}

TEST_F(LabHessian, AUsersImageAndKeys) {
  folder_.write("in.ppm", dim_ppm(16, 8));
  const ProgramResult result =
      measure_bare("hessian", {"in.ppm", "--sizes", "64x32", "--images", "3", "--threads", "1",
                               "--eigenvalues", "sigma=1.5,derivative=gradient,channel=luma"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Table rows = table("hessian");
  EXPECT_THAT(rows.fact("image"), HasSubstr("in.ppm"));
  EXPECT_THAT(rows.fact("samples"), HasSubstr("luma"));
  EXPECT_EQ(rows.fact("eigenvalues"), "sigma=1.5,derivative=gradient,channel=luma");
  EXPECT_EQ(rows.text(rows.rows.size() - 1, "picture"), "3");
}

TEST_F(LabHessian, WithoutAGpuItIsSaid) {
  if (cuda_status().available) GTEST_SKIP() << "a CUDA device answers";
  for (const char* experiment : {"hessian", "vessel"}) {
    const std::vector<std::string> small{experiment, "--sizes", "8x8", "--images", "1"};
    std::vector<std::string> arguments = small;
    arguments.insert(arguments.end(), {"--out", "out"});
    const ProgramResult result = lab(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("cuda is not measured"));
    arguments = small;
    arguments.insert(arguments.end(), {"--backend", "cuda"});
    EXPECT_EQ(lab(arguments).exit_code, 69);
  }
}

TEST_F(LabHessian, SaysWhatIsWrong) {
  for (const auto& [arguments, says] : {
           std::pair(std::vector<std::string>{"hessian", "--eigenvalues", "sigma=99"},
                     "sigma is 99"),
           std::pair(std::vector<std::string>{"hessian", "--eigenvalues", "sigmas=2"}, "sigmas"),
           std::pair(std::vector<std::string>{"vessel", "--vessel", "output=heat"},
                     "--vessel has output"),
           std::pair(std::vector<std::string>{"vessel", "--vessel", "low=2,high=1"}, "low"),
           std::pair(std::vector<std::string>{"vessel", "--images", "0"}, "--images"),
           std::pair(std::vector<std::string>{"vessel", "--sizes", "a"}, "--sizes has 'a'"),
       }) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--backend", "cpu"});
    const ProgramResult result = lab(all);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr(says)));
  }
  EXPECT_THAT(folder_.names(), ElementsAre());
}

/// Round figures of another machine: the GPU's ways beside the CPU's program.
constexpr const char* kOfAnotherMachine =
    "# equalux lab hessian\n# device: A card\n# cpu: it's\n"
    "size,picture,backend,way,threads,step,ms,calls,worst_difference\n"
    "20x10,1,cpu,sequential,1,whole,10,3,0\n20x10,1,cpu,sequential,1,derivatives,8,3,0\n"
    "20x10,1,cpu,sequential,1,eigenvalues,2,3,0\n"
    "20x10,1,cuda,shared,,whole,2,3,0.5\n20x10,1,cuda,shared,,upload,0.25,3,0.5\n"
    "20x10,1,cuda,shared,,derivatives,0.25,3,0.5\n20x10,1,cuda,shared,,eigenvalues,0.5,3,0.5\n"
    "20x10,1,cuda,shared,,download,1,3,0.5\n"
    "20x10,2,cpu,sequential,1,whole,12,3,0\n20x10,2,cuda,shared,,whole,3,3,0.25\n"
    "20x10,1,cuda,cusolver-syevd,,whole,5,3,\n";

TEST_F(LabHessian, TablesOfAnotherMachine) {
  folder_.write("out/hessian.csv", kOfAnotherMachine);
  const ProgramResult result = lab({"plot", "out/hessian.csv"});
  EXPECT_EQ(result.exit_code, have_gnuplot() ? 0 : 69) << result.err;
  expect_results("hessian");
  const std::string text = markdown("hessian");
  EXPECT_THAT(text, HasSubstr("## Table 3: the same as speed-up over CPU sequential\n\n"
                              "| size | GPU shared |\n|---|---:|\n| 20x10 | 4 |"));
  // Of 10 / 2 and 12 / 3 the upper; the peer has one picture.
  EXPECT_THAT(text, HasSubstr("## Table 4: the same as speed-up over CPU sequential\n\n"
                              "| size | GPU shared | GPU cusolver-syevd |\n|---|---:|---:|\n"
                              "| 20x10 | 5 | 2 |"));
  EXPECT_THAT(text,
              HasSubstr("| GPU shared | 0.25 (13 %) | 0.25 (13 %) | 0.5 (25 %) | 1 (50 %) |"));
  EXPECT_THAT(text, HasSubstr("| GPU shared | 0.5 |"));
  EXPECT_THAT(text, Not(HasSubstr("rows are missing")));
}

TEST_F(LabHessian, ACsvThatAKillCutShortIsStillDrawn) {
  const std::string whole(kOfAnotherMachine);
  const std::size_t head = whole.find("20x10,1");
  folder_.write("out/hessian.csv", whole.substr(0, whole.find('\n', head) + 1));
  EXPECT_EQ(lab({"plot", "out/hessian.csv"}).exit_code, have_gnuplot() ? 0 : 69);
  folder_.write("out/vessel.csv",
                "# equalux lab vessel\n"
                "size,picture,backend,threads,whole_ms,kernels_ms,calls,correct,vessel_percent\n"
                "20x10,1,cuda,,2,1,3,yes,5\n");
  EXPECT_EQ(lab({"plot", "out/vessel.csv"}).exit_code, have_gnuplot() ? 0 : 69);
  expect_results("vessel");
}

TEST_F(LabHessian, VesselsAreFoundInTheEyesThatItDraws) {
  const ProgramResult result =
      measure_bare("vessel", {"--sizes", "300x260,200x160", "--images", "2", "--threads", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("vessel");
  const Table rows = table("vessel");
  ASSERT_THAT(rows.rows, SizeIs(2 * 2 * 2));
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    EXPECT_EQ(rows.text(i, "correct"), "yes");
    EXPECT_GT(rows.number(i, "whole_ms"), 0);
    EXPECT_GT(rows.number(i, "vessel_percent"), 2);
    EXPECT_LT(rows.number(i, "vessel_percent"), 30);
  }
  EXPECT_THAT(markdown("vessel"), HasSubstr("## Table 5: speed-up over CPU, 1 thread"));
}

TEST(PlainHessian, GivesTheFiltersValues) {
  for (const HessianDerivative derivative :
       {HessianDerivative::gaussian, HessianDerivative::gradient,
        HessianDerivative::sobel_laplacian}) {
    for (const auto& [width, height] :
         {std::pair(1, 1), std::pair(1, 9), std::pair(70, 3), std::pair(301, 47)}) {
      HessianParams params;
      params.derivative = derivative;
      if (derivative != HessianDerivative::sobel_laplacian) params.sigma = 3;
      Image image({PixelFormat::gray8, width, height});
      fill(image.view(), Content::noise);
      const auto filter = make_cpu_filter(params);
      Image expected(filter->configure(image.desc()));
      FrameContext context;
      filter->submit(image.view(), expected.view(), context);
      Image result(expected.desc());
      cli::lab::PlainHessian(params, static_cast<std::size_t>(width * height))
          .run(image.view(), result.view());
      EXPECT_EQ(worst_difference(result.view(), expected.view()), 0.0f) << width << "x" << height;
    }
  }
}

TEST(WorstDifference, SeesTheLargestAndNotANumber) {
  Image a({PixelFormat::grayf32, 3, 2});
  Image b({PixelFormat::grayf32, 3, 2});
  for (Image* image : {&a, &b}) {
    for (int y = 0; y < 2; ++y)
      std::fill_n(reinterpret_cast<float*>(image->view().row(0, y)), 3, 1.0f);
  }
  EXPECT_EQ(worst_difference(a.view(), b.view()), 0.0f);
  reinterpret_cast<float*>(b.view().row(0, 1))[2] = -0.5f;
  EXPECT_EQ(worst_difference(a.view(), b.view()), 1.5f);
  reinterpret_cast<float*>(b.view().row(0, 0))[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(worst_difference(a.view(), b.view()), std::numeric_limits<float>::infinity());
}

TEST(Fundus, IsTheSameForASeedAndDarkInItsCorners) {
  const Image one = cli::lab::fundus_image({211, 160}, 1);
  const Image again = cli::lab::fundus_image({211, 160}, 1);
  const Image other = cli::lab::fundus_image({211, 160}, 2);
  EXPECT_EQ(count_differences(one.view(), again.view()), 0U);
  EXPECT_GT(count_differences(one.view(), other.view()), 10000U);
  EXPECT_LT(one.view().row(0, 0)[2], 20);
  EXPECT_GT(one.view().row(0, 80)[3 * 105 + 2], 80);
  for (const cli::lab::FrameSize size : {cli::lab::FrameSize{1, 1}, {1, 50}, {3, 2}})
    EXPECT_EQ(cli::lab::fundus_image(size, 1).desc().width, size.width);
}

TEST(ChannelOf, IsWhatTheFiltersRead) {
  Image image({PixelFormat::bgra, 5, 4});
  fill(image.view(), Content::noise);
  for (const HessianChannel channel : {HessianChannel::luma, HessianChannel::green}) {
    HessianParams params;
    params.channel = channel;
    const auto filter = make_cpu_filter(params);
    Image expected(filter->configure(image.desc()));
    FrameContext context;
    filter->submit(image.view(), expected.view(), context);
    const Image gray = cli::lab::channel_of(image.view(), channel);
    Image result(filter->configure(gray.desc()));
    filter->submit(gray.view(), result.view(), context);
    EXPECT_EQ(worst_difference(result.view(), expected.view()), 0.0f);
  }
}

TEST(ReadKeys, ChannelIsGreenUnlessSet) {
  EXPECT_EQ(cli::lab::read_hessian("sigma=4").channel, HessianChannel::green);
  EXPECT_EQ(cli::lab::read_hessian("channel=red").channel, HessianChannel::red);
  EXPECT_THAT(cli::lab::read_vessel("sigmas=2,3.5").sigmas, ElementsAre(2, 3.5));
  EXPECT_THROW(static_cast<void>(cli::lab::read_vessel("block=8")), Error);
}

}  // namespace
}  // namespace equalux::test
