#include "src/denoise/noise_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace equalux::denoise {
namespace {

/// A block of the last frame, in the counts of all frames; each frame takes an eighth off them.
constexpr std::uint32_t kUnit = 256;
/// Blocks that a level must have for its noise to be known.
constexpr std::uint32_t kEnough = 24;

/// The texture below which a fifth of the blocks is, which is that of flat ones in most pictures.
int low_texture(const std::array<std::uint32_t, kTextureBins>& counts, std::uint64_t all) {
  std::uint64_t below = 0;
  for (int bin = 0; bin < kTextureBins; ++bin) {
    const std::uint64_t here = counts[static_cast<std::size_t>(bin)];
    if (5 * (below + here) >= all) {
      // Within the bin as if its blocks were spread evenly, in 1 / 64 of it.
      const auto part = static_cast<int>((64 * (all / 5 - std::min(below, all / 5))) / here);
      const int octave = bin / 8;
      const std::int64_t scaled = 64 * (8 + bin % 8) + std::min(part, 63);
      return static_cast<int>((scaled << octave) >> 9);
    }
    below += here;
  }
  return 0;
}

/// The standard deviation of noise whose blocks have a texture: of 216 weights a block, the fifth
/// of blocks with the least texture ends at 0.651 of it (measured over Gaussian noise). At most
/// what the option `noise` may be: chequers are no noise, and curves have 16 bits.
int sigma_of(int texture) {
  return std::min((texture + 70) / 141, 64 * kLevel);
}

LevelCurve curve_of(const std::array<int, kSegments + 1>& knots) {
  LevelCurve curve{};
  for (std::size_t i = 0; i < kSegments; ++i) {
    curve.knot[i] = static_cast<std::int16_t>(knots[i]);
    curve.rise[i] = static_cast<std::int16_t>(knots[i + 1] - knots[i]);
  }
  return curve;
}

NoiseCurves curves_of(const std::array<int, kSegments + 1>& sigma) {
  std::array<int, kSegments + 1> inverse{};
  for (std::size_t i = 0; i < sigma.size(); ++i)
    inverse[i] = std::min(kOne - 1, (1 << 16) / std::max(sigma[i], 1));
  return {curve_of(sigma), curve_of(inverse)};
}

/// Fills what is not known from the nearest that is, on a line between two.
void fill_gaps(std::array<std::optional<int>, kSegments>& sigma) {
  int last = -1;
  for (int i = 0; i < kSegments; ++i) {
    if (!sigma[static_cast<std::size_t>(i)]) continue;
    const int here = *sigma[static_cast<std::size_t>(i)];
    const int from = last < 0 ? here : *sigma[static_cast<std::size_t>(last)];
    for (int k = last + 1; k < i; ++k)
      sigma[static_cast<std::size_t>(k)] = from + (here - from) * (k - last) / (i - last);
    last = i;
  }
  const int rest = last < 0 ? 0 : *sigma[static_cast<std::size_t>(last)];
  for (int k = last + 1; k < kSegments; ++k)
    sigma[static_cast<std::size_t>(k)] = rest;
}

}  // namespace

NoiseCurves constant_noise(int sigma) {
  std::array<int, kSegments + 1> knots{};
  knots.fill(sigma);
  return curves_of(knots);
}

NoiseCurves NoiseEstimate::finish_frame() {
  std::array<std::optional<int>, kSegments> sigma;
  for (std::size_t i = 0; i < kSegments; ++i) {
    std::uint64_t sum = 0;
    for (std::size_t bin = 0; bin < kTextureBins; ++bin) {
      std::uint32_t& all = all_[i][bin];
      all = all - (all + 7) / 8 + kUnit * counts_[i][bin];
      sum += all;
    }
    if (sum >= std::uint64_t{kEnough} * kUnit) sigma[i] = sigma_of(low_texture(all_[i], sum));
  }
  clear();
  fill_gaps(sigma);
  // A segment's noise is that of its middle: a knot lies between two.
  std::array<int, kSegments + 1> knots{};
  knots.front() = *sigma.front();
  for (std::size_t i = 1; i < kSegments; ++i)
    knots[i] = (*sigma[i - 1] + *sigma[i] + 1) / 2;
  knots.back() = *sigma.back();
  return curves_of(knots);
}

void NoiseEstimate::add(const NoiseEstimate& other) {
  for (std::size_t i = 0; i < kSegments; ++i)
    for (std::size_t bin = 0; bin < kTextureBins; ++bin)
      counts_[i][bin] += other.counts_[i][bin];
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
