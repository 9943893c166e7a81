#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/invariant.h"
#include "tests/support/long_counts.h"

namespace {

/// Returns the length of the next beginning of a file to try: one byte more. In long files it is a
/// few bytes more, unless every count is wanted, or more where few are, such that every position in
/// a group of four characters is tried, since most of those files are pictures in base64.
std::size_t next_size(std::size_t size, std::size_t whole) {
  const bool is_short = size < 1024 || whole - size < 64;
  if (is_short || equalux::test::wants_every_count()) return size + 1;
  return size + (equalux::test::wants_few_counts() ? 31 : 7);
}

}  // namespace

/// Runs a target without a fuzzer on every file of the named folders, and on every beginning of
/// each file, or a sample of them. So errors that were found once stay fixed with any compiler.
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
        // An exact copy, so that a sanitizer finds a read beyond its end.
        const std::vector<std::uint8_t> input(bytes.begin(),
                                              bytes.begin() + static_cast<std::ptrdiff_t>(size));
        LLVMFuzzerTestOneInput(input.data(), input.size());
      }
    }
  }
  if (files == 0) std::fputs("no inputs; must name folders that hold some\n", stderr);
  return files == 0 ? 1 : 0;
}
