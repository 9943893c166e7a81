#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/invariant.h"
#include "tests/support/long_counts.h"

namespace {

/// The beginning of a file that is tried behind one of `size` bytes: a byte more, or where few are
/// wanted, of long files, most of which are pictures as base64, one of every place in a group of
/// four characters.
std::size_t next_size(std::size_t size, std::size_t whole) {
  const bool is_short = size < 1024 || whole - size < 64;
  return size + (is_short || !equalux::test::wants_few_counts() ? 1 : 7);
}

}  // namespace

/// A target without a fuzzer: gives it every file of the folders named, and every beginning of
/// each, or a sample of those. So what was ever found stays mended under any compiler.
int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      if (!file) {
        std::fprintf(stderr, "%s cannot be read\n", entry.path().c_str());
        return 1;
      }
      ++files;
      for (std::size_t size = 0; size <= bytes.size(); size = next_size(size, bytes.size())) {
        // A copy of its own, so that a sanitizer sees a step behind its end.
        const std::vector<std::uint8_t> input(bytes.begin(),
                                              bytes.begin() + static_cast<std::ptrdiff_t>(size));
        LLVMFuzzerTestOneInput(input.data(), input.size());
      }
    }
  }
  if (files == 0) std::fputs("no inputs; must name folders that hold some\n", stderr);
  return files == 0 ? 1 : 0;
}
