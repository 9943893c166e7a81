#include "src/denoise/noise_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace equalux::denoise {
namespace {

int low_texture(const std::array<std::uint32_t, kTextureBins>& counts, std::uint64_t all) {
  std::uint64_t below = 0;
  for (int bin = 0; bin < kTextureBins; ++bin) {
    const std::uint64_t here = counts[static_cast<std::size_t>(bin)];
    if (ends_fifth(below, here, all)) return texture_of_fifth(bin, below, here, all);
    below += here;
  }
  return 0;
}

NoiseCurves curves_of(const int (&sigma)[kSegments]) {
  NoiseCurves curves{};
  for (int i = 0; i < kSegments; ++i)
    set_segment(sigma, i, curves);
  return curves;
}

}  // namespace

NoiseCurves constant_noise(int sigma) {
  int all[kSegments];
  std::fill(std::begin(all), std::end(all), sigma);
  return curves_of(all);
}

/// Adds the frame's counts of a row of bins to those of all frames, and returns their sum.
std::uint64_t NoiseEstimate::sum_frame(std::size_t row) {
  std::uint64_t sum = 0;
  for (std::size_t bin = 0; bin < kTextureBins; ++bin) {
    all_[row][bin] = count_after(all_[row][bin], counts_[row][bin]);
    sum += all_[row][bin];
  }
  return sum;
}

NoiseCurves NoiseEstimate::finish_frame() {
  int sigma[kSegments];
  for (std::size_t i = 0; i < kSegments; ++i) {
    sigma[i] = kUnknown;
    if (!counted_[i] && !seen_[i]) continue;
    const std::size_t coarse = kSegments + i;
    const std::uint64_t sum = sum_frame(i);
    const std::uint64_t coarse_sum = sum_frame(coarse);
    seen_[i] = sum != 0 || coarse_sum != 0;
    if (!has_enough_blocks(sum)) continue;
    sigma[i] = sigma_of(low_texture(all_[i], sum));
    if (has_enough_blocks(coarse_sum))
      sigma[i] = joined_sigma(sigma[i], sigma_of(low_texture(all_[coarse], coarse_sum)));
  }
  clear();
  fill_gaps(sigma);
  return curves_of(sigma);
}

void NoiseEstimate::add(const NoiseEstimate& other) {
  for (std::size_t i = 0; i < kSegments; ++i) {
    for (const std::size_t row : {i, kSegments + i})
      for (std::size_t bin = 0; other.counted_[i] && bin < kTextureBins; ++bin)
        counts_[row][bin] += other.counts_[row][bin];
  }
  counted_ |= other.counted_;
}

void NoiseEstimate::clear() {
  for (std::size_t i = 0; i < kSegments; ++i)
    if (counted_[i]) counts_[i] = counts_[kSegments + i] = {};
  counted_.reset();
}

std::string NoiseEstimate::bytes() const {
  std::string bytes(sizeof all_, '\0');
  std::memcpy(bytes.data(), all_.data(), sizeof all_);
  return bytes;
}

bool NoiseEstimate::set_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof all_) return false;
  std::memcpy(all_.data(), bytes.data(), sizeof all_);
  counts_ = {};
  counted_.reset();
  seen_.set();
  return true;
}

const WeightTables& weight_tables() {
  static const WeightTables tables = [] {
    WeightTables made{};
    for (std::size_t n = 1; n < kWeights; ++n) {
      const auto weight = static_cast<double>(n);
      const auto part = [](double x) {
        return static_cast<std::uint8_t>(std::min(std::lround(256 * x), 255L));
      };
      made.keep[n] = part(weight / (weight + 1));
      made.certainty[n] = part(1 / std::sqrt(1 + 1 / weight));
      made.left[n] = part(1 / std::sqrt(weight));
    }
    made.left[0] = 255;
    return made;
  }();
  return tables;
}

}  // namespace equalux::denoise
