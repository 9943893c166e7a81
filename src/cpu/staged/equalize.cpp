#include <algorithm>

#include "src/cpu/staged/staged_stages.h"
#include "src/format/pixel_math.h"

namespace equalux {
CurveScale scale_of(Scaler scaler, std::span<const std::uint32_t> counts,
                    std::span<const std::uint32_t> cdf) {
  const auto first =
      std::find_if(counts.begin(), counts.end(), [](std::uint32_t count) { return count != 0; });
  return curve_scale(scaler, counts.front(), first == counts.end() ? 0 : *first, cdf.back());
}

void equalize(EqualizeVariant variant, std::span<const std::uint32_t> cdf, const CurveScale& scale,
              std::span<float> v, std::span<float> curve, RowExecutor& executor) {
  if (scale.span == 0) return;  // identity
  const auto bins = static_cast<std::int64_t>(cdf.size());
  if (variant == EqualizeVariant::curve) {
    for (std::size_t b = 0; b < cdf.size(); ++b)
      curve[b] = curve_value(scale, cdf[b]);
  }
  const auto chunks = static_cast<int>((v.size() + kPixelChunk - 1) / kPixelChunk);
  executor.for_rows(chunks, [&](int begin, int end, int) {
    const std::size_t last = std::min(v.size(), static_cast<std::size_t>(end) * kPixelChunk);
    for (std::size_t i = static_cast<std::size_t>(begin) * kPixelChunk; i < last; ++i) {
      const std::int32_t level = level_of(v[i]);
      if (level == 0) continue;
      const auto bin = static_cast<std::size_t>(bin_of(level, bins, 255));
      v[i] = variant == EqualizeVariant::curve ? curve[bin] : curve_value(scale, cdf[bin]);
    }
  });
}

}  // namespace equalux
