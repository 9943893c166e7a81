#include "pipelines/core/text_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <equalux/error.h>

#include "src/common/system_error.h"

namespace equalux {

void TextFile::Close::operator()(std::FILE* file) const noexcept {
  if (file != stdout) std::fclose(file);
}

TextFile::TextFile(std::string path, Start start) : path_(std::move(path)) {
  const char* mode = start == Start::from_empty ? "we" : "ae";
  file_.reset(path_ == "-" ? stdout : std::fopen(path_.c_str(), mode));
  if (file_) return;
  throw Error(ExitCode::cannot_create, path_ + ": cannot be created: " + system_error_text(errno) +
                                           "; its folder must exist and be writable");
}

void TextFile::fail(int error_number) const {
  throw Error(ExitCode::write_failed, path_ + ": write failed: " + system_error_text(error_number));
}

void TextFile::append(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail(errno);
}

std::uint64_t TextFile::flush() {
  if (std::fflush(file_.get()) != 0) fail(errno);
  return static_cast<std::uint64_t>(std::max(0L, std::ftell(file_.get())));
}

void TextFile::finish() {
  flush();
  std::FILE* file = file_.release();
  if (file != stdout && std::fclose(file) != 0) fail(errno);
}

}  // namespace equalux
