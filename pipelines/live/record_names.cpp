#include "pipelines/live/record_names.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <equalux/error.h>

#include "pipelines/files/partial_file.h"

namespace fs = std::filesystem;

namespace equalux {
namespace {

std::string without_percents(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c;
    if (c == '%') escaped += '%';
  }
  return escaped;
}

NumberedName pattern_of(const std::string& path) {
  if (const auto name = NumberedName::parse(path)) return *name;
  const fs::path whole(path);
  const fs::path stem = whole.parent_path() / whole.stem();
  return NumberedName::parse(without_percents(stem.string()) + "-%05d" +
                             without_percents(whole.extension().string()))
      .value();
}

/// Returns the final name: rec-00003.partial.mkv -> rec-00003.mkv.
fs::path final_name(const fs::path& file) {
  const fs::path stem = file.stem();
  if (stem.extension() != ".partial") return file;
  fs::path name = file.parent_path() / stem.stem();
  name += file.extension();
  return name;
}

fs::path folder_of(const fs::path& file) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(file, ignored).parent_path(), ignored);
}

}  // namespace

bool is_part_of_recording(const std::string& path, const std::string& file) {
  const NumberedName names = pattern_of(fs::path(path).filename().string());
  return names.number_of(fs::path(file).filename().string()) && folder_of(path) == folder_of(file);
}

RecordNames::RecordNames(const std::string& path) : name_(pattern_of(path)) {
  const fs::path folder = name_.folder();
  std::error_code failed;
  if (!fs::is_directory(folder.empty() ? "." : folder, failed))
    return;  // the file's sink reports it
  for (auto it = fs::directory_iterator(folder.empty() ? "." : folder, failed);
       !failed && it != fs::directory_iterator(); it.increment(failed)) {
    const fs::path file = final_name(folder / it->path().filename());
    if (const auto number = name_.number_of(file.string()))
      number_ = std::max(number_, *number + 1);
  }
  if (!failed) return;
  throw Error(ExitCode::cannot_create,
              path + ": the recordings that are there cannot be listed: " + failed.message() +
                  "; its folder must be readable, so that none of them is written over");
}

std::string RecordNames::next() {
  for (;; ++number_) {
    const std::string name = name_.at(number_);
    std::error_code ignored;
    const bool taken = fs::exists(fs::symlink_status(name, ignored)) ||
                       fs::exists(fs::symlink_status(partial_path(name), ignored));
    if (!taken) return name;
  }
}

}  // namespace equalux
