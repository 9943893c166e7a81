#pragma once

#include <string>
#include <vector>

/// Markdown of tables.
namespace equalux::plot {

/// A fraction in as many digits as one reads; other texts as they are.
[[nodiscard]] std::string readable(const std::string& text);

/// The first column reads as words, the others as numbers.
[[nodiscard]] std::string markdown_table(const std::vector<std::string>& columns,
                                         const std::vector<std::vector<std::string>>& rows);

}  // namespace equalux::plot
