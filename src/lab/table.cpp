#include "src/lab/table.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include <equalux/error.h>

#include "src/options/option_values.h"

namespace equalux::cli::lab {
namespace {

constexpr std::string_view kTitle = "# equalux lab ";
constexpr int kDigits = 6;

[[noreturn]] void refuse(const std::string& origin, const std::string& what) {
  throw Error(ExitCode::bad_input, origin + what + ", must be a CSV that equalux lab wrote");
}

/// Escapes a fact so that it stays on one line.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\\\";
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else
      result += c;
  }
  return result;
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char next = text[++i];
    result += next == 'n' ? '\n' : next == 'r' ? '\r' : next;
  }
  return result;
}

/// Quotes a cell as RFC 4180 does: cells with commas, quotes or line ends, with quotes inside
/// doubled.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos && !text.starts_with('#')) return text;
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

/// Reader of a CSV's text that counts lines.
class Reader {
 public:
  Reader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] bool at_fact() const { return !done() && text_[at_] == '#'; }

  std::string_view line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    while (line.ends_with('\r'))
      line.remove_suffix(1);
    at_ = end + 1;
    ++line_;
    return line;
  }

  std::vector<std::string> row() {
    std::vector<std::string> cells;
    const int first = line_;
    do
      cells.push_back(one_cell());
    while (take(','));
    if (text_.substr(at_).starts_with("\r\n")) ++at_;
    if (!done() && !take('\n')) fail(first, "has text after a quoted cell");
    ++line_;
    return cells;
  }

  [[noreturn]] void fail(int line, const std::string& what) const {
    refuse(origin_, ":" + std::to_string(line) + ": the line " + what);
  }
  [[nodiscard]] int line_number() const { return line_; }

 private:
  bool take(char wanted) {
    if (done() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::string one_cell() {
    if (!take('"')) {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      const std::string_view plain = text_.substr(at_, end - at_);
      at_ = end;
      return std::string(plain);
    }
    std::string cell;
    const int first = line_;
    for (; !done(); ++at_) {
      if (text_[at_] == '"' && !text_.substr(at_ + 1).starts_with('"')) {
        ++at_;
        return cell;
      }
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      cell += text_[at_];
    }
    fail(first, "has a quoted cell without an end");
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::string cell(double value) {
  std::array<char, 48> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, kDigits);
  return error == std::errc{} ? std::string(text.data(), end) : std::string("nan");
}

std::string cell(std::string_view text) {
  return std::string(text);
}

std::string Table::fact(std::string_view key) const {
  const auto at =
      std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == key; });
  return at == facts.end() ? std::string() : at->second;
}

bool Table::has_column(std::string_view name) const {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
  const auto at = std::find(columns.begin(), columns.end(), column);
  if (at == columns.end()) refuse(origin, ": column " + std::string(column) + " is missing");
  return rows.at(row).at(static_cast<std::size_t>(at - columns.begin()));
}

double Table::number(std::size_t row, std::string_view column) const {
  const std::string& written = text(row, column);
  const std::optional<double> value = number_from<double>(written);
  if (!value) {
    refuse(origin, ": " + std::string(column) + " of row " + std::to_string(row + 1) + " is '" +
                       written + "', which is no number");
  }
  return *value;
}

double Table::fact_number(std::string_view key) const {
  const std::optional<double> value = number_from<double>(fact(key));
  if (!value) {
    refuse(origin, ": '# " + std::string(key) + ": " + fact(key) + "' is no number");
  }
  return *value;
}

Table parse_table(std::string_view text, const std::string& origin) {
  Table table;
  table.origin = origin;
  if (!text.starts_with(kTitle)) {
    refuse(origin, ": the first line is not '# equalux lab EXPERIMENT'");
  }
  Reader reader(text, origin);
  table.experiment = std::string(reader.line().substr(kTitle.size()));
  while (reader.at_fact()) {
    const int number = reader.line_number();
    const std::string_view line = reader.line();
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("# ") || colon == std::string_view::npos) {
      reader.fail(number, "is no '# key: value'");
    }
    table.facts.emplace_back(line.substr(2, colon - 2), unescaped(line.substr(colon + 2)));
  }
  if (reader.done()) refuse(origin, ": the line of column names is missing");
  table.columns = reader.row();
  while (!reader.done()) {
    const int number = reader.line_number();
    table.rows.push_back(reader.row());
    if (table.rows.back().size() == table.columns.size()) continue;
    reader.fail(number, "has " + std::to_string(table.rows.back().size()) + " cells where " +
                            std::to_string(table.columns.size()) + " columns are");
  }
  return table;
}

Table read_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ExitCode::no_input,
                "input '" + path + "' cannot be opened, must be a CSV that equalux lab wrote");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_table(text, path);
}

std::string csv_head(const Table& table) {
  std::string text = std::string(kTitle) + table.experiment + "\n";
  for (const auto& [key, value] : table.facts)
    text += "# " + key + ": " + escaped(value) + "\n";
  return text + csv_row(table.columns);
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += (i == 0 ? "" : ",") + quoted(cells[i]);
  return text + "\n";
}

TableWriter::TableWriter(const std::string& path, Table table)
    : file_(path), table_(std::move(table)) {
  file_.append(csv_head(table_));
  file_.flush();
}

void TableWriter::add(std::vector<std::string> cells) {
  file_.append(csv_row(cells));
  file_.flush();
  table_.rows.push_back(std::move(cells));
}

}  // namespace equalux::cli::lab
