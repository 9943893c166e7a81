#pragma once

#include <string>

/// Questions about paths that more than one command asks.
namespace equalux::cli {

/// Lower case, without the dot; empty where there is none.
[[nodiscard]] std::string extension_of(const std::string& path);

/// Throws Error(usage) where both name the same file, also by links or other spellings.
void refuse_same_file(const std::string& input, const std::string& output);

/// Throws Error(no_input) where nothing is there.
void require_input(const std::string& path);

}  // namespace equalux::cli
