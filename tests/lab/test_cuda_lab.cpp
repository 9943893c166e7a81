#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/lab/lab.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/program.h"

/// `equalux lab` on a GPU: each experiment small, and whether its figures can be true.
namespace equalux::test {
namespace {

using cli::lab::Table;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class CudaLab : public DeviceTest {
 protected:
  Table measure(const std::string& experiment, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"lab",   experiment, "test:120x80", "--backend", "cuda",
                                       "--out", "out",      "--repeat",    "3",         "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramOptions options;
    options.folder = folder_.path();
    options.timeout_s = 300;
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(folder_.read("out/" + experiment + ".md").empty());
    Table table = cli::lab::read_table(folder_ / ("out/" + experiment + ".csv"));
    EXPECT_FALSE(table.rows.empty());
    return table;
  }

  static std::vector<std::string> column(const Table& table, const std::string& name) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      cells.push_back(table.text(i, name));
    return cells;
  }
  static std::set<std::string> kinds(const Table& table, const std::string& name) {
    const auto cells = column(table, name);
    return {cells.begin(), cells.end()};
  }
  static void expect_positive(const Table& table, const std::string& name) {
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      EXPECT_GT(table.number(i, name), 0) << name << " of row " << i;
  }

  TempFolder folder_;
};

TEST_F(CudaLab, Sweep) {
  const Table sweep = measure("sweep");
  EXPECT_NE(sweep.fact("device"), "");
  EXPECT_NE(sweep.fact("compute_capability"), "");
  EXPECT_THAT(sweep.rows, SizeIs(30));
  EXPECT_THAT(column(sweep, "same_bytes"), Each(std::string("yes")));
  expect_positive(sweep, "kernels_ms");
  for (std::size_t i = 0; i < sweep.rows.size(); ++i)
    EXPECT_GE(sweep.number(i, "calls"), 1);
  // One thread does all the work in the first cell; no card makes up for that.
  EXPECT_GT(sweep.number(0, "kernels_ms"), 4 * sweep.number(29, "kernels_ms"));
  EXPECT_GT(sweep.number(0, "whole_ms"), sweep.number(0, "kernels_ms"));
}

TEST_F(CudaLab, Threads) {
  const Table threads = measure("threads");
  EXPECT_THAT(column(threads, "same_bytes"), Each(std::string("yes")));
  EXPECT_GT(threads.fact_number("cpu_mean_ms"), 0);
  EXPECT_NEAR(threads.fact_number("log2_pixels"), 13.23, 0.01);
  EXPECT_EQ(threads.text(0, "log2_threads"), "0");
  EXPECT_EQ(threads.text(threads.rows.size() - 1, "log2_threads"), "15");
  expect_positive(threads, "whole_ms");
}

TEST_F(CudaLab, Scans) {
  const Table scans = measure("scans", {"--cell-seconds", "0.05"});
  EXPECT_THAT(column(scans, "correct"), Each(std::string("yes")));
  EXPECT_THAT(kinds(scans, "variant"), SizeIs(8));
  EXPECT_THAT(kinds(scans, "geometry"),
              UnorderedElementsAre("chosen", "8x8x1 blocks of 8x4x1", "8x1x1 blocks of 8x8x4"));
  EXPECT_THAT(kinds(scans, "n"), SizeIs(21));
  EXPECT_THAT(scans.rows, SizeIs(8 * 21 + 16));
  expect_positive(scans, "us");
}

TEST_F(CudaLab, Stages) {
  const Table stages = measure("stages");
  EXPECT_THAT(column(stages, "stage"), ElementsAre("upload", "rgb_to_hsv", "histogram", "cdf_scan",
                                                   "equalize", "hsv_to_rgb", "download"));
  EXPECT_THAT(column(stages, "calls"), Each(std::string("3")));
  // Between a slow laptop's and the fastest card's.
  EXPECT_GT(stages.fact_number("copy_gb_s"), 5);
  EXPECT_LT(stages.fact_number("copy_gb_s"), 20000);
  EXPECT_GT(stages.fact_number("upload_gb_s"), 0.5);
  expect_positive(stages, "mean_us");
  const Table fused = measure("stages", {"--chain", "fused"});
  EXPECT_THAT(column(fused, "stage"), ElementsAre("upload", "fused", "download"));
}

TEST_F(CudaLab, Access) {
  const Table access = measure("access", {"--cell-seconds", "0.02"});
  EXPECT_THAT(column(access, "correct"), Each(std::string("yes")));
  EXPECT_THAT(kinds(access, "variant"), SizeIs(2));
  EXPECT_THAT(access.rows, SizeIs(2 * (1 + 4 * 5 * 4)));
  EXPECT_EQ(access.text(0, "geometry"), "report");
  expect_positive(access, "us");
}

TEST_F(CudaLab, Histograms) {
  const Table histograms = measure("histograms", {"--cell-seconds", "0.02"});
  EXPECT_THAT(column(histograms, "correct"), Each(std::string("yes")));
  EXPECT_THAT(histograms.rows, SizeIs(3 * 2 * 13));
  expect_positive(histograms, "us");
}

TEST_F(CudaLab, ScalersAndHashesAreTheCpus) {
  const Table on_gpu = measure("scalers");
  EXPECT_EQ(on_gpu.fact("backend"), "cuda");
  const Table on_cpu = measure("scalers", {"--backend", "cpu"});
  EXPECT_EQ(on_gpu.rows, on_cpu.rows);

  const Table hashes = measure("hashes", {"--backend", "auto"});
  ASSERT_THAT(hashes.rows, SizeIs(12));
  std::map<std::string, std::set<std::string>> of;
  for (std::size_t i = 0; i < hashes.rows.size(); ++i)
    of[hashes.text(i, "chain") + hashes.text(i, "scaler")].insert(hashes.text(i, "md5"));
  EXPECT_THAT(of, SizeIs(6));
  for (const auto& [what, sums] : of)
    EXPECT_THAT(sums, SizeIs(1)) << what;
}

TEST_F(CudaLab, Load) {
  const Table load = measure("load", {"--call-ms", "100"});
  EXPECT_THAT(kinds(load, "backend"), ElementsAre("cuda"));
  EXPECT_THAT(kinds(load, "call"), ElementsAre("0", "1", "2", "3"));
  if (load.has_column("gpu_percent")) {
    for (std::size_t i = 0; i < load.rows.size(); ++i) {
      if (load.text(i, "gpu_percent").empty()) continue;  // the library did not answer
      EXPECT_LE(load.number(i, "gpu_percent"), 100);
    }
  } else {
    EXPECT_NE(load.fact("absent_gpu_percent"), "");
  }
}

TEST_F(CudaLab, TimelineKeepsTheOrderOfItsLanes) {
  const Table timeline = measure("timeline", {"--frames", "8"});
  ASSERT_THAT(timeline.rows, SizeIs(24));
  EXPECT_EQ(timeline.number(0, "begin_us"), 0);
  std::map<std::string, double> end;
  for (std::size_t i = 0; i < 24; i += 3) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string& lane = timeline.text(i + k, "lane");
      EXPECT_GE(timeline.number(i + k, "begin_us"), end[lane]);  // a stream does one at a time
      EXPECT_GT(timeline.number(i + k, "end_us"), timeline.number(i + k, "begin_us"));
      end[lane] = timeline.number(i + k, "end_us");
      if (k > 0) {
        EXPECT_GE(timeline.number(i + k, "begin_us"), timeline.number(i + k - 1, "end_us"));
      }
    }
  }
}

TEST_F(CudaLab, Convolution) {
  const Table rows =
      measure("convolution", {"--backend", "auto", "--sizes", "100x100,333x65", "--threads", "1"});
  ASSERT_THAT(rows.rows, SizeIs(2 * (2 + 3 * 3 + 1)));
  EXPECT_THAT(column(rows, "correct"), Each(std::string("yes")));
  EXPECT_THAT(kinds(rows, "block"), UnorderedElementsAre("", "8", "16", "32"));
  expect_positive(rows, "whole_ms");
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    if (rows.text(i, "backend") != "cuda") continue;
    EXPECT_GT(rows.number(i, "kernels_ms"), 0);
    EXPECT_GT(rows.number(i, "whole_ms"), rows.number(i, "kernels_ms"));
  }
  EXPECT_THAT(folder_.read("out/convolution.md"), HasSubstr("Where the GPU overtakes the CPU"));
}

TEST_F(CudaLab, ConvolutionWithALargeKernelOnTheGpuAlone) {
  const Table rows = measure("convolution", {"--sizes", "70x40", "--kernel", "gaussian:sigma=2.5"});
  ASSERT_THAT(rows.rows, SizeIs(3 * 3 + 1));
  EXPECT_THAT(column(rows, "correct"), Each(std::string("yes")));
}

TEST_F(CudaLab, Hessian) {
  const Table rows = measure("hessian", {"--backend", "auto", "--sizes", "97x61", "--images", "2"});
  std::set<std::string> steps;
  std::set<std::string> ways;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    if (rows.text(i, "backend") != "cuda") continue;
    ways.insert(rows.text(i, "way"));
    steps.insert(rows.text(i, "step"));
    EXPECT_GT(rows.number(i, "ms"), 0);
    // cuSOLVER iterates.
    const double most = rows.text(i, "way") == "cusolver-syevd" ? 0.01 : 0;
    EXPECT_LE(rows.number(i, "worst_difference"), most) << rows.text(i, "way");
  }
  EXPECT_THAT(ways, IsSupersetOf({"production", "per-value-global", "per-pixel-global", "shared",
                                  "shared-one-warp"}));
  EXPECT_TRUE(ways.contains("cusolver-syevd") || rows.fact("absent_cuda_cusolver-syevd") != "");
  EXPECT_THAT(steps, UnorderedElementsAre("whole", "upload", "smoothing", "derivatives",
                                          "eigenvalues", "fused", "download"));
}

TEST_F(CudaLab, Vessel) {
  const Table rows =
      measure("vessel", {"--backend", "auto", "--sizes", "97x61,200x160", "--images", "2"});
  EXPECT_THAT(column(rows, "correct"), Each(std::string("yes")));
  EXPECT_THAT(kinds(rows, "backend"), ElementsAre("cpu", "cuda"));
}

}  // namespace
}  // namespace equalux::test
