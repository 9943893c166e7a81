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
  /// Parses a pattern. Nothing where `text` has no %d, %Nd or %0Nd, or more than one.
  [[nodiscard]] static std::optional<NumberedName> parse(std::string_view text);

  [[nodiscard]] std::string at(std::uint64_t number) const;
  /// Returns the number for which the pattern gives `path`, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view path) const;
  /// Returns the folder part; empty where there is none.
  [[nodiscard]] std::string folder() const;

 private:
  std::string before_;
  std::string after_;
  std::size_t width_ = 0;
  bool zeros_ = false;
};

/// Returns true where `text` names a sequence instead of one file: a printf pattern, a glob with *
/// ? or [..], or an existing folder.
[[nodiscard]] bool is_image_sequence(const std::string& text);

/// Lists the files that `text` names, in order. A printf pattern gives all existing numbers from
/// the smallest to the largest, whatever is missing between them. Globs and folders give natural
/// order, folders only stills that knows_still() knows, without hidden files. Half-written stills
/// (NAME.partial.EXT) are not listed but added to `half_written`. Throws Error(no_input) where
/// there are no others.
[[nodiscard]] std::vector<std::string> list_images(
    const std::string& text, std::vector<std::string>* half_written = nullptr);

/// Lists the numbers that are missing among `paths`, which list_images() gave for `text`: "11, 14
/// to 17"; empty where none is, and for globs and folders, which promise no numbers. After a dozen
/// gaps it gives only the number of further ones.
[[nodiscard]] std::string missing_numbers(const std::string& text,
                                          const std::vector<std::string>& paths);

}  // namespace equalux
