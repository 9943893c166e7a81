#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/filter.h>
#include <equalux/image.h>
#include <equalux/params.h>

/// Filters on the eigenvalues of the Hessian [Hxx Hxy; Hxy Hyy], the matrix of second derivatives
/// of a smoothed frame. docs/hessian.md has formulas, sources and pictures.
///
/// Conventions: samples are levels, 0 to 255 in 8-bit formats. lambda1 and lambda2 are the
/// eigenvalues with |lambda1| <= |lambda2|, on a tie the smaller one first. Second derivatives are
/// multiplied by sigma^2, so that the response to a line does not depend on its width. Samples
/// outside the frame replicate those of its edge. CPU and CUDA give the same bits.
namespace equalux {

/// Operator for second derivatives.
enum class HessianDerivative : std::uint8_t {
  gaussian,         ///< derivatives of a sampled Gaussian, as scipy.ndimage.gaussian_filter
  gradient,         ///< the Gaussian, then [-1/2 0 1/2] twice: the first form in the report
  sobel_laplacian,  ///< [1 2 1]/4, [-1 0 1]/2, [1 -2 1], no sigma: the second form in the report
};

/// Channel that is read. Gray frames have one for all choices; YUV frames are taken with luma
/// alone.
enum class HessianChannel : std::uint8_t {
  luma,   ///< Y; of RGB (77 r + 150 g + 29 b + 128) / 256, rounded down (BT.601)
  value,  ///< max(r, g, b)
  red,
  green,
  blue,
};

/// Bounds of parameters. A Gaussian reaches int(truncate · sigma + 0.5) samples to each side, at
/// most kMaxGaussianRadius. Below sigma = 1 it is sampled too coarsely: even a flat frame has a
/// response (at 0.5: -0.14 times its level), which `vessel` and `shapes` would take for lines.
inline constexpr double kMinSigma = 0.5;
inline constexpr double kMinShapeSigma = 1;
inline constexpr double kMaxSigma = 16;
inline constexpr double kMinTruncate = 1;
inline constexpr double kMaxTruncate = 8;
inline constexpr int kMaxGaussianRadius = 64;
inline constexpr int kMaxScales = 8;

/// Parameters of `eigenvalues`, whose result is a frame of format grayf32x2: lambda1 and lambda2.
struct HessianParams {
  // sobel_laplacian has no scale: with it both must keep their defaults.
  double sigma = 2;     ///< pixels, 0.5 to 16
  double truncate = 4;  ///< radius in sigmas, 1 to 8
  HessianDerivative derivative = HessianDerivative::gaussian;
  HessianChannel channel = HessianChannel::luma;

  friend bool operator==(const HessianParams&, const HessianParams&) = default;
};

/// Lines darker or brighter than their surroundings.
enum class Polarity : std::uint8_t { dark, bright };

/// Measure of how much a pixel looks like a line.
enum class VesselMeasure : std::uint8_t {
  ridge,   ///< contrast: lambda2 over local brightness
  frangi,  ///< Frangi's vesselness (MICCAI 1998), 0 to 1: contrast, less where not elongated
};

/// Part of the frame in which vessels are searched.
enum class FieldOfView : std::uint8_t {
  automatic,  ///< "auto": without the dark around a round picture, if all corners are dark
  none,       ///< the whole frame
};

/// Result of `vessel`.
enum class VesselOutput : std::uint8_t {
  mask,     ///< gray8: 255 in vessels, 0 elsewhere
  overlay,  ///< the frame in its own format, vessels tinted
  heat,     ///< bgr: the measure, from black over red and yellow to white
};

/// Parameters of `vessel`, which finds vessels and other lines of several widths.
///
/// A line of width 2 sigma responds most strongly at sigma. Contrast of `ridge` is that of a bar as
/// wide as the scale: 0.1 means a tenth darker (or brighter) than the local mean.
struct VesselParams {
  std::vector<double> sigmas{2, 3, 4};  ///< 1 to 8 scales, pixels, 1 to 16 each
  double truncate = 4;                  ///< radius in sigmas, 1 to 8
  HessianDerivative derivative = HessianDerivative::gaussian;  ///< or gradient
  HessianChannel channel = HessianChannel::luma;
  Polarity polarity = Polarity::dark;
  VesselMeasure measure = VesselMeasure::ridge;
  FieldOfView mask = FieldOfView::automatic;
  /// Lower threshold of hysteresis: least measure of a vessel's pixels, above 0 to 10 and at most
  /// `high`. Empty: 0.08, for frangi 0.1.
  std::optional<double> low;
  /// Upper threshold: least measure of a vessel's strongest pixel, above 0 to 10. Empty: 0.16, for
  /// frangi 0.4.
  std::optional<double> high;
  int min_size = 100;  ///< smallest vessel kept, pixels, 0 to 2^31 - 1
  VesselOutput output = VesselOutput::mask;

  friend bool operator==(const VesselParams&, const VesselParams&) = default;
};

/// Result of `shapes`.
enum class ShapesOutput : std::uint8_t {
  overlay,  ///< the frame in its own format, classes tinted
  classes,  ///< gray8: 0 none, 1 dark line, 2 bright line, 3 dark blob, 4 bright blob
};

/// Parameters of `shapes`, which classifies pixels as lines and blobs (Figure 1 of the report).
///
/// |lambda2| below `threshold`: no class. Otherwise a blob where lambda1 / lambda2 >= blob_ratio, a
/// line where |lambda1 / lambda2| <= line_ratio, no class in between; dark where lambda2 > 0.
struct ShapesParams {
  // sobel_laplacian has no scale: with it both must keep their defaults.
  double sigma = 3;     ///< pixels, 1 to 16
  double truncate = 4;  ///< radius in sigmas, 1 to 8
  HessianDerivative derivative = HessianDerivative::gaussian;
  HessianChannel channel = HessianChannel::luma;
  double threshold = 8;     ///< in levels, above 0 to 1000
  double line_ratio = 0.3;  ///< 0 to 1, at most blob_ratio
  double blob_ratio = 0.6;  ///< 0 to 1
  ShapesOutput output = ShapesOutput::overlay;

  friend bool operator==(const ShapesParams&, const ShapesParams&) = default;
};

EQUALUX_ENUM_NAMES(HessianDerivative)
EQUALUX_ENUM_NAMES(HessianChannel)
EQUALUX_ENUM_NAMES(Polarity)
EQUALUX_ENUM_NAMES(VesselMeasure)
EQUALUX_ENUM_NAMES(FieldOfView)
EQUALUX_ENUM_NAMES(VesselOutput)
EQUALUX_ENUM_NAMES(ShapesOutput)

/// Lists every rule that the parameters break, one clause each; empty if they are valid. With a
/// desc, rules that depend on the frame are included.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const HessianParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const VesselParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const ShapesParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// Returns true for formats that filters of these parameters take.
[[nodiscard]] EQUALUX_EXPORT bool takes(const HessianParams& params, PixelFormat format);
[[nodiscard]] EQUALUX_EXPORT bool takes(const VesselParams& params, PixelFormat format);
[[nodiscard]] EQUALUX_EXPORT bool takes(const ShapesParams& params, PixelFormat format);
/// Returns the format of all results; nothing where a result has the format of its frame.
[[nodiscard]] EQUALUX_EXPORT std::optional<PixelFormat> output_format(const HessianParams& params);
[[nodiscard]] EQUALUX_EXPORT std::optional<PixelFormat> output_format(const VesselParams& params);
[[nodiscard]] EQUALUX_EXPORT std::optional<PixelFormat> output_format(const ShapesParams& params);

/// Options of the filters, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> hessian_options();
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> vessel_options();
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> shapes_options();
/// Sets an option by its key. Throws Error(usage) for an unknown key or an unreadable value; the
/// message says what would be right.
EQUALUX_EXPORT void set_option(HessianParams& params, std::string_view key, std::string_view value);
EQUALUX_EXPORT void set_option(VesselParams& params, std::string_view key, std::string_view value);
EQUALUX_EXPORT void set_option(ShapesParams& params, std::string_view key, std::string_view value);
/// Returns an option's value as text, empty where the option is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const HessianParams& params,
                                                     std::string_view key);
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const VesselParams& params,
                                                     std::string_view key);
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const ShapesParams& params,
                                                     std::string_view key);

/// Makes the filters on the CPU. They take gray8, grayf32, packed RGB of 8 bits, nv12, i420, y42b
/// and y444; overlays need 8 bits. Throws Error(usage) where params or threads are invalid.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const HessianParams& params, const CpuOptions& options = {});
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const VesselParams& params, const CpuOptions& options = {});
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const ShapesParams& params, const CpuOptions& options = {});

/// Makes the filters on a GPU; results are the same bits as on the CPU. Throws Error(usage) where
/// params are invalid, and Error(unavailable) where no device answers or this build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const HessianParams& params, const CudaOptions& options = {});
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const VesselParams& params, const CudaOptions& options = {});
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const ShapesParams& params, const CudaOptions& options = {});

}  // namespace equalux
