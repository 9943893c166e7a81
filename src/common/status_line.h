#pragma once

#include <string>

/// The line of a terminal that shows how far a run is. Lines of the log go above it.
namespace equalux {

/// Shows `text` in place of the last one, on stderr; empty clears the line. Thread-safe. For a
/// program whose log goes to stderr; otherwise it does nothing.
void show_status(const std::string& text);

}  // namespace equalux
