#include "pipelines/files/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include <equalux/error.h>

#include "src/common/system_error.h"

namespace fs = std::filesystem;

namespace equalux {

ScratchFolder::ScratchFolder(const std::string& purpose) {
  std::error_code ignored;
  std::string pattern =
      (fs::temp_directory_path(ignored) / ("equalux-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::cannot_create, "temporary folder " + pattern + " cannot be made (" +
                                             system_error_text(errno) +
                                             "), $TMPDIR must be a writable folder");
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ScratchFolder::write(const std::string& name, const std::string& bytes) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    throw Error(ExitCode::write_failed, "temporary file " + (path_ / name).string() +
                                            " cannot be written, $TMPDIR must have room");
  }
}

}  // namespace equalux
