#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "tests/support/long_counts.h"
#include "tests/support/program.h"

/// The program on a device that fails, before its first result and in the middle. That device runs
/// no kernels: its results are wrong, and so told from the CPU's.
namespace equalux::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kFrames = 48;
constexpr int kWidth = 64;
constexpr int kHeight = 48;
constexpr std::size_t kFrameBytes = kWidth * kHeight * 3 / 2 + 6;  // with FRAME and a newline
constexpr const char* kVariable = "EQUALUX_FAKE_CUDA";

struct CudaFailure {
  std::string call;
  std::string error;
  bool sticky = false;

  [[nodiscard]] std::string at(int n) const {
    return call + " " + std::to_string(n) + " " + error + (sticky ? " sticky" : "");
  }
};
const std::vector<CudaFailure> kFailures{
    {"allocation", "cudaErrorMemoryAllocation"}, {"query", "cudaErrorDevicesUnavailable"},
    {"stream", "cudaErrorDevicesUnavailable"},   {"event", "cudaErrorIllegalAddress", true},
    {"copy", "cudaErrorIllegalAddress", true},   {"launch", "cudaErrorLaunchOutOfResources"},
    {"launch", "cudaErrorLaunchFailure", true}};

struct ProgramCudaFailures : ::testing::Test {
  TempFolder folder;
  ProgramOptions options;

  ProgramCudaFailures() {
    options.folder = folder.path();
    options.program = EQUALUX_FAKE_CUDA_PROGRAM;
    folder.write("in.y4m", dim_y4m(kWidth, kHeight, kFrames));
    folder.write("in.ppm", dim_ppm(kWidth, kHeight));
  }
  ProgramResult run(std::vector<std::string> arguments, const std::string& fault = "") {
    options.environment.clear();
    if (!fault.empty()) options.environment.emplace_back(kVariable, fault);
    std::filesystem::remove(folder.path() / "out.y4m");
    std::filesystem::remove(folder.path() / "out.ppm");
    return run_program(arguments, options);
  }
  ProgramResult run_video(const std::string& backend, const std::string& fault = "") {
    return run({"run", "in.y4m", "-o", "out.y4m", "--preset", "stable", "--backend", backend,
                "--threads", "1", "--log-level", "warn"},
               fault);
  }
  ProgramResult run_batch(std::vector<std::string> more, const std::string& fault) {
    std::filesystem::remove_all(folder.path() / "results");
    std::vector<std::string> arguments{"batch",  "in.y4m", "second.y4m", "--out", "results",
                                       "--jobs", "1",      "--preset",   "stable"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    folder.write("second.y4m", dim_y4m(kHeight, kWidth, kFrames));
    return run(arguments, fault);
  }
  [[nodiscard]] nlohmann::json file_report(std::size_t number) const {
    return parse_json(folder.read("results/report.json")).at("files").at(number);
  }
};

/// Numbers of calls to fail at: one after the other with EQUALUX_FULL=1, else ever further apart.
int after(int n) {
  return wants_every_count() ? n + 1 : 5 * n + 1;
}

/// What it says beside the table of numbers.
std::vector<std::string> messages(const ProgramResult& result) {
  std::vector<std::string> lines = lines_of(result.err);
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with("equalux: "); });
  return lines;
}

void expect_one_named_line(const ProgramResult& result, const CudaFailure& failure) {
  EXPECT_THAT(messages(result), SizeIs(1));
  EXPECT_THAT(result.err, AllOf(HasSubstr("cuda: "), HasSubstr(failure.error)));
  EXPECT_THAT(result.err,
              AnyOf(HasSubstr("Fake GPU"), HasSubstr("device 0"), HasSubstr("as the test asked")));
}

TEST_F(ProgramCudaFailures, BeforeTheFirstResultTheCpuTakesOverAndLaterTheOutputIsPartial) {
  ASSERT_EQ(run_video("cpu").exit_code, 0);
  const std::string of_cpu = folder.read("out.y4m");
  ASSERT_EQ(run_video("auto").exit_code, 0);
  const std::string of_device = folder.read("out.y4m");
  ASSERT_EQ(of_device.size(), of_cpu.size());
  ASSERT_FALSE(of_device == of_cpu);
  for (const CudaFailure& failure : kFailures) {
    int taken_over = 0;
    int partial = 0;
    // A run can do without some calls, but not without so many in a row: then it has no more.
    int untouched = 0;
    for (int n = 1; untouched < (wants_every_count() ? 40 : 2); n = after(n)) {
      const ProgramResult result = run_video("auto", failure.at(n));
      SCOPED_TRACE(failure.at(n) + ": " + result.err);
      const std::string out = folder.read("out.y4m");
      EXPECT_LT(result.seconds, 5);
      if (result.exit_code == 0 && messages(result).empty() && out == of_device) {
        ++untouched;
        continue;
      }
      untouched = 0;
      // A device that does not answer at all is as none.
      if (result.exit_code == 0 && messages(result).empty() && out == of_cpu) {
        ++taken_over;
        continue;
      }
      expect_one_named_line(result, failure);
      if (result.exit_code == 0) {
        ++taken_over;
        EXPECT_EQ(partial, 0) << "a later call cannot be before the first result";
        EXPECT_THAT(result.err, HasSubstr("the CPU takes over"));
        EXPECT_TRUE(out == of_cpu) << "not the CPU's bytes";
      } else {
        ++partial;
        EXPECT_EQ(result.exit_code, 3);
        EXPECT_THAT(result.err, HasSubstr("the output is partial"));
        EXPECT_LT(out.size(), of_device.size());
        EXPECT_TRUE(of_device.starts_with(out));
        EXPECT_EQ((of_device.size() - out.size()) % kFrameBytes, 0U) << "a frame is not whole";
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(taken_over, 0) << failure.call;
    const bool every_frame = failure.call != "allocation" && failure.call != "stream";
    EXPECT_EQ(partial > 0, every_frame) << failure.call;
  }
}

TEST_F(ProgramCudaFailures, WhereCudaIsAskedForItIsAnErrorWithoutOutput) {
  for (const CudaFailure& failure : kFailures) {
    for (const std::string command : {"run", "image"}) {
      const bool still = command == "image";
      const ProgramResult result =
          still ? run({"image", "in.ppm", "out.ppm", "--backend", "cuda"}, failure.at(1))
                : run_video("cuda", failure.at(1));
      SCOPED_TRACE(command + " " + failure.at(1) + ": " + result.err);
      EXPECT_EQ(result.exit_code, 69);
      expect_one_named_line(result, failure);
      EXPECT_THAT(folder.names(), Not(Contains(HasSubstr("out"))));
    }
  }
}

/// An old driver and no device are found by the first call; a device that the build has no code for
/// by one of the next.
TEST_F(ProgramCudaFailures, WhatADeviceLacksIsSaid) {
  ASSERT_EQ(run_video("cpu").exit_code, 0);
  const std::string of_cpu = folder.read("out.y4m");
  for (const auto& [error, says] :
       {std::pair{"cudaErrorInsufficientDriver", "this build needs"},
        {"cudaErrorNoDevice", "the driver finds no CUDA device"},
        {"cudaErrorNoKernelImageForDevice", "this build has no code for compute capability 9.0"}}) {
    bool said = false;
    for (int n = 1; n < 12 && !said; ++n) {
      const std::string fault = "query " + std::to_string(n) + " " + error + " sticky";
      const ProgramResult result = run_video("cuda", fault);
      SCOPED_TRACE(fault + ": " + result.err);
      EXPECT_EQ(result.exit_code, 69);
      EXPECT_THAT(lines_of(result.err), SizeIs(1));
      said = result.err.find(says) != std::string::npos;
      if (!said) continue;
      EXPECT_EQ(run_video("auto", fault).exit_code, 0);
      EXPECT_TRUE(folder.read("out.y4m") == of_cpu) << "not the CPU's bytes";
    }
    EXPECT_TRUE(said) << error;
  }
}

TEST_F(ProgramCudaFailures, AStillIsMadeByTheCpu) {
  ASSERT_EQ(run({"image", "in.ppm", "out.ppm", "--backend", "cpu"}).exit_code, 0);
  const std::string of_cpu = folder.read("out.ppm");
  for (const CudaFailure& failure : kFailures) {
    const ProgramResult result = run(
        {"image", "in.ppm", "out.ppm", "--backend", "auto", "--log-level", "warn"}, failure.at(1));
    SCOPED_TRACE(failure.at(1) + ": " + result.err);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(folder.read("out.ppm") == of_cpu) << "not the CPU's bytes";
  }
}

TEST_F(ProgramCudaFailures, ABatchGoesOnOnTheCpu) {
  ASSERT_EQ(run_batch({"--backend", "cpu"}, "").exit_code, 0);
  const std::string of_cpu = folder.read("results/in.y4m");
  const std::string second = folder.read("results/second.y4m");
  // In the middle of a file, and before its first frame.
  for (const char* fault :
       {"launch 9 cudaErrorIllegalAddress sticky", "copy 12 cudaErrorLaunchFailure sticky",
        "stream 5 cudaErrorIllegalAddress sticky"}) {
    for (const std::string devices : {"", "0"}) {
      std::vector<std::string> more{"--backend", "auto"};
      if (!devices.empty()) more.insert(more.end(), {"--devices", devices});
      const ProgramResult result = run_batch(more, fault);
      SCOPED_TRACE(std::string(fault) + ", devices " + devices + ": " + result.err);
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_LT(result.seconds, 5);
      EXPECT_TRUE(folder.read("results/in.y4m") == of_cpu);
      EXPECT_TRUE(folder.read("results/second.y4m") == second);
      for (const std::size_t file : {0U, 1U})
        EXPECT_EQ(file_report(file).at("status"), "done");
      EXPECT_THAT(result.err,
                  AllOf(HasSubstr("cudaError"), HasSubstr("Fake GPU"), HasSubstr("takes over")));
    }
  }
}

TEST_F(ProgramCudaFailures, ABatchGoesOnBehindTheLastSegment) {
  const std::string fault = "launch 25 cudaErrorIllegalAddress sticky";
  ASSERT_EQ(run_batch({"--backend", "cpu"}, "").exit_code, 0);
  const std::size_t whole = folder.read("results/in.y4m").size();
  for (const std::string devices : {"", "0"}) {
    // A history that no kernel has written could not be gone on from.
    std::vector<std::string> more{"--backend", "auto",          "--segment-frames",
                                  "10",        "--temporal-ms", "0"};
    if (!devices.empty()) more.insert(more.end(), {"--devices", devices});
    const ProgramResult result = run_batch(more, fault);
    SCOPED_TRACE("devices " + devices + ": " + result.err);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("goes on behind frame 20"));
    EXPECT_EQ(file_report(0).at("frames_out"), kFrames);
    EXPECT_EQ(folder.read("results/in.y4m").size(), whole);
  }
}

TEST_F(ProgramCudaFailures, ABatchThatMustUseCudaFailsFileByFile) {
  const ProgramResult result =
      run_batch({"--devices", "0", "--backend", "cuda"}, "launch 9 cudaErrorIllegalAddress sticky");
  EXPECT_EQ(result.exit_code, 69) << result.err;
  for (const std::size_t file : {0U, 1U}) {
    EXPECT_EQ(file_report(file).at("status"), "failed");
    EXPECT_THAT(json_text(file_report(file)), HasSubstr("cudaErrorIllegalAddress"));
  }
  for (const std::string& name : folder.names())
    EXPECT_THAT(name, AllOf(Not("results/in.y4m"), Not("results/second.y4m")));
}

/// A device that works, but has no room for a file, keeps its other work.
TEST_F(ProgramCudaFailures, AFileThatDoesNotFitCostsTheOthersNothing) {
  const std::string fault = "allocation 1 cudaErrorMemoryAllocation";
  ASSERT_EQ(run_batch({"--backend", "cpu"}, "").exit_code, 0);
  const std::string of_cpu = folder.read("results/in.y4m");
  const std::string second = folder.read("results/second.y4m");
  const ProgramResult result = run_batch({"--devices", "0", "--backend", "auto"}, fault);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the CPU filters in.y4m"));
  EXPECT_TRUE(folder.read("results/in.y4m") == of_cpu);
  EXPECT_FALSE(folder.read("results/second.y4m") == second) << "is not the device's";

  const ProgramResult on_cuda = run_batch({"--devices", "0", "--backend", "cuda"}, fault);
  EXPECT_EQ(on_cuda.exit_code, 3) << on_cuda.err;
  EXPECT_EQ(file_report(0).at("status"), "failed");
  EXPECT_EQ(file_report(1).at("status"), "done");
}

#ifdef EQUALUX_FAKE_ENCODER_FOLDER
TEST_F(ProgramCudaFailures, WhereADeviceFiltersItsEncoderIsTaken) {
  options.environment = {{"GST_PLUGIN_PATH", EQUALUX_FAKE_ENCODER_FOLDER},
                         {"GST_REGISTRY", folder.path() / "registry.bin"}};
  const auto said = [&](const std::string& backend, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"run",     "test:320x240", "-y",   "-o",
                                       "out.mkv", "--frames",     "5",    "--backend",
                                       backend,   "--log-level",  "debug"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  const std::string by_gpu = "out.mkv: encoded by nvh264";
  EXPECT_THAT(said("cuda"), HasSubstr(by_gpu));
  EXPECT_THAT(said("cpu"), Not(HasSubstr(by_gpu)));
  EXPECT_THAT(said("cuda", {"--encoder", "x264"}), Not(HasSubstr(by_gpu)));
}
#endif

}  // namespace
}  // namespace equalux::test
