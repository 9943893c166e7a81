#include <algorithm>
#include <numeric>

#include <equalux/error.h>

#include "src/cpu/staged/staged_stages.h"

// Scans of section 3.4 of the HSV equalization report; each thread of the GPU is an iteration here.
// docs/algorithm.md draws them on ten numbers.
namespace equalux {
namespace {

using Counts = std::span<const std::uint32_t>;
using Sums = std::span<std::uint32_t>;

/// Section 3.4.1: every element sums all up to it. n^2 / 2 additions.
void baseline(Counts counts, Sums cdf) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    cdf[i] = std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             std::uint32_t{0});
  }
}

/// Section 3.4.2: sums from the nearer end, as the total is known. n^2 / 4 additions.
void two_ended(Counts counts, Sums cdf) {
  const std::uint32_t total = std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
  const std::size_t n = counts.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    cdf[i] = i < n / 2 ? std::accumulate(counts.begin(), middle, std::uint32_t{0})
                       : total - std::accumulate(middle, counts.end(), std::uint32_t{0});
  }
}

/// Section 3.4.3, Kogge and Stone 1973: log2 n steps, each from one array to another, so that no
/// element is overwritten before it is read. n log2 n additions, depth log2 n.
void kogge_stone(Counts counts, Sums cdf, Sums scratch) {
  std::copy(counts.begin(), counts.end(), cdf.begin());
  Sums from = cdf;
  Sums to = scratch;
  for (std::size_t distance = 1; distance < counts.size(); distance *= 2) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = from[i] + (i >= distance ? from[i - distance] : 0);
    }
    std::swap(from, to);
  }
  if (from.data() != cdf.data()) std::copy(from.begin(), from.end(), cdf.begin());
}

/// Section 3.4.4, Brent and Kung 1982: sums of pairs, fours, eights upward, then the gaps downward,
/// in place. 2 n additions, depth 2 log2 n.
void brent_kung(Counts counts, Sums cdf) {
  std::copy(counts.begin(), counts.end(), cdf.begin());
  const std::size_t n = cdf.size();
  std::size_t distance = 1;
  for (; distance < n; distance *= 2) {
    for (std::size_t i = 2 * distance - 1; i < n; i += 2 * distance)
      cdf[i] += cdf[i - distance];
  }
  for (; distance >= 1; distance /= 2) {
    for (std::size_t i = 3 * distance - 1; i < n; i += 2 * distance)
      cdf[i] += cdf[i - distance];
  }
}

}  // namespace

void cdf_scan(std::optional<ScanVariant> variant, Counts counts, Sums cdf, Sums scratch) {
  if (!variant.has_value()) {
    std::partial_sum(counts.begin(), counts.end(), cdf.begin());
    return;
  }
  switch (*variant) {
    case ScanVariant::baseline:
      return baseline(counts, cdf);
    case ScanVariant::two_ended:
      return two_ended(counts, cdf);
    case ScanVariant::kogge_stone:
      return kogge_stone(counts, cdf, scratch);
    case ScanVariant::brent_kung:
      return brent_kung(counts, cdf);
    default:
      throw Error(ExitCode::usage, "scan " + std::string(enum_name(*variant)) +
                                       " needs the CUDA backend; the CPU has baseline, two-ended, "
                                       "kogge-stone and brent-kung");
  }
}

}  // namespace equalux
