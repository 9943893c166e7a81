#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include "src/common/json_text.h"

/// The raw figures of a run as a file.
namespace equalux::bench {

/// Writes `json` to `path`, or nothing if that is empty. Returns the program's exit code: 74, with
/// a line on stderr, where it cannot be written.
template <typename Json>
int write_json(const std::string& path, const Json& json, const char* program) {
  if (path.empty()) return 0;
  std::ofstream out(path);
  out << json_text(json, 2) << "\n";
  out.flush();
  if (out) return 0;
  std::fprintf(stderr, "%s: cannot write %s\n", program, path.c_str());
  return 74;
}

}  // namespace equalux::bench
