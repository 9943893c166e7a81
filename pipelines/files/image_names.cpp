#include "pipelines/files/image_names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include <equalux/error.h>
#include <glob.h>

#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/files/still.h"
#include "src/common/decimal.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWidestNumber = 18;  // So that every number fits 64 bits.

bool is_glob(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}
bool is_folder(const std::string& text) {
  std::error_code ignored;
  return fs::is_directory(text, ignored);
}

void sort_naturally(std::vector<std::string>& paths) {
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return natural_less(a, b); });
}

/// Removes half-written stills from the files that `text` names.
void leave_out_half_written(const std::string& text, std::vector<std::string>& paths,
                            std::vector<std::string>* half_written) {
  const auto whole = std::stable_partition(
      paths.begin(), paths.end(), [](const std::string& path) { return !is_partial_path(path); });
  if (whole == paths.begin() && whole != paths.end()) {
    throw Error(ExitCode::no_input, text + ": holds half-written stills alone, such as " + *whole +
                                        "; must hold whole ones of one size");
  }
  if (half_written != nullptr) half_written->assign(whole, paths.end());
  paths.erase(whole, paths.end());
}

std::vector<std::string> list_folder(const std::string& folder,
                                     std::vector<std::string>* half_written) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.') || !entry->is_regular_file(ignored)) continue;
    if (knows_still(name)) paths.push_back(entry->path().string());
  }
  if (error) throw Error(ExitCode::no_input, folder + ": cannot be read: " + error.message());
  if (paths.empty()) {
    throw Error(ExitCode::no_input, folder + ": holds no image; must hold stills of one size");
  }
  sort_naturally(paths);
  leave_out_half_written(folder, paths, half_written);
  return paths;
}

std::vector<std::string> list_glob(const std::string& pattern,
                                   std::vector<std::string>* half_written) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  const std::unique_ptr<glob_t, decltype(&::globfree)> freed(&found, &::globfree);
  std::vector<std::string> paths;
  if (status == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::erase_if(paths, is_folder);
  if (paths.empty()) {
    throw Error(ExitCode::no_input,
                is_glob(pattern)
                    ? pattern + ": no file matches; check the pattern, in quotes"
                    : "input '" + pattern + "' does not exist, must be a readable file");
  }
  sort_naturally(paths);
  // Keeps them if the pattern itself is a partial name.
  if (!is_partial_path(pattern)) leave_out_half_written(pattern, paths, half_written);
  return paths;
}

std::vector<std::string> list_numbered(const NumberedName& name, const std::string& text) {
  std::set<std::uint64_t> numbers;
  const std::string folder = name.folder();
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (const auto number = name.number_of(folder + file)) numbers.insert(*number);
  }
  if (numbers.empty()) {
    if (error) throw Error(ExitCode::no_input, text + ": cannot be read: " + error.message());
    throw Error(ExitCode::no_input,
                text + ": no file matches, such as " + name.at(0) + " or " + name.at(1));
  }
  std::vector<std::string> paths;
  paths.reserve(numbers.size());
  for (const std::uint64_t number : numbers)
    paths.push_back(name.at(number));
  return paths;
}

}  // namespace

std::optional<NumberedName> NumberedName::parse(std::string_view text) {
  NumberedName name;
  bool found = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& part = found ? name.after_ : name.before_;
    if (text[i] != '%') {
      part += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '%') {
      part += text[++i];
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_digit(text[end]))
      ++end;
    if (found || end == text.size() || text[end] != 'd') return std::nullopt;
    const std::string_view width = text.substr(i + 1, end - i - 1);
    if (width.size() > 2) return std::nullopt;
    name.zeros_ = width.starts_with('0');
    std::from_chars(width.data(), width.data() + width.size(), name.width_);
    if (name.width_ > kWidestNumber) return std::nullopt;
    found = true;
    i = end;
  }
  if (!found) return std::nullopt;
  return name;
}

std::string NumberedName::at(std::uint64_t number) const {
  std::string digits = std::to_string(number);
  if (digits.size() < width_) digits.insert(0, width_ - digits.size(), zeros_ ? '0' : ' ');
  return before_ + digits + after_;
}

std::optional<std::uint64_t> NumberedName::number_of(std::string_view path) const {
  if (path.size() <= before_.size() + after_.size()) return std::nullopt;
  if (!path.starts_with(before_) || !path.ends_with(after_)) return std::nullopt;
  std::string_view digits = path.substr(before_.size());
  digits.remove_suffix(after_.size());
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  if (digits.empty() || digits.size() > kWidestNumber) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (at(number) != path) return std::nullopt;  // "7" is not a name of "%03d".
  return number;
}

std::string NumberedName::folder() const {
  const std::size_t slash = before_.rfind('/');
  return slash == std::string::npos ? "" : before_.substr(0, slash + 1);
}

bool is_image_sequence(const std::string& text) {
  return NumberedName::parse(text).has_value() || is_glob(text) || is_folder(text);
}

std::vector<std::string> list_images(const std::string& text,
                                     std::vector<std::string>* half_written) {
  if (is_folder(text)) return list_folder(text, half_written);
  if (const auto name = NumberedName::parse(text)) return list_numbered(*name, text);
  return list_glob(text, half_written);
}

std::string missing_numbers(const std::string& text, const std::vector<std::string>& paths) {
  constexpr std::size_t kMostGaps = 12;
  const auto name = is_folder(text) ? std::nullopt : NumberedName::parse(text);
  if (!name) return {};
  std::string list;
  std::size_t gaps = 0;
  std::optional<std::uint64_t> before;
  for (const std::string& path : paths) {
    const auto number = name->number_of(path);
    if (number && before && *number > *before + 1 && ++gaps <= kMostGaps) {
      const std::uint64_t first = *before + 1;
      const std::uint64_t last = *number - 1;
      list += (list.empty() ? "" : ", ") + std::to_string(first);
      if (last > first) list += " to " + std::to_string(last);
    }
    if (number) before = number;
  }
  if (gaps > kMostGaps) list += " and " + std::to_string(gaps - kMostGaps) + " more gaps";
  return list;
}

}  // namespace equalux
