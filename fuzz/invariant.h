#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <equalux/error.h>

/// What every target here shares. One input is one call of LLVMFuzzerTestOneInput(), whose name is
/// libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace equalux::fuzz {

/// Ends the process where something does not hold: a fuzzer takes that for a crash.
inline void require(bool holds, const char* what, std::string_view about = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", what, std::string(about).c_str());
  std::abort();
}

/// Calls `parse`; false where it refuses the input in the way that it says it does. Anything else
/// that it throws goes through, and is a crash.
template <typename Parse>
bool accepted(ExitCode refusal, std::string_view start, const Parse& parse) {
  try {
    parse();
    return true;
  } catch (const Error& error) {
    require(error.code() == refusal, "a refusal has the exit code of bad input", error.what());
    require(std::string_view(error.what()).starts_with(start), "a refusal names what it is about",
            error.what());
    return false;
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes the first line off a text.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  return line;
}

}  // namespace equalux::fuzz
