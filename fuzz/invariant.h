#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <equalux/error.h>

/// Entry point of every target, one call for each input; libFuzzer requires the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace equalux::fuzz {

/// Ends the process where `holds` is false, which a fuzzer counts as a crash.
inline void require(bool holds, const char* what, std::string_view about = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", what, std::string(about).c_str());
  std::abort();
}

/// Calls `parse`; returns false where it rejects the input with its documented error. Any other
/// exception is not caught and counts as a crash.
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

/// Removes the first line from a text and returns it.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  return line;
}

}  // namespace equalux::fuzz
