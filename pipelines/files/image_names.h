#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// File names of image sequences: printf patterns, globs, folders.
namespace equalux {

/// A printf pattern with one number: "frames/%05d.png". "%%" is a percent sign.
class NumberedName {
 public:
  /// Reads a pattern. Nothing where `text` has no %d, %Nd or %0Nd, or more than one.
  [[nodiscard]] static std::optional<NumberedName> parse(std::string_view text);

  [[nodiscard]] std::string at(std::uint64_t number) const;
  /// The number that makes `path` one of this pattern's names, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view path) const;
  /// The folder part; empty where there is none.
  [[nodiscard]] std::string folder() const;

 private:
  std::string before_;
  std::string after_;
  std::size_t width_ = 0;
  bool zeros_ = false;
};

/// True where `text` names a sequence rather than one file: a printf pattern, a glob with * ? or
/// [..], or a folder that exists.
[[nodiscard]] bool is_image_sequence(const std::string& text);

/// The files that `text` names, in order. A printf pattern means every number that is there, from
/// its smallest to its largest, whatever is missing between them; globs and folders come in natural
/// order, folders with the stills that knows_still() knows, hidden files left out. Half-written
/// stills (NAME.partial.EXT) count in none, and go into `half_written`. Throws Error(no_input)
/// where there are no others.
[[nodiscard]] std::vector<std::string> list_images(
    const std::string& text, std::vector<std::string>* half_written = nullptr);

/// The numbers that are missing among `paths`, as list_images() gave them for `text`: "11, 14 to
/// 17"; empty where none is, and for globs and folders, which promise no numbers. After a dozen
/// gaps only how many more there are.
[[nodiscard]] std::string missing_numbers(const std::string& text,
                                          const std::vector<std::string>& paths);

}  // namespace equalux
