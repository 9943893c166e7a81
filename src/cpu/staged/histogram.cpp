#include <algorithm>
#include <array>

#include "src/cpu/staged/staged_stages.h"
#include "src/format/pixel_math.h"

namespace equalux {
void histogram(std::span<const float> v, std::span<std::uint32_t> counts,
               std::span<std::uint32_t> partial, RowExecutor& executor) {
  const std::size_t bins = counts.size();
  std::array<std::uint32_t, 256> bin_of_level;
  for (std::size_t level = 0; level < bin_of_level.size(); ++level) {
    bin_of_level[level] = static_cast<std::uint32_t>(
        bin_of(static_cast<std::int64_t>(level), static_cast<std::int64_t>(bins), 255));
  }
  std::fill(partial.begin(), partial.end(), 0u);
  const auto chunks = static_cast<int>((v.size() + kPixelChunk - 1) / kPixelChunk);
  executor.for_rows(chunks, [&](int begin, int end, int slot) {
    const std::span<std::uint32_t> own =
        partial.subspan(static_cast<std::size_t>(slot) * bins, bins);
    const std::size_t last = std::min(v.size(), static_cast<std::size_t>(end) * kPixelChunk);
    for (std::size_t i = static_cast<std::size_t>(begin) * kPixelChunk; i < last; ++i) {
      ++own[bin_of_level[static_cast<std::size_t>(level_of(v[i]))]];
    }
  });
  for (std::size_t b = 0; b < bins; ++b) {
    std::uint32_t sum = 0;
    for (std::size_t at = b; at < partial.size(); at += bins)
      sum += partial[at];
    counts[b] = sum;
  }
}

}  // namespace equalux
