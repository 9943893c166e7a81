#pragma once

#include <string>
#include <vector>

/// Tables in Markdown.
namespace equalux::plot {

/// Shortens a fraction to four significant digits; other texts stay as they are.
[[nodiscard]] std::string readable(const std::string& text);

/// Returns a Markdown table with the first column aligned left, the others right.
[[nodiscard]] std::string markdown_table(const std::vector<std::string>& columns,
                                         const std::vector<std::vector<std::string>>& rows);

}  // namespace equalux::plot
