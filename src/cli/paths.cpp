#include "src/cli/paths.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include <equalux/error.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/files/image_names.h"
#include "pipelines/files/partial_file.h"
#include "src/cli/signals.h"
#include "src/common/log.h"
#include "src/common/system_error.h"
#include "src/options/option_values.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

/// Returns true where both paths name one file that is no character device.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  // Of a relative path no part of which exists, the canonical form would stay relative.
  const auto canonical = [&ignored](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  const bool same = fs::equivalent(a, b, ignored) || canonical(a) == canonical(b);
  return same && !fs::is_character_file(b, ignored);
}

Error grows_in_place_of(const std::string& input, const std::string& output) {
  return {ExitCode::usage, "output " + output + " would first be written as the input " + input +
                               ", must have another name"};
}

/// Returns the first existing file of a pattern; empty where there is none.
std::string taken_of(const NumberedName& name, std::uint64_t frames) {
  std::string first;
  std::error_code end;
  const std::string folder = name.folder();
  for (fs::directory_iterator at(folder.empty() ? "." : folder, end), last; !end && at != last;
       at.increment(end)) {
    const fs::path path = folder.empty() ? at->path().filename() : at->path();
    const std::optional<std::uint64_t> number = name.number_of(path.string());
    if (!number || (frames > 0 && *number >= frames) || !is_taken(path.string())) continue;
    if (first.empty() || path.string() < first) first = path.string();
  }
  return first;
}

/// Asks on the terminal; true for an answer that begins with y.
bool confirmed(const std::string& question) {
  std::fprintf(stderr, "equalux: %s [y/N] ", printable(question).c_str());
  std::fflush(stderr);
  std::array<char, 256> line{};
  if (std::fgets(line.data(), line.size(), stdin) == nullptr) return false;
  return line[0] == 'y' || line[0] == 'Y';
}

}  // namespace

void refuse_same_file(const std::string& input, const std::string& output) {
  if (is_same_file(input, output)) {
    throw_usage("output " + output + " is the input, must be another file");
  }
  std::error_code ignored;
  if (fs::equivalent(input, partial_path(output), ignored)) throw grows_in_place_of(input, output);
}

void refuse_shared_outputs(const std::vector<NamedOutput>& outputs) {
  const auto is_set = [](const std::string& path) { return !path.empty() && path != "-"; };
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    for (auto other = outputs.begin(); other != one; ++other) {
      if (!is_set(one->second) || !is_set(other->second)) continue;
      if (!is_same_file(other->second, one->second)) continue;
      throw_usage(other->first + " and " + one->first + " both name " + one->second +
                  ", must be different files");
    }
  }
}

InputFiles::InputFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    add(path);
}

void InputFiles::add(const std::string& path, const std::string& what) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISCHR(status.st_mode)) return;
  files_.emplace(std::pair(status.st_dev, status.st_ino), Input{path, what});
}

void InputFiles::refuse(const std::string& output) const {
  if (output.empty() || output == "-") return;
  const auto input_at = [&](const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return files_.end();
    return files_.find(std::pair(status.st_dev, status.st_ino));
  };
  if (const auto same = input_at(output); same != files_.end()) {
    const auto& [path, what] = same->second;
    throw Error(
        ExitCode::usage,
        "output " + output + " is " +
            (what.empty() ? "the input " + (path == output ? "" : path + " ") + "itself" : what) +
            ", must be another file");
  }
  if (const auto grown = input_at(partial_path(output)); grown != files_.end()) {
    throw grows_in_place_of(grown->second.path, output);
  }
}

std::vector<std::string> InputFiles::paths() const {
  std::vector<std::string> all;
  for (const auto& [id, file] : files_)
    all.push_back(file.path);
  return all;
}

void OutputNames::take(const std::string& output, const std::string& input) {
  const auto [other, is_new] = inputs_.emplace(output, input);
  if (is_new) return;
  throw_usage("inputs " + other->second + " and " + input + " would both become " + output +
              ", must have different names or run apart");
}

bool is_taken(const std::string& output) {
  std::error_code ignored;
  const fs::file_status target = fs::status(output, ignored);
  return fs::is_regular_file(target) ||
         (!fs::exists(target) && fs::is_symlink(fs::symlink_status(output, ignored)));
}

void require_free_output(const std::string& output, Overwrite overwrite, std::uint64_t frames) {
  if (overwrite == Overwrite::always) return;
  std::string taken = is_taken(output) ? output : std::string();
  if (taken.empty()) {
    if (const auto name = NumberedName::parse(output)) taken = taken_of(*name, frames);
  }
  if (taken.empty()) return;
  const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (overwrite == Overwrite::ask && terminal) {
    if (confirmed("output " + taken + " is there already, overwrite it?")) return;
    throw Error(ExitCode::cannot_create, "output " + taken + " stays as it is");
  }
  throw Error(ExitCode::cannot_create,
              "output " + taken + " is there already, must be a new name; -y overwrites it");
}

void require_creatable(const std::string& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  if (path.empty() || path == "-") return;
  if (type == fs::file_type::symlink && !fs::exists(path, ignored)) return;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored) &&
      !fs::is_directory(path, ignored)) {
    return;
  }
  constexpr mode_t kMode = 0666;  // reduced by the umask
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
  if (file.get() < 0) {
    throw Error(ExitCode::cannot_create, path + ": cannot be created: " + system_error_text(errno) +
                                             "; its folder must exist and be writable");
  }
  if (type == fs::file_type::not_found) ::unlink(path.c_str());
}

void require_file(const std::string& path) {
  require_input(path);
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return;
  throw Error(ExitCode::bad_input, "input '" + path +
                                       "' is no file, must be one; equalux run "
                                       "reads YUV4MPEG2 from pipes");
}

void require_input(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) {
    if (path.ends_with('/')) {
      throw Error(ExitCode::no_input,
                  "folder '" + path + "' does not exist, must be one that can be read");
    }
    const bool address = path.starts_with("file:");
    throw Error(ExitCode::no_input,
                "input '" + path + "' does not exist, must be " +
                    (address ? "the path of a file, without file:" : "a readable file"));
  }
}

Descriptor wait_for_reader(const std::string& path) {
  constexpr std::chrono::milliseconds kLook{20};
  std::error_code ignored;
  if (!fs::is_fifo(path, ignored)) return {};
  for (;;) {
    // A blocking open() would not return on a signal.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0) return {descriptor, true};
    // Other errors are reported by the caller's own open.
    if (errno != ENXIO) return {};
    if (const int signal = stop_token().signal; signal != 0) {
      throw Error(signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted,
                  path + ": stopped by a signal; nobody reads it");
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace equalux::cli
