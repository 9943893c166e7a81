#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/export.h>
#include <equalux/image.h>
#include <equalux/options.h>

/// Parameters of the filters, their spellings, and rules.
namespace equalux {

/// Normalization of the cumulative distribution to a curve in [0, 1].
enum class Scaler : std::uint8_t {
  max_abs,          ///< cdf / N
  min_max,          ///< (cdf - cdf[0]) / (N - cdf[0])
  min_max_nonzero,  ///< as min_max, counted from the first bin that is not empty
};

/// Implementation of equalization.
enum class Chain : std::uint8_t {
  fused,   ///< two passes over the frame, exact integers; the production path
  staged,  ///< published stages over a float HSV image, for study; packed RGB and gray8
};

/// Channel that is equalized.
enum class Space : std::uint8_t {
  value,      ///< V of HSV, max(R, G, B); any format
  luma,       ///< Y of YUV; of RGB the weighted mean of BT.709
  lightness,  ///< CIE L* of sRGB; gray and packed RGB of 8 bits
};

/// Backend that filters run on; automatic = CUDA if a device answers, else the CPU.
enum class Backend : std::uint8_t { automatic, cpu, cuda };

/// Treatment of the black around a picture: bars, and the surround of round and octagonal ones.
enum class Surround : std::uint8_t {
  keep,    ///< counted like any other part of the frame
  ignore,  ///< detected and left out of the histogram
};

/// Reference that the bytes of results follow.
enum class Compatible : std::uint8_t {
  none,    ///< ours, as docs/algorithm.md defines them
  opencv,  ///< OpenCV's function for the same purpose; gray frames only
};

/// Memory access of the staged chain; docs/algorithm.md lists the variants of its stages.
enum class RgbToHsvVariant : std::uint8_t { coalesced, uncoalesced };
/// Memory that the staged chain counts in.
enum class HistogramVariant : std::uint8_t { global, shared };
/// Prefix sum by which the staged chain gets the cumulative histogram.
enum class ScanVariant : std::uint8_t {
  baseline,
  two_ended,
  two_ended_shared,
  kogge_stone,
  kogge_stone_shared,
  brent_kung,
  brent_kung_shared,
  cub,
};
/// Application of the curve in the staged chain.
enum class EqualizeVariant : std::uint8_t {
  divide,  ///< one division for each pixel
  curve,   ///< one division for each bin, then a look-up for each pixel
};

/// A CUDA launch extent.
struct Extent3 {
  int x = 1;
  int y = 1;
  int z = 1;
  friend bool operator==(const Extent3&, const Extent3&) = default;
};

/// Variants of the staged chain. The backend chooses where an optional is empty.
struct StagedParams {
  std::optional<RgbToHsvVariant> rgb_to_hsv;  ///< GPU only
  std::optional<HistogramVariant> histogram;  ///< GPU only
  std::optional<ScanVariant> scan;            ///< *_shared and cub: GPU only
  std::optional<EqualizeVariant> equalize;
  std::optional<int> pixels_per_thread;  ///< GPU only; 1, 2, 4 or 8
  std::optional<Extent3> grid;           ///< GPU only; x from 1 on, y and z 1 to 65535
  std::optional<Extent3> block;          ///< GPU only; x, y 1 to 1024, z 1 to 64, x·y·z <= 1024

  friend bool operator==(const StagedParams&, const StagedParams&) = default;
};

/// Fewest and most histogram bins.
inline constexpr int kMinBins = 2;
inline constexpr int kMaxBins = 65536;
/// Strength that follows the picture: 0.8 where contrast is low, down to 0.4 where it is high.
inline constexpr double kAutoStrength = kWordNumber;
/// Least gain that follows the picture: 0.96 where contrast is high, down to none where it is low.
inline constexpr double kAutoMinGain = kWordNumber;
/// Saturation that follows the curve: at each level as much as the curve adds contrast there.
inline constexpr double kAutoSaturation = kWordNumber;
/// Longest time constant in milliseconds, an hour.
inline constexpr double kMaxTemporalMs = 3'600'000;

/// Fixed tone curve for all frames; it fits every depth. curve.h reads and writes it;
/// docs/algorithm.md, "One curve for a whole study".
struct ToneCurve {
  /// Number that stands for one level in `levels`.
  static constexpr std::uint32_t kUnit = 1U << 22;

  Space space = Space::value;  ///< channel that it maps
  std::uint64_t frames = 0;    ///< number of frames whose curves it averages
  /// Output level for each input level i, times kUnit; never falling. There are 256 levels from
  /// black to white, or 220 of limited range. Frames with the other number, or of more bits,
  /// interpolate.
  std::vector<std::uint32_t> levels;
  /// Options that the curves of the frames were made with; informative.
  std::vector<std::pair<std::string, std::string>> made_with;

  friend bool operator==(const ToneCurve&, const ToneCurve&) = default;
};

/// Parameters of histogram equalization. The defaults are plain equalization and stay so in 1.x.
struct EqualizeParams {
  Scaler scaler = Scaler::max_abs;
  int bins = 0;  ///< kMinBins to kMaxBins; 0 = 2^depth of the format (256 at 8 bits)
  Chain chain = Chain::fused;
  StagedParams staged;  ///< empty unless chain is staged

  Space space = Space::value;  ///< value unless chain is fused

  // Bounds of the fused chain's curve; docs/algorithm.md, "Strength and limits" and "Over time".
  /// Blend of the frame as it is (0) and its full equalization (1); or kAutoStrength.
  double strength = 1;
  double clip_limit = 0;  ///< steepest slope of the curve, 1 to 255 times the identity's; 0 = none
  /// Per cent of the pixels, the darkest, that may become black, 0 to 99.9.
  double floor = 0;
  /// Per cent of the pixels above which all others may become white, 0.1 to 100 and at least 0.1
  /// more than floor.
  double ceiling = 100;
  /// Steepest slope of a straight line from floor to ceiling, 1 to 16 times the identity's; 1 = no
  /// line. `strength` then blends with this line instead of the identity, and the clip limit is at
  /// least its slope.
  double stretch = 1;
  double max_gain = 0;  ///< largest gain of a value, 1 to 255; 0 = none
  /// Least gain of a value, 0 to 1; 0 = none; or kAutoMinGain.
  double min_gain = 0;
  /// Factor of S, 0 to 4, which keeps hue and the new value; or kAutoSaturation.
  double saturation = 1;
  double saturation_max = 2.5;  ///< largest factor of kAutoSaturation, 1 to 16
  double temporal_ms = 0;       ///< time constant, up to kMaxTemporalMs; 0 = each frame alone
  // Both only beside temporal_ms, up to kMaxTemporalMs.
  double brighten_ms = 0;  ///< time constant where the picture gets brighter; 0 = temporal_ms
  double darken_ms = 0;    ///< time constant where the picture gets darker; 0 = temporal_ms

  // Pixels that the fused chain counts; all pixels are transformed. Not with lightness, nor with
  // luma of RGB. docs/algorithm.md, "What counts".
  /// Rectangle "x,y,width,height", each in pixels or, with a %, in per cent of the frame's side; or
  /// the path of a PGM file of the frame's size whose bright pixels count; empty = the whole frame.
  std::string region;
  Surround surround = Surround::keep;

  /// opencv: the bytes of cv::equalizeHist, for gray8; all other members must then keep their
  /// defaults. In ClaheParams: the bytes of cv::createCLAHE.
  Compatible compatible = Compatible::none;

  /// Curve of all frames, instead of one from their histograms. It includes the limits, so that of
  /// the members above only `space` may be set beside it.
  std::optional<ToneCurve> curve;

  friend bool operator==(const EqualizeParams&, const EqualizeParams&) = default;
};

/// Lists every rule that the parameters break, one clause each ("bins is 1, must be 2 to 65536 or
/// 0"); empty if they are valid. With a desc, rules that depend on the frame are included; with
/// Backend::cpu, variants that only a GPU has count as broken.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const EqualizeParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);

/// Throws Error(usage) that lists all clauses, if there are any.
EQUALUX_EXPORT void throw_violations(const std::vector<std::string>& broken);

/// Throws Error(usage) that lists all violations() of parameters of any filter.
template <typename Params = EqualizeParams>
void validate(const Params& params, Backend backend, const ImageDesc* desc = nullptr) {
  throw_violations(violations(params, backend, desc));
}

/// Returns true for formats that a filter of these parameters takes.
[[nodiscard]] EQUALUX_EXPORT bool takes(const EqualizeParams& params, PixelFormat format);

/// Returns true where a variant is set that only the CUDA backend has.
[[nodiscard]] EQUALUX_EXPORT bool needs_cuda(const EqualizeParams& params);

EQUALUX_ENUM_NAMES(Scaler)
EQUALUX_ENUM_NAMES(Chain)
EQUALUX_ENUM_NAMES(Space)
EQUALUX_ENUM_NAMES(Backend)
EQUALUX_ENUM_NAMES(Surround)
EQUALUX_ENUM_NAMES(Compatible)
EQUALUX_ENUM_NAMES(RgbToHsvVariant)
EQUALUX_ENUM_NAMES(HistogramVariant)
EQUALUX_ENUM_NAMES(ScanVariant)
EQUALUX_ENUM_NAMES(EqualizeVariant)

/// Filter of the command line, `--filter`: its name and options as text.
struct FilterSpec {
  std::string name;
  OptionValues options;

  [[nodiscard]] EQUALUX_EXPORT std::string text() const;  ///< the spec as a user would write it
};

/// Parses `name[:key=value[,key=value...]]`; an element without `=` continues the value before it
/// (`sigmas=2,3,4`). Keys are not checked. Throws Error(usage) for anything else.
[[nodiscard]] EQUALUX_EXPORT FilterSpec parse_filter_spec(std::string_view text);

/// Options of equalization, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> equalize_options();
/// Sets an option by its key; an empty value unsets an option that may be unset. "curve-from" reads
/// a file and, unless a space is set, takes over its space; it throws as read_curve() does. Throws
/// Error(usage) for an unknown key or an unreadable value; the message says what would be right.
EQUALUX_EXPORT void set_option(EqualizeParams& params, std::string_view key,
                               std::string_view value);
/// Returns an option's value as text, empty where the option is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const EqualizeParams& params,
                                                     std::string_view key);

}  // namespace equalux
