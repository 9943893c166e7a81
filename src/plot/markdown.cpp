#include "src/plot/markdown.h"

#include <cmath>

#include "src/common/formatting.h"
#include "src/options/option_values.h"

namespace equalux::plot {
namespace {

constexpr int kDigits = 4;

/// Escapes a text so that it stays inside its table cell.
std::string in_cell(const std::string& written) {
  const std::string text = readable(written);
  std::string result;
  for (const char c : text)
    result += c == '|' ? "\\|" : c == '\n' || c == '\r' ? " " : std::string(1, c);
  return result;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& text : cells)
    line += " " + in_cell(text) + " |";
  return line + "\n";
}

}  // namespace

std::string readable(const std::string& text) {
  const auto value = number_from<double>(text);
  if (!value || text.find('.') == std::string::npos) return text;
  return std::abs(*value) < 9999.5 ? fmt::format("{:.{}g}", *value, kDigits)
                                   : std::to_string(std::llround(*value));
}

std::string markdown_table(const std::vector<std::string>& columns,
                           const std::vector<std::vector<std::string>>& rows) {
  std::string text = line_of(columns) + "|---|";
  for (std::size_t i = 1; i < columns.size(); ++i)
    text += "---:|";
  text += "\n";
  for (const auto& row : rows)
    text += line_of(row);
  return text;
}

}  // namespace equalux::plot
