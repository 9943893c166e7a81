#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/lab/table.h"
#include "tests/support/program_test.h"

/// What tests of `equalux lab` share.
namespace equalux::test {

inline bool have_gnuplot() {
  return std::system("gnuplot --version > /dev/null 2>&1") == 0;
}

/// Runs it in a folder of its own, without a GPU.
class LabTest : public ProgramTest {
 protected:
  ProgramResult lab(std::vector<std::string> more) {
    more.insert(more.begin(), "lab");
    return run_program(more, options_);
  }
  /// On the CPU, quickly, without an image.
  ProgramResult measure_bare(const std::string& experiment, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{experiment, "--backend",      "cpu",  "--out",
                                       "out",      "--cell-seconds", "0.001"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lab(arguments);
  }
  /// Runs an experiment as measure_bare() does, on a tiny image.
  ProgramResult measure(const std::string& experiment, std::vector<std::string> more = {}) {
    more.insert(more.begin(), kImage);
    return measure_bare(experiment, more);
  }
  [[nodiscard]] cli::lab::Table table(const std::string& experiment) const {
    return cli::lab::read_table(folder_ / ("out/" + experiment + ".csv"));
  }
  [[nodiscard]] std::string markdown(const std::string& experiment) const {
    return folder_.read("out/" + experiment + ".md");
  }
  void expect_results(const std::string& experiment, bool drawn = true) const {
    EXPECT_THAT(folder_.names(), ::testing::IsSupersetOf(
                                     {"out/" + experiment + ".csv", "out/" + experiment + ".md"}));
    EXPECT_THAT(markdown(experiment), ::testing::HasSubstr("# equalux lab " + experiment));
    if (!drawn || !have_gnuplot()) return;
    EXPECT_EQ(folder_.read("out/" + experiment + ".png").substr(1, 3), "PNG");
    EXPECT_THAT(folder_.read("out/" + experiment + ".svg"), ::testing::HasSubstr("<svg"));
  }

  static constexpr const char* kImage = "test:40x30";
};

}  // namespace equalux::test
