#include "src/denoise/noise_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

namespace equalux::denoise {
namespace {

std::uint64_t sum_of(const std::array<std::uint32_t, kTextureBins>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Rows of a segment in a histogram.
std::array<std::size_t, 5> rows_of(std::size_t segment) {
  return {segment, kCoarseRows + segment, kResidualRows + segment, kSwingRows + segment,
          kChangeRows + segment};
}

/// Interpolates unknown segments between known neighbours, and extends the first and last known
/// one.
void fill_gaps(int (&sigma)[kSegments]) {
  int known[kSegments];
  std::copy(std::begin(sigma), std::end(sigma), std::begin(known));
  for (int i = 0; i < kSegments; ++i) {
    if (known[i] != kUnknown) continue;
    int left = i;
    while (left >= 0 && known[left] == kUnknown)
      --left;
    int right = i;
    while (right < kSegments && known[right] == kUnknown)
      ++right;
    sigma[i] =
        between_known(known, left >= 0 ? left : kUnknown, i, right < kSegments ? right : kUnknown);
  }
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

/// Adds the frame's counts of a row of bins to those of all frames.
void NoiseEstimate::sum_frame(std::size_t row) {
  for (std::size_t bin = 0; bin < kTextureBins; ++bin)
    all_[row][bin] = count_after(all_[row][bin], counts_[row][bin]);
}

/// Standard deviation that so many tenths of a row's blocks tell, or kUnknown.
int NoiseEstimate::sigma_of_row(std::size_t row, int tenths) const {
  auto bin = static_cast<std::size_t>(first_texture_bin(static_cast<int>(row)));
  const std::uint64_t sum = std::accumulate(all_[row].begin() + static_cast<std::ptrdiff_t>(bin),
                                            all_[row].end(), std::uint64_t{0});
  if (sum < least_count(static_cast<int>(row), columns_, rows_)) return kUnknown;
  std::uint64_t below = 0;
  while (!ends_tenths(tenths, below, all_[row][bin], sum))
    below += all_[row][bin++];
  return sigma_of(texture_of_tenths(tenths, static_cast<int>(bin), below, all_[row][bin], sum));
}

/// white_share() of the trends at all levels.
int NoiseEstimate::white_share_of_all() const {
  std::uint64_t kept = 0;
  std::uint64_t turned = 0;
  for (std::size_t row = kChangeRows; row < kTextureRows; ++row) {
    kept += all_[row][kKeptBin];
    turned += all_[row][kTurnedBin];
  }
  return white_share(kept, turned);
}

void NoiseEstimate::make_curves() {
  const int white = white_share_of_all();
  int sigma[kSegments];
  for (std::size_t i = 0; i < kSegments; ++i) {
    sigma[i] = kUnknown;
    if (!seen_[i]) continue;
    const auto [fine, coarse, residuals, swings, changes] = rows_of(i);
    const int by_fine = sigma_of_row(fine, kFifth);
    const int by_coarse = sigma_of_row(coarse, kFifth);
    const int share = residual_share(sum_of(all_[fine]), sum_of(all_[residuals]));
    const int told = segment_sigma(by_fine, by_coarse, sigma_of_row(residuals, kHalf),
                                   sigma_of_row(residuals, kNineTenths), share, chroma_);
    const int floor = sigma_of_row(changes, kTenth);
    const int swing = sigma_of_row(swings, kHalf);
    const int most = most_swinging_sigma(told, by_fine, by_coarse, floor,
                                         std::min(white, narrow_share(floor, swing)), chroma_);
    sigma[i] = swinging_sigma(told, swing, most);
  }
  fill_gaps(sigma);
  curves_ = curves_of(sigma);
}

void NoiseEstimate::finish_frame() {
  for (std::size_t i = 0; i < kSegments; ++i) {
    if (!counted_[i] && !seen_[i]) continue;
    bool any = false;
    for (const std::size_t row : rows_of(i)) {
      sum_frame(row);
      any = any || std::any_of(all_[row].begin(), all_[row].end(),
                               [](std::uint32_t count) { return count != 0; });
    }
    seen_[i] = any;
  }
  clear();
  known_ = true;
  make_curves();
}

void NoiseEstimate::add(const NoiseEstimate& other) {
  for (std::size_t i = 0; i < kSegments; ++i) {
    for (const std::size_t row : rows_of(i))
      for (std::size_t bin = 0; other.counted_[i] && bin < kTextureBins; ++bin)
        counts_[row][bin] += other.counts_[row][bin];
  }
  counted_ |= other.counted_;
}

void NoiseEstimate::clear() {
  for (std::size_t i = 0; i < kSegments; ++i) {
    if (!counted_[i]) continue;
    for (const std::size_t row : rows_of(i))
      counts_[row] = {};
  }
  counted_.reset();
}

std::string NoiseEstimate::bytes() const {
  if (!known_) return {};
  std::string bytes(sizeof all_, '\0');
  std::memcpy(bytes.data(), all_.data(), sizeof all_);
  return bytes;
}

bool NoiseEstimate::set_bytes(std::string_view bytes) {
  if (!bytes.empty() && bytes.size() != sizeof all_) return false;
  all_ = {};
  counts_ = {};
  counted_.reset();
  seen_.set();
  known_ = !bytes.empty();
  if (known_) std::memcpy(all_.data(), bytes.data(), sizeof all_);
  make_curves();
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
