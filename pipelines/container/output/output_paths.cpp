#include "pipelines/container/output/output_paths.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <equalux/error.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace equalux {

std::string beside(const std::string& path, const char* infix) {
  fs::path name(path);
  const fs::path extension = name.extension();
  name.replace_extension();
  name += std::string(".") + infix;
  name += extension;
  return name.string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  return fs::equivalent(a, b, failure) && !failure;
}

void check_folder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    throw Error(ExitCode::cannot_create,
                path + ": its folder does not exist; create " + folder + " first");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Error(ExitCode::cannot_create,
                path + ": its folder cannot be written to: " + std::strerror(errno));
  }
  if (fs::is_directory(path, failure)) {
    throw Error(ExitCode::cannot_create, path + ": is a folder; give the name of a file");
  }
}

}  // namespace equalux
