#include "record_names.h"

#include <algorithm>
#include <filesystem>
#include <optional>

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

/// rec-00003.partial.mkv -> rec-00003.mkv
fs::path final_name(const fs::path& file) {
  const fs::path stem = file.stem();
  if (stem.extension() != ".partial") return file;
  fs::path name = file.parent_path() / stem.stem();
  name += file.extension();
  return name;
}

}  // namespace

RecordNames::RecordNames(const std::string& path) : name_(pattern_of(path)) {
  const fs::path folder = name_.folder();
  std::error_code failed;
  for (auto it = fs::directory_iterator(folder.empty() ? "." : folder, failed);
       !failed && it != fs::directory_iterator(); it.increment(failed)) {
    const fs::path file = final_name(folder / it->path().filename());
    if (const auto number = name_.number_of(file.string()))
      number_ = std::max(number_, *number + 1);
  }
}

}  // namespace equalux
