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

/// Parameters of the filters, their spellings, and the rules they obey.
namespace equalux {

/// How the cumulative histogram becomes a curve in [0, 1].
enum class Scaler : std::uint8_t {
  max_abs,          ///< cdf / N
  min_max,          ///< (cdf - cdf[0]) / (N - cdf[0])
  min_max_nonzero,  ///< as min_max from the first bin that is not empty
};

/// Which implementation of equalization runs.
enum class Chain : std::uint8_t {
  fused,   ///< two passes over the frame, exact integers; the production path
  staged,  ///< the published stages over a float HSV image, for study; RGB forms and gray8
};

/// What is equalized.
enum class Space : std::uint8_t {
  value,      ///< V of HSV, max(R, G, B); any format
  luma,       ///< Y of YUV, or BT.709's weighted mean of RGB
  lightness,  ///< CIE L* of sRGB; gray and packed RGB of 8 bits
};

/// Where filters run; automatic: on CUDA if a device answers, else on the CPU.
enum class Backend : std::uint8_t { automatic, cpu, cuda };

/// What becomes of the black around a picture: bars, and the surround of round and octagonal ones.
enum class Surround : std::uint8_t {
  keep,    ///< it counts like any other part of the frame
  ignore,  ///< it is found and left out of the histogram
};

/// Whose bytes are made.
enum class Compatible : std::uint8_t {
  none,    ///< ours, as docs/algorithm.md defines them
  opencv,  ///< those of OpenCV's function for the same purpose; gray frames
};

/// How the staged chain reads pixels; docs/algorithm.md tells all variants of its stages.
enum class RgbToHsvVariant : std::uint8_t { coalesced, uncoalesced };
/// Where the staged chain counts.
enum class HistogramVariant : std::uint8_t { global, shared };
/// How the staged chain adds counts up to the cumulative histogram.
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
/// How the staged chain gets from sums to values.
enum class EqualizeVariant : std::uint8_t {
  divide,  ///< one division for each pixel
  curve,   ///< divisions once into the curve, a look-up for each pixel
};

/// A CUDA launch extent.
struct Extent3 {
  int x = 1;
  int y = 1;
  int z = 1;
  friend bool operator==(const Extent3&, const Extent3&) = default;
};

/// Knobs of the staged chain. An empty optional leaves the choice to the backend.
struct StagedParams {
  std::optional<RgbToHsvVariant> rgb_to_hsv;  ///< GPU only
  std::optional<HistogramVariant> histogram;  ///< GPU only
  std::optional<ScanVariant> scan;            ///< *_shared and cub: GPU only
  std::optional<EqualizeVariant> equalize;
  std::optional<int> pixels_per_thread;  ///< GPU only; 1, 2, 4 or 8
  std::optional<Extent3> grid;           ///< GPU only
  std::optional<Extent3> block;          ///< GPU only

  friend bool operator==(const StagedParams&, const StagedParams&) = default;
};

/// Fewest and most histogram bins.
inline constexpr int kMinBins = 2;
inline constexpr int kMaxBins = 65536;
/// A strength that is 0.8 where a picture lacks contrast, and less the more it has, down to 0.4.
inline constexpr double kAutoStrength = kWordNumber;
/// A least gain of 0.96 where a picture has contrast, and less the less it has, down to none.
inline constexpr double kAutoMinGain = kWordNumber;
/// A saturation that follows how much contrast the curve gives back at each level.
inline constexpr double kAutoSaturation = kWordNumber;
/// Longest time constant, an hour in milliseconds.
inline constexpr double kMaxTemporalMs = 3'600'000;

/// A tone curve that no longer depends on frames; it fits every depth. curve.h reads and writes it;
/// docs/algorithm.md, "One curve for a whole study".
struct ToneCurve {
  /// What one level of a result is.
  static constexpr std::uint32_t kUnit = 1U << 22;

  Space space = Space::value;  ///< what its levels are levels of
  std::uint64_t frames = 0;    ///< whose mean it is
  /// What level i becomes, times kUnit; never falling. 256 levels from black to white, or the 220
  /// of limited range; frames with the other number, or of more than 8 bits, get what lies between.
  std::vector<std::uint32_t> levels;
  /// Options that the frames' curves were made with, for people to read.
  std::vector<std::pair<std::string, std::string>> made_with;

  friend bool operator==(const ToneCurve&, const ToneCurve&) = default;
};

/// Parameters of histogram equalization. The defaults are plain equalization and stay so.
struct EqualizeParams {
  Scaler scaler = Scaler::max_abs;
  int bins = 0;  ///< kMinBins to kMaxBins; 0 = 2^depth of the format (256 at 8 bits)
  Chain chain = Chain::fused;
  StagedParams staged;  ///< must be empty unless chain is staged

  Space space = Space::value;  ///< value unless chain is fused

  // What the fused chain's curve obeys; docs/algorithm.md, "Strength and limits" and "Over time".
  /// 0 to 1: from the frame as it is to its full equalization. kAutoStrength = as contrast lacks
  double strength = 1;
  double clip_limit = 0;  ///< steepest rise of the curve, 1 to 255 times the identity's; 0 = none
  double floor = 0;       ///< per cent of the darkest pixels that may become black
  double ceiling = 100;   ///< per cent of the pixels above which they may become white
  /// Steepest straight line between floor and ceiling, 1 to 16 times the identity; 1 = none. What
  /// strength leaves of a frame lies on it, and a clip limit is no less.
  double stretch = 1;
  double max_gain = 0;  ///< largest factor of a value, 1 to 255; 0 = none
  /// least factor of a value, 0 to 1; 0 = none. kAutoMinGain = as far as there is contrast
  double min_gain = 0;
  /// factor of S, 0 to 4; hue and the new value stay. kAutoSaturation = as contrast grows
  double saturation = 1;
  double saturation_max = 2.5;  ///< largest factor where that is kAutoSaturation, 1 to 4
  double temporal_ms = 0;  ///< time constant of the curve, to kMaxTemporalMs; 0 = each frame alone
  double brighten_ms = 0;  ///< time constant where it gets brighter; 0 = temporal_ms
  double darken_ms = 0;    ///< time constant where it gets darker; 0 = temporal_ms

  // Which pixels the fused chain counts, in formats of 8 bits; all of them are transformed.
  // docs/algorithm.md, "What counts".
  /// "x,y,width,height", each in pixels or, with a %, in per cent of the frame's width or height;
  /// or a file of the frame's size whose bright pixels count, PGM; empty = all
  std::string region;
  Surround surround = Surround::keep;

  /// opencv: the bytes of cv::equalizeHist, on gray8; nothing else may be set beside it. `clahe`
  /// has those of cv::createCLAHE, on gray8 and gray16_le, with its tiles and its clip limit.
  Compatible compatible = Compatible::none;

  /// The curve of all frames, in place of one made of their histograms. It has its limits in it:
  /// nothing above but its space may be set beside it.
  std::optional<ToneCurve> curve;

  friend bool operator==(const EqualizeParams&, const EqualizeParams&) = default;
};

/// Every rule that the parameters break, one clause each ("bins is 1, must be 2 to 65536 or 0");
/// empty if all hold. With a desc, the rules that depend on the frame are included; with
/// Backend::cpu, the knobs that only a GPU has.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const EqualizeParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);

/// Throws Error(usage) that lists all clauses, if there are any.
EQUALUX_EXPORT void throw_violations(const std::vector<std::string>& broken);

/// Throws Error(usage) that lists all violations() of parameters, whichever filter's.
template <typename Params = EqualizeParams>
void validate(const Params& params, Backend backend, const ImageDesc* desc = nullptr) {
  throw_violations(violations(params, backend, desc));
}

/// True for the formats that filters of these parameters take.
[[nodiscard]] EQUALUX_EXPORT bool takes(const EqualizeParams& params, PixelFormat format);

/// True where a knob is set that only the CUDA backend has.
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

/// One `--filter` of the command line: a filter's name and its parameters as written.
struct FilterSpec {
  std::string name;
  OptionValues options;

  [[nodiscard]] EQUALUX_EXPORT std::string text() const;  ///< as the user would write it
};

/// Parses `name[:key=value[,key=value...]]`; an element without `=` continues the value before it
/// (`sigmas=2,3,4`). Throws Error(usage) for anything else; knows no filter's keys.
[[nodiscard]] EQUALUX_EXPORT FilterSpec parse_filter_spec(std::string_view text);

/// The options of equalization, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> equalize_options();
/// Sets an option by its key. Throws Error(usage) for an unknown key or an unreadable value, naming
/// what would be right. An empty value undoes what may be unset. "curve-from" reads a file and
/// takes its space over where none was set: it throws as read_curve() does.
EQUALUX_EXPORT void set_option(EqualizeParams& params, std::string_view key,
                               std::string_view value);
/// The value of an option as it is written; empty where it is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const EqualizeParams& params,
                                                     std::string_view key);

}  // namespace equalux
