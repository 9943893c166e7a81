// Runs a scan with a planted race: `compute-sanitizer --tool racecheck racy_scan` must report it.
// Exits 0 whether or not the sums came out right, 77 without a device.
#include <cstdio>
#include <numeric>

#include "tests/staged/device_array.h"
#include "tests/staged/racy_scan.h"
#include "tests/support/device/device_image.h"

int main() {
  using namespace equalux;
  try {
    if (!test::has_cuda_device()) {
      std::puts("no CUDA device");
      return 77;
    }
    std::vector<std::uint32_t> counts(test::kMostRacyElements);
    std::iota(counts.begin(), counts.end(), 1U);
    test::DeviceArray<std::uint32_t> in(counts);
    test::DeviceArray<std::uint32_t> out(counts.size());
    test::racy_scan(in.get(), out.get(), test::kMostRacyElements, nullptr);
    const std::vector<std::uint32_t> sums = out.download();
    std::size_t wrong = 0;
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      expected += counts[i];
      wrong += sums[i] != expected ? 1 : 0;
    }
    std::printf("%zu of %zu sums are wrong\n", wrong, sums.size());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
