#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

/// "Did you mean": the known name closest to a mistyped one.
namespace equalux {

/// Returns the edit distance of two words: letters to insert, delete or replace, or neighbours to
/// swap.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// Returns the closest of `names`, or an empty text where none is close enough.
template <typename Names>
[[nodiscard]] std::string nearest_name(std::string_view wrong, const Names& names) {
  const std::size_t bound = std::max<std::size_t>(1, wrong.size() / 3);
  std::size_t best = bound + 1;
  std::string nearest;
  for (const auto& name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < best) {
      best = distance;
      nearest = std::string(name);
    }
  }
  return nearest;
}

/// Returns a list as "a, b or c".
template <typename Names>
[[nodiscard]] std::string list_of_names(const Names& names) {
  std::string text;
  std::size_t left = std::size(names);
  for (const auto& name : names) {
    text += name;
    --left;
    text += left == 0 ? "" : left == 1 ? " or " : ", ";
  }
  return text;
}

/// Returns the name that nearest_name() finds, else the list of all, to follow "must be ".
template <typename Names>
[[nodiscard]] std::string nearest_or_all(std::string_view wrong, const Names& names) {
  const std::string nearest = nearest_name(wrong, names);
  return nearest.empty() ? list_of_names(names) : nearest;
}

}  // namespace equalux
