#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include <equalux/error.h>
#include <poll.h>
#include <unistd.h>

#include "src/cli/commands.h"
#include "src/cli/parse.h"
#include "src/cli/signals.h"
#include "src/common/log.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/files/still.h"
#include "pipelines/opencv/still.h"
#include "src/equalize/region.h"
#endif

namespace {

constexpr int kSignalExitBase = 128;

/// In one line that a terminal shows and does not obey; also where memory is short.
int report(equalux::ExitCode code, const char* what, const char* more = "") {
  std::array<char, 16384> line;
  std::snprintf(line.data(), line.size(), "%s%s", what, more);
  for (char* c = line.data(); *c != '\0'; ++c) {
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
  try {
    std::fprintf(stderr, "equalux: %s\n", equalux::printable(line.data()).c_str());
  } catch (const std::bad_alloc&) {
    for (char* c = line.data(); *c != '\0'; ++c) {
      if (static_cast<unsigned char>(*c) < ' ') *c = '?';
    }
    std::fprintf(stderr, "equalux: %s\n", line.data());
  }
  return static_cast<int>(code);
}

/// True where whoever read stdout has gone, as head does.
bool nobody_reads_stdout() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  using equalux::ExitCode;
  try {
    equalux::cli::hold_standard_streams();
    equalux::cli::ignore_write_signals();
#ifdef EQUALUX_HAVE_OPENCV
    equalux::register_opencv_stills();
    equalux::set_mask_reader([](const std::string& path) { return equalux::read_still(path); });
#endif
    const ExitCode code = equalux::cli::parse_and_run(argc, argv, equalux::cli::all_commands());
    // What is in stdio's buffer may find the disk full only now.
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    // As the signal that is not waited for here would end it.
    if (!written && nobody_reads_stdout()) return kSignalExitBase + SIGPIPE;
    if (!written && code == ExitCode::done) {
      return report(ExitCode::write_failed, "standard output cannot be written, must have room");
    }
    return static_cast<int>(code);
  } catch (const equalux::Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(ExitCode::unavailable,
                  "memory is short, must be smaller frames or a machine with more");
  } catch (const std::exception& error) {
    return report(ExitCode::unavailable, "unexpected failure: ", error.what());
  }
}
