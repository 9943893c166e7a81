#pragma once

#include <string>

/// Questions about the path of an output.
namespace equalux {

/// out.mp4 -> out.<infix>.mp4
[[nodiscard]] std::string beside(const std::string& path, const char* infix);

/// True where both are there and the same.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

/// Throws Error(cannot_create) where no file of that name can be made.
void check_folder(const std::string& path);

}  // namespace equalux
