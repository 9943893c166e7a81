#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Parsers of option values, and lists of them as text. All parsers throw Error(usage) with the
/// option and its range.
namespace equalux::cli {

[[nodiscard]] std::int64_t read_integer(const std::string& option, const std::string& text,
                                        std::int64_t least, std::int64_t most);
[[nodiscard]] double read_number(const std::string& option, const std::string& text, double least,
                                 double most);
[[nodiscard]] bool read_switch(const std::string& option, const std::string& text);

/// Returns texts as one, with `between` them.
[[nodiscard]] std::string joined(const std::vector<std::string>& texts, std::string_view between);

}  // namespace equalux::cli
