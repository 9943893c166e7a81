#include "src/cli/config_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <equalux/error.h>

#include "src/common/utf8.h"
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

bool is_key_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

void append_utf8(std::string& text, unsigned code) {
  const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// Parser of one text, from front to back.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<ConfigEntry> entries() {
    std::vector<ConfigEntry> found;
    std::string table;
    for (skip_to_item(); !at_end(); skip_to_item()) {
      if (peek() == '[') {
        table = read_table();
        continue;
      }
      ConfigEntry entry = read_entry();
      entry.table = table;
      const bool twice = std::any_of(found.begin(), found.end(), [&](const ConfigEntry& other) {
        return other.table == entry.table && other.key == entry.key;
      });
      if (twice) fail("key " + entry.key + " stands twice, must stand once", entry.line);
      found.push_back(std::move(entry));
    }
    return found;
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  char next() {
    const char c = peek();
    if (!at_end()) ++at_;
    if (c == '\n') ++line_;
    return c;
  }
  [[noreturn]] void fail(const std::string& what, int line) const {
    throw_usage(name_ + ":" + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(what, line_); }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r')
      next();
  }
  void skip_comment() {
    while (!at_end() && peek() != '\n')
      next();
  }
  /// Skips blank lines and comments.
  void skip_to_item() {
    while (true) {
      skip_blanks();
      if (peek() == '#') {
        skip_comment();
      } else if (peek() == '\n') {
        next();
      } else {
        return;
      }
    }
  }
  void end_of_line() {
    skip_blanks();
    if (peek() == '#') skip_comment();
    if (!at_end() && peek() != '\n') {
      fail("'" + rest_of_line() + "' follows the value, must be a comment or nothing");
    }
  }
  [[nodiscard]] std::string rest_of_line() const {
    const std::string_view rest = text_.substr(at_);
    return std::string(rest.substr(0, std::min(rest.find_first_of("\r\n"), rest.size())));
  }

  std::string read_key() {
    if (peek() == '"' || peek() == '\'') return read_string();
    std::string key;
    while (is_key_letter(peek()))
      key += next();
    if (key.empty()) fail("'" + rest_of_line() + "' has no key, must be key = value");
    return key;
  }

  std::string read_table() {
    next();
    skip_blanks();
    std::string table = read_key();
    skip_blanks();
    if (peek() != ']') fail("[" + table + " is no table, must be [command]");
    next();
    end_of_line();
    return table;
  }

  ConfigEntry read_entry() {
    ConfigEntry entry;
    entry.line = line_;
    entry.key = read_key();
    skip_blanks();
    if (next() != '=') fail("key " + entry.key + " has no value, must be key = value", entry.line);
    skip_blanks();
    if (peek() == '[') {
      entry.is_array = true;
      entry.values = read_array(entry.key);
    } else {
      entry.values.push_back(read_value(entry.key));
    }
    end_of_line();
    return entry;
  }

  std::vector<std::string> read_array(const std::string& key) {
    const int start = line_;
    std::vector<std::string> values;
    next();
    while (true) {
      skip_to_item();
      if (at_end()) fail("the array of " + key + " has no end, must end with ]", start);
      if (peek() == ']') break;
      values.push_back(read_value(key));
      skip_to_item();
      if (peek() == ',') {
        next();
      } else if (!at_end() && peek() != ']') {
        fail("the array of " + key + " goes on with '" + rest_of_line() + "', must be , or ]");
      }
    }
    next();
    return values;
  }

  std::string read_value(const std::string& key) {
    if (peek() == '"' || peek() == '\'') return read_string();
    std::string word;
    while (!at_end() && std::string_view(" \t\r\n,]#").find(peek()) == std::string_view::npos) {
      word += next();
    }
    if (word == "true" || word == "false") return word;
    std::string digits = word;
    std::erase(digits, '_');
    const std::string_view number(digits);
    if (number_from<double>(number.substr(number.starts_with('+') ? 1 : 0))) return digits;
    fail(key + " is " + (word.empty() ? "empty" : word) +
         ", must be a number, true, false, or text in quotes");
  }

  std::string read_string() {
    const int start = line_;
    const char quote = next();
    std::string value;
    while (true) {
      if (at_end() || peek() == '\n') fail("the text '" + value + "' has no closing quote", start);
      const char c = next();
      if (c == quote) return value;
      if (c == '\\' && quote == '"') {
        read_escape(value);
      } else {
        value += c;
      }
    }
  }

  void read_escape(std::string& value) {
    static constexpr std::string_view kLetters = "btnfr\"\\";
    static constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    const char letter = next();
    if (const std::size_t which = kLetters.find(letter); which != std::string_view::npos) {
      value += kMeanings[which];
      return;
    }
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (letter != 'u' || digits.size() < 4 || error != std::errc{} || end != digits.data() + 4) {
      fail(std::string("\\") + letter + " is no escape, must be one of \\\" \\\\ \\n \\t \\uXXXX");
    }
    at_ += 4;
    append_utf8(value, code);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& name) {
  return Reader(without_mark(text), name).entries();
}

std::vector<ConfigEntry> read_config(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw Error(ExitCode::no_input,
                "config file " + path + " cannot be read, must be a readable TOML file");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_config(text, path);
}

}  // namespace equalux::cli
