#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

#include "src/cpu/common/parallel.h"
#include "src/equalize/tone/tone_curve.h"

/// Stages of the staged chain on the CPU, one file each, as in the HSV equalization report. Each
/// works on whole frames and may be called alone.
namespace equalux {

/// Pixels that a thread takes at a time.
inline constexpr std::size_t kPixelChunk = std::size_t{1} << 14;

/// Float HSV image: three planes of width x height floats without padding.
struct HsvImage {
  std::vector<float> h;  ///< degrees, 0 to below 360
  std::vector<float> s;  ///< 0 to 1
  std::vector<float> v;  ///< 0 to 1

  void resize(std::size_t pixels) {
    h.resize(pixels);
    s.resize(pixels);
    v.resize(pixels);
  }
};

/// Converts a packed RGB or gray8 frame to HSV. `out` has room for its pixels.
void rgb_to_hsv(const ConstImageView& in, HsvImage& out, RowExecutor& executor);

/// Counts bin(round(255 V)); `counts` has an element for each bin. `partial` is scratch memory of
/// executor.threads() x counts.size() elements.
void histogram(std::span<const float> v, std::span<std::uint32_t> counts,
               std::span<std::uint32_t> partial, RowExecutor& executor);

/// Computes inclusive prefix sums of `counts`, at most 2^31 in all. Every variant gives the same
/// sums; none is the running sum of the report's section 2.4. `scratch` has the same length. Throws
/// Error(usage) for a variant that only a GPU has.
void cdf_scan(std::optional<ScanVariant> variant, std::span<const std::uint32_t> counts,
              std::span<std::uint32_t> cdf, std::span<std::uint32_t> scratch);

/// Replaces V by T(bin(round(255 V))); black stays black. `curve` is scratch memory of cdf.size()
/// elements for EqualizeVariant::curve.
void equalize(EqualizeVariant variant, std::span<const std::uint32_t> cdf, const CurveScale& scale,
              std::span<float> v, std::span<float> curve, RowExecutor& executor);

/// Returns a scaler's offset and span from the counts and sums of all bins.
[[nodiscard]] CurveScale scale_of(Scaler scaler, std::span<const std::uint32_t> counts,
                                  std::span<const std::uint32_t> cdf);

/// Converts an HSV image to a packed RGB or gray8 frame. The fourth byte of pixels comes from
/// `original`, the frame that the HSV image was made of.
void hsv_to_rgb(const HsvImage& in, const ConstImageView& original, const ImageView& out,
                RowExecutor& executor);

}  // namespace equalux
