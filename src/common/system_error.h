#pragma once

#include <string>
#include <system_error>

namespace equalux {

/// Returns a system call's error as text, for the end of a message ("No space left on device").
[[nodiscard]] inline std::string system_error_text(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace equalux
