#include "src/cli/program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include <equalux/error.h>
#include <poll.h>
#include <unistd.h>

#include "src/cli/parse.h"
#include "src/cli/signals.h"
#include "src/common/log.h"
#include "src/common/system_error.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/files/still.h"
#include "pipelines/opencv/still.h"
#include "src/equalize/region.h"
#endif

namespace equalux::cli {
namespace {

/// Prints an error on one line, without control characters and without allocating memory.
int report(ExitCode code, const char* what, const char* more = "") {
  std::array<char, 16384> line;
  std::snprintf(line.data(), line.size(), "%s%s", what, more);
  for (char* c = line.data(); *c != '\0'; ++c) {
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
  try {
    const std::string text = printable(logger().without_secrets(line.data()));
    std::fprintf(stderr, "equalux: %s\n", text.c_str());
  } catch (const std::bad_alloc&) {
    for (char* c = line.data(); *c != '\0'; ++c) {
      if (static_cast<unsigned char>(*c) < ' ') *c = '?';
    }
    std::fprintf(stderr, "equalux: %s\n", line.data());
  }
  return static_cast<int>(code);
}

/// Returns true where the reader of stdout has gone, as head does.
bool nobody_reads_stdout() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

int run_program(int argc, char** argv, std::vector<Command> (*commands)(),
                const std::vector<std::string>& first) {
  try {
    hold_standard_streams();
    ignore_write_signals();
#ifdef EQUALUX_HAVE_OPENCV
    register_opencv_stills();
    set_mask_reader([](const std::string& path) { return read_still(path); });
#endif
    std::vector<std::string> words = first;
    words.insert(words.end(), argv + std::min(argc, 1), argv + argc);
    const ExitCode code = parse_and_run(std::move(words), commands());
    // A full disk may show only as stdio's buffer is flushed.
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    // The exit code is that of SIGPIPE, which is ignored here.
    if (!written && nobody_reads_stdout()) return kSignalExitBase + SIGPIPE;
    if (!written && code == ExitCode::done) {
      return report(ExitCode::write_failed, "standard output cannot be written, must have room");
    }
    return static_cast<int>(code);
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(ExitCode::unavailable,
                  "memory is short, must be smaller frames or a machine with more");
  } catch (const std::exception& error) {
    return report(ExitCode::unavailable, "unexpected failure: ", error.what());
  }
}

void become_program(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), name);
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  ::execv((self.parent_path() / name).c_str(), argv.data());
  if (errno == ENOENT) ::execvp(name.c_str(), argv.data());
  throw Error(ExitCode::unavailable,
              "the program " + name + " cannot be started: " + system_error_text(errno) +
                  "; must lie beside equalux or in PATH (Debian: package " + name + ")");
}

}  // namespace equalux::cli
