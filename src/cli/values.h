#pragma once

#include <cstdint>
#include <string>

/// Parsers of option values. All throw Error(usage) with the option and its range.
namespace equalux::cli {

[[nodiscard]] std::int64_t read_integer(const std::string& option, const std::string& text,
                                        std::int64_t least, std::int64_t most);
[[nodiscard]] double read_number(const std::string& option, const std::string& text, double least,
                                 double most);
[[nodiscard]] bool read_switch(const std::string& option, const std::string& text);

}  // namespace equalux::cli
