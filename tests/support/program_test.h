#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/program.h"

namespace equalux::test {

/// Runs the program in a folder of the test's own.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() { options_.folder = folder_.path(); }
  ProgramResult run(const std::vector<std::string>& arguments) {
    return run_program(arguments, options_);
  }

  TempFolder folder_;
  ProgramOptions options_;
};

}  // namespace equalux::test
