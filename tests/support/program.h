#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_folder.h"

/// Runs the built program as a user would.
namespace equalux::test {

/// How a program ended and what it said.
struct ProgramResult {
  int exit_code = -1;  ///< 128 + N where signal N ended it, -1 where it had to be killed
  std::string out;
  std::string err;
  double seconds = 0;
};

struct ProgramOptions {
  std::filesystem::path folder;  ///< where it runs; empty = here
  std::vector<std::pair<std::string, std::string>> environment;
  std::string input;  ///< its stdin
  double timeout_s = 60;
  /// Called with its process id once it runs.
  std::function<void(int)> meanwhile;
  std::string output;   ///< a file that its stdout goes to; empty = ProgramResult::out
  std::string program;  ///< another build of it; empty = the usual one
};

/// Runs `equalux ARGUMENTS...`.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& arguments,
                                        const ProgramOptions& options = {});

/// Non-empty lines of a text.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

/// A P6 picture with a dim ramp; small.
[[nodiscard]] std::string dim_ppm(int width, int height);
/// A YUV4MPEG2 stream in 4:2:0 of dim frames that differ.
[[nodiscard]] std::string dim_y4m(int width, int height, int frames);

}  // namespace equalux::test
