#include "src/plot/gnuplot.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <equalux/error.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipelines/files/partial_file.h"
#include "pipelines/files/scratch_folder.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace fs = std::filesystem;

namespace equalux::plot {
namespace {

/// Runs gnuplot on a script, its messages redirected to a file, and returns its exit status.
int run_gnuplot(const std::string& script_path, const std::string& messages_path) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, messages_path.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
  std::string name = "gnuplot";
  std::string argument = script_path;
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0) return failed;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void check_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / "gnuplot").c_str(), X_OK) == 0) return;
  }
  throw Error(ExitCode::unavailable,
              "gnuplot is not installed, must be for plots (Debian: package gnuplot-nox)");
}

std::string gnuplot_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

void draw_with_gnuplot(const std::string& path, const GnuplotScript& script) {
  check_gnuplot();
  const std::string partial = partial_path(path);
  if (!std::ofstream(partial, std::ios::binary)) {
    throw Error(ExitCode::cannot_create, "plot " + path + " cannot be created (" +
                                             system_error_text(errno) +
                                             "), its folder must exist and be writable");
  }
  std::error_code failed;
  try {
    const ScratchFolder folder("plot");
    folder.write("plot.gp", script(folder, fs::absolute(partial).string()));
    const std::string messages = (folder.path() / "messages.txt").string();
    const int status = run_gnuplot((folder.path() / "plot.gp").string(), messages);
    std::ifstream said(messages);
    for (std::string line; std::getline(said, line);)
      logger().debug("gnuplot: {}", line);
    if (status != 0 || fs::file_size(partial, failed) == 0 || failed) {
      throw Error(ExitCode::write_failed,
                  "plot " + path +
                      " could not be drawn by gnuplot, must be a gnuplot with the pngcairo "
                      "terminal and a disk with room (--log-level debug tells more)");
    }
    fs::rename(partial, path, failed);
    if (failed) {
      throw Error(ExitCode::cannot_create,
                  "plot " + path + " cannot get its name (" + failed.message() + ")");
    }
  } catch (...) {
    fs::remove(partial, failed);
    throw;
  }
}

}  // namespace equalux::plot
