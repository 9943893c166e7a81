#include "src/cpu/equalize/fused/gain_tables.h"

#include <algorithm>
#include <cstring>

#include "src/equalize/tone_curve.h"
#include "src/equalize/tone_limits.h"

namespace equalux {
namespace {

/// Fills the tables; fraction_of(v) is the exact gain of a value.
template <typename FractionOf>
void fill_gains(const ValueHistogram& present, std::int32_t max_value, std::int32_t max_code,
                const RowKernels& kernels, GainTables& gains, const FractionOf& fraction_of) {
  const auto levels = static_cast<std::size_t>(max_value) + 1;
  gains.gain.fill(1.0f);
  gains.fixed.fill(std::uint64_t{1} << kFixedGainBits);
  gains.gain48.fill(std::uint64_t{1} << 48);
  for (std::size_t v = 1; v < levels; ++v) {
    if (present[v] == 0) continue;
    const GainFraction gain = fraction_of(v);
    // Only at M can a luma code lie above its own v, which was clamped there.
    const std::int32_t most = v + 1 == levels ? max_code : static_cast<std::int32_t>(v);
    const GainBounds bounds = gain_bounds(gain);
    const double safe = safe_gain(gain, bounds, kernels.first_parted(bounds, most));
    gains.gain[v] = static_cast<float>(safe);
    gains.fixed[v] = fixed_gain(safe);
    gains.gain48[v] = gain_48(gain);
  }
  for (std::size_t v = 0; v < 256; ++v) {
    std::array<std::uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &gains.gain[v], 4);
    for (std::size_t b = 0; b < 4; ++b)
      gains.gain_bytes[256 * b + v] = bytes[b];
    gains.gray[v] =
        static_cast<std::uint8_t>(scale_exact(static_cast<std::int32_t>(v), gains.gain48[v]));
    gains.gray_steps[v] =
        static_cast<std::uint8_t>(gains.gray[v] ^ (v % 128 < 16 ? 0 : gains.gray[v - 16]));
  }
}

}  // namespace

void make_gains(const ValueHistogram& counts, Scaler scaler, int bins, std::int32_t max_value,
                std::int32_t max_code, const RowKernels& kernels, GainTables& gains) {
  make_gains(counts, counts, scaler, bins, max_value, max_code, kernels, gains);
}

void make_gains(const ValueHistogram& present, const ValueHistogram& counts, Scaler scaler,
                int bins, std::int32_t max_value, std::int32_t max_code, const RowKernels& kernels,
                GainTables& gains) {
  const auto levels = static_cast<std::size_t>(max_value) + 1;
  // cdf[v] is the cumulative sum up to the whole of v's bin.
  std::array<std::uint64_t, 256> cdf{};
  std::uint64_t sum = 0;
  std::uint64_t first_bin = 0;
  std::uint64_t first_nonempty = 0;
  for (std::size_t v = 0; v < levels;) {
    const std::int64_t bin = bin_of(static_cast<std::int64_t>(v), bins, max_value);
    std::size_t end = v;
    std::uint64_t in_bin = 0;
    while (end < levels && bin_of(static_cast<std::int64_t>(end), bins, max_value) == bin) {
      in_bin += counts[end++];
    }
    sum += in_bin;
    if (bin == 0) first_bin = in_bin;
    if (first_nonempty == 0) first_nonempty = in_bin;
    std::fill(cdf.begin() + static_cast<std::ptrdiff_t>(v),
              cdf.begin() + static_cast<std::ptrdiff_t>(end), sum);
    v = end;
  }
  const CurveScale scale = curve_scale(scaler, first_bin, first_nonempty, sum);
  fill_gains(present, max_value, max_code, kernels, gains, [&](std::size_t v) {
    return gain_fraction(scale, cdf[v], static_cast<std::uint32_t>(v),
                         static_cast<std::uint32_t>(max_value));
  });
}

void make_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                std::int32_t max_value, std::int32_t max_code, const RowKernels& kernels,
                GainTables& gains) {
  fill_gains(counts, max_value, max_code, kernels, gains, [&](std::size_t v) {
    return tone::gain_fraction(static_cast<std::uint32_t>(v), curve[v]);
  });
}

}  // namespace equalux
