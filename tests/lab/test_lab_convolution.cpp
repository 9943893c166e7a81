#include <cmath>
#include <set>

#include <equalux/device.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/lab/convolution/kernel.h"
#include "src/lab/convolution/speedup.h"
#include "src/lab/frame_size.h"
#include "tests/lab/lab_fixture.h"
#include "tests/support/media/test_images.h"

/// `equalux lab convolution` without a GPU, and what it is made of.
namespace equalux::test {
namespace {

using cli::lab::FrameSize;
using cli::lab::PivotTable;
using cli::lab::Table;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class LabConvolution : public LabTest {};

TEST_F(LabConvolution, TheCpuIsTimedAndRightAtEverySize) {
  const ProgramResult result =
      measure_bare("convolution", {"--sizes", "33x17,64x48", "--threads", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("convolution");
  const Table rows = table("convolution");
  EXPECT_EQ(rows.fact("sizes"), "33x17, 64x48");
  EXPECT_EQ(rows.fact("kernel"), "sharpen");
  ASSERT_THAT(rows.rows, SizeIs(6));
  std::set<std::string> ways;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    ways.insert(rows.text(i, "size") + " " + rows.text(i, "mode") + " " + rows.text(i, "threads"));
    EXPECT_EQ(rows.text(i, "backend"), "cpu");
    EXPECT_EQ(rows.text(i, "correct"), "yes");
    EXPECT_EQ(rows.text(i, "kernels_ms"), "");
    EXPECT_GT(rows.number(i, "whole_ms"), 0);
  }
  EXPECT_THAT(ways, ElementsAre("33x17 production 1", "33x17 production 2", "33x17 sequential 1",
                                "64x48 production 1", "64x48 production 2", "64x48 sequential 1"));
  EXPECT_THAT(markdown("convolution"), HasSubstr("The GPU's rows are missing"));
  EXPECT_THAT(markdown("convolution"), HasSubstr("## Table 2: speed-up over CPU sequential"));
  EXPECT_THAT(markdown("convolution"), Not(HasSubstr("Table 3:")));
}

TEST_F(LabConvolution, AnImageIsScaledAndAnyKernelRuns) {
  folder_.write("in.ppm", dim_ppm(16, 8));
  const ProgramResult result =
      measure_bare("convolution", {"in.ppm", "--sizes", "20x30", "--kernel",
                                   "gaussian:size=7,border=reflect-101", "--threads", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Table rows = table("convolution");
  EXPECT_THAT(rows.fact("image"), HasSubstr("in.ppm"));
  ASSERT_THAT(rows.rows, SizeIs(2));
  EXPECT_EQ(rows.text(0, "correct"), "yes");
  EXPECT_EQ(rows.text(1, "correct"), "yes");
}

TEST_F(LabConvolution, WithoutAGpuItIsSaid) {
  if (cuda_status().available) GTEST_SKIP() << "a CUDA device answers";
  const ProgramResult result =
      lab({"convolution", "--sizes", "8x8", "--out", "out", "--cell-seconds", "0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cuda is not measured"));
  EXPECT_NE(table("convolution").fact("absent_cuda"), "");
  EXPECT_EQ(lab({"convolution", "--sizes", "8x8", "--backend", "cuda"}).exit_code, 69);
}

TEST_F(LabConvolution, SaysWhatIsWrong) {
  for (const auto& [arguments, says] : {
           std::pair(std::vector<std::string>{"--sizes", "100"}, "--sizes has '100'"),
           std::pair(std::vector<std::string>{"--sizes", "0x5"}, "--sizes has '0x5'"),
           std::pair(std::vector<std::string>{"--sizes", "8x8,"}, "--sizes has ''"),
           std::pair(std::vector<std::string>{"--sizes", "65535x65535"}, "2^31"),
           std::pair(std::vector<std::string>{"--kernel", "sharpn"}, "must be sharpen"),
           std::pair(std::vector<std::string>{"--kernel", "vessel"}, "'vessel' is unknown"),
           std::pair(std::vector<std::string>{"--kernel", "sharpen:mode=global"},
                     "mode, which is what lab convolution varies"),
           std::pair(std::vector<std::string>{"--kernel", "box:size=4"}, "size is 4"),
           std::pair(std::vector<std::string>{"--block", "8,8,1"},
                     "--block is what lab convolution varies"),
       }) {
    std::vector<std::string> all{"convolution", "--backend", "cpu"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramResult result = lab(all);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr(says)));
  }
  EXPECT_THAT(folder_.names(), ElementsAre());
}

/// Round figures of both backends at three sizes: the GPU is twice as slow, as fast, twice as fast.
constexpr const char* kBoth =
    "# equalux lab convolution\n# device: A card\n# cpu: it's\n"
    "size,pixels,backend,mode,block,threads,whole_ms,kernels_ms,calls,correct\n"
    "10x10,100,cpu,sequential,,1,1,,9,yes\n10x10,100,cpu,production,,2,0.5,,9,yes\n"
    "10x10,100,cuda,global,32,,2,0.5,9,yes\n10x10,100,cuda,global,16,,2,0.25,9,yes\n"
    "10x10,100,cuda,production,,,2,0.1,9,yes\n"
    "40x10,400,cpu,sequential,,1,4,,9,yes\n40x10,400,cpu,production,,2,2,,9,yes\n"
    "40x10,400,cuda,global,32,,1,0.5,9,yes\n40x10,400,cuda,global,16,,3,0.25,9,no\n"
    "40x10,400,cuda,production,,,1,0.1,9,yes\n";

TEST_F(LabConvolution, TablesOfAnotherMachine) {
  folder_.write("out/convolution.csv", kBoth);
  const ProgramResult result = lab({"plot", "out/convolution.csv"});
  EXPECT_EQ(result.exit_code, have_gnuplot() ? 0 : 69) << result.err;
  expect_results("convolution");
  const std::string text = markdown("convolution");
  // Means over the blocks, then each block's own.
  EXPECT_THAT(text, HasSubstr("| 40x10 | 4 | 2 | 2 | 1 |"));
  EXPECT_THAT(text, HasSubstr("## Table 3: whole call with block 32x32, ms\n\n"
                              "| size | GPU global |\n|---|---:|\n| 10x10 | 2 |\n| 40x10 | 1 |\n"));
  EXPECT_THAT(text, HasSubstr("## Table 6: speed-up with block 16x16\n\n"
                              "| size | GPU global |\n|---|---:|\n| 10x10 | 0.5 |\n"));
  EXPECT_THAT(text, HasSubstr("## Table 8: speed-up with block 8x8"));
  // From half to twice as fast: as fast in the middle of the logarithms of 100 and 400.
  EXPECT_THAT(text, HasSubstr("| GPU global | from about 0.0002 megapixels, between 10x10 and "
                              "40x10 | at no size |"));
  EXPECT_THAT(text, HasSubstr("9 of 10 results have the bytes"));
}

TEST_F(LabConvolution, ABrokenSizeIsOneLine) {
  folder_.write("c.csv",
                "# equalux lab convolution\n"
                "size,pixels,backend,mode,block,threads,whole_ms,kernels_ms,calls,correct\n"
                "large,100,cpu,sequential,,1,1,,9,yes\n");
  const ProgramResult result = lab({"plot", "c.csv"});
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("c.csv: size 'large'")));
}

PivotTable two_ways(const std::vector<std::pair<std::string, std::string>>& times) {
  PivotTable table{"size", {}, {"a", "b"}, {}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    table.rows.push_back(std::to_string(1 << i) + "x1");
    table.values.push_back({times[i].first, times[i].second});
  }
  return table;
}

TEST(Overtaking, IsSaidAsItIs) {
  using cli::lab::overtaking_size;
  EXPECT_EQ(overtaking_size(two_ways({{"1", "2"}, {"1", "2"}}), "a", "b"), "at every size");
  EXPECT_EQ(overtaking_size(two_ways({{"2", "1"}, {"1", "1"}}), "a", "b"), "at no size");
  EXPECT_EQ(overtaking_size(two_ways({{"1", "2"}, {"2", "1"}}), "a", "b"), "only at 1x1");
  EXPECT_EQ(overtaking_size(two_ways({{"1", "2"}, {"2", "1"}, {"1", "4"}}), "a", "b"),
            "from about 2.52e-06 megapixels, between 2x1 and 4x1");  // 2 · 2^(1/3) pixels
  EXPECT_EQ(overtaking_size(two_ways({{"", "2"}, {"1", ""}}), "a", "b"), "");
  EXPECT_EQ(overtaking_size(two_ways({{"1", "2"}}), "a", "c"), "");
}

TEST(SpeedupTable, DividesWhatIsThere) {
  const PivotTable speedups = cli::lab::speedup_table(two_ways({{"1", "4"}, {"", "2"}}), "b");
  EXPECT_THAT(speedups.columns, ElementsAre("a"));
  EXPECT_THAT(speedups.values, ElementsAre(ElementsAre("4"), ElementsAre("")));
}

TEST(Scaled, KeepsItselfAndFlatImages) {
  Image noise({PixelFormat::bgr, 9, 7});
  fill(noise.view(), Content::noise);
  const Image same = cli::lab::scaled(noise.view(), {9, 7});
  EXPECT_EQ(count_differences(noise.view(), same.view()), 0U);
  Image flat({PixelFormat::bgra, 3, 2});
  for (int y = 0; y < 2; ++y)
    std::fill_n(flat.view().row(0, y), 12, std::uint8_t{77});
  const Image large = cli::lab::scaled(flat.view(), {31, 17});
  for (int y = 0; y < 17; ++y) {
    for (int x = 0; x < 31 * 4; ++x)
      ASSERT_EQ(large.view().row(0, y)[x], 77);
  }
  Image steps({PixelFormat::gray8, 2, 1});
  steps.view().row(0, 0)[0] = 0;
  steps.view().row(0, 0)[1] = 100;
  const Image four = cli::lab::scaled(steps.view(), {4, 1});
  EXPECT_THAT(std::vector<int>(four.view().row(0, 0), four.view().row(0, 0) + 4),
              ElementsAre(0, 25, 75, 100));
}

TEST(ReadKernel, IsWhatTheFilterIs) {
  EXPECT_EQ(cli::lab::read_kernel("box:size=5").kernel, "box");
  EXPECT_EQ(cli::lab::read_kernel("box:size=5").size, 5);
  EXPECT_EQ(cli::lab::read_kernel("convolve:weights=0,0,0,0,2,0,0,0,0,divisor=2").kernel, "custom");
  EXPECT_THROW(static_cast<void>(cli::lab::read_kernel("box:sigma=5")), Error);
}

}  // namespace
}  // namespace equalux::test
