#include "src/equalize/options.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <equalux/curve.h>

namespace equalux {

EQUALUX_DEFINE_NAMES(Backend, "Backend", {"auto", "the GPU where one answers, else the CPU"},
                     {"cpu", "the CPU"}, {"cuda", "an NVIDIA GPU; an error where none answers"})
EQUALUX_DEFINE_NAMES(Scaler, "Scaler",
                     {"max-abs", "cumulative histogram over the number of pixels"},
                     {"min-max", "the same, stretched from the first bin on"},
                     {"min-max-nonzero",
                      "the same, stretched from the first bin that is not empty on"})
EQUALUX_DEFINE_NAMES(Chain, "Chain", {"fused", "two passes over the frame, exact; any format"},
                     {"staged", "the published stages, for study; RGB and GRAY8"})
EQUALUX_DEFINE_NAMES(Space, "Space", {"value", "the largest of R, G and B; any format"},
                     {"luma", "Y of YUV, or a weighted mean of RGB"},
                     {"lightness", "CIE L*, which keeps hue best; RGB and gray of 8 bits"})
EQUALUX_DEFINE_NAMES(Surround, "Surround", {"keep", "it counts like the picture"},
                     {"ignore", "it is found and left out of the histogram"})
EQUALUX_DEFINE_NAMES(Compatible, "Compatible", {"none", "our own formulas; any format"},
                     {"opencv",
                      "OpenCV's, of equalize cv::equalizeHist on GRAY8, of clahe cv::createCLAHE "
                      "on GRAY8 and GRAY16"})
EQUALUX_DEFINE_NAMES(RgbToHsvVariant, "RgbToHsv",
                     {"coalesced", "neighbouring threads read neighbouring pixels"},
                     {"uncoalesced", "each thread reads a run of pixels"})
EQUALUX_DEFINE_NAMES(HistogramVariant, "Histogram", {"global", "counts in global memory"},
                     {"shared", "counts in each block's shared memory first"})
EQUALUX_DEFINE_NAMES(ScanVariant, "Scan", {"baseline", "one bin after another"},
                     {"two-ended", "from both ends"},
                     {"two-ended-shared", "from both ends, in shared memory", Backends::cuda},
                     {"kogge-stone", "Kogge and Stone"},
                     {"kogge-stone-shared", "Kogge and Stone, in shared memory", Backends::cuda},
                     {"brent-kung", "Brent and Kung"},
                     {"brent-kung-shared", "Brent and Kung, in shared memory", Backends::cuda},
                     {"cub", "CUB's scan", Backends::cuda})
EQUALUX_DEFINE_NAMES(EqualizeVariant, "Equalize", {"divide", "a division for each pixel"},
                     {"curve", "a division for each bin, a look-up for each pixel"})

/// Extent as "x", "x,y" or "x,y,z"; missing sides are 1.
template <>
struct OptionValue<Extent3> {
  static constexpr OptionType kType = OptionType::text;

  static Extent3 read(const Option& option, std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ',');
    Extent3 extent;
    const std::array<int*, 3> fields{&extent.x, &extent.y, &extent.z};
    bool readable = parts.size() <= fields.size();
    for (std::size_t i = 0; readable && i < parts.size(); ++i) {
      const std::optional<int> value = number_from<int>(parts[i]);
      readable = value.has_value();
      if (readable) *fields[i] = *value;
    }
    if (!readable) {
      throw_usage(std::string(option.key) + " is " + quoted(text) +
                  ", must be one to three whole numbers: x,y,z");
    }
    return extent;
  }
  static std::string text(const Extent3& value) {
    return std::to_string(value.x) + "," + std::to_string(value.y) + "," + std::to_string(value.z);
  }
  static void check(const Option&, const Extent3&, Clauses&) {}
};

namespace {

using S = StagedParams;

constexpr std::string_view kStaged = "staged chain";
constexpr std::string_view kBackendsChoice = "the backend's choice";

// Limits of a launch on any CUDA device of compute capability 3.0 or later.
bool is_grid(const Extent3& grid) {
  constexpr int kMostYZ = 65535;
  return grid.x >= 1 && grid.y >= 1 && grid.y <= kMostYZ && grid.z >= 1 && grid.z <= kMostYZ;
}

bool is_block(const Extent3& block) {
  constexpr int kMostXY = 1024;
  constexpr int kMostZ = 64;
  constexpr std::int64_t kMostThreads = 1024;
  return block.x >= 1 && block.x <= kMostXY && block.y >= 1 && block.y <= kMostXY && block.z >= 1 &&
         block.z <= kMostZ && std::int64_t{block.x} * block.y * block.z <= kMostThreads;
}

/// Reads the tone curve, and takes its space where no other is set.
void set_curve(const Option&, EqualizeParams& params, std::string_view path) {
  params.curve.reset();
  if (path.empty()) return;
  params.curve = read_curve(std::string(path));
  if (params.space == Space::value) params.space = params.curve->space;
}

std::vector<OptionRow<EqualizeParams>> curve_rows() {
  return {
      {{.key = "scaler",
        .title = "Scaler",
        .help = "how the cumulative histogram becomes the curve",
        .live = true},
       &EqualizeParams::scaler},
      {{.key = "bins",
        .title = "Bins",
        .help = "histogram bins",
        .least = kMinBins,
        .most = kMaxBins,
        .zero_means = "2^depth"},
       &EqualizeParams::bins},
      // Precedes space, which must agree with the curve's where both are set.
      {{.key = "curve-from",
        .title = "Curve from",
        .help = "the curve of every frame: one that equalux run --curve-to wrote, for clips to "
                "stay comparable; it stands alone, without what makes or bounds a curve",
        .unset = "each frame's own"},
       OptionType::file,
       set_curve,
       [](const EqualizeParams& params) { return std::string(params.curve ? "given" : ""); }},
      {{.key = "space", .title = "Space", .help = "what is equalized"}, &EqualizeParams::space},
      {{.key = "strength",
        .title = "Strength",
        .help = "how far the curve goes, from the picture as it is to its full equalization",
        .value = "S",
        .least = 0,
        .most = 1,
        .word = "auto",
        .word_means = "0.8 where the picture lacks contrast, down to 0.4 where it has it",
        .word_number = 0.8,
        .step = 0.05,
        .keys = "[]",
        .live = true},
       &EqualizeParams::strength},
      {{.key = "clip-limit",
        .title = "Clip limit",
        .help = "steepest rise of the curve as a multiple of the identity's",
        .least = 1,
        .most = 255,
        .zero_means = "none",
        .step = 0.25,
        .slider_most = 10,
        .keys = "-=",
        .live = true},
       &EqualizeParams::clip_limit},
      {{.key = "floor",
        .title = "Floor",
        .help = "share of the darkest pixels that may become black",
        .least = 0,
        .most = 99.9,
        .unit = "per cent",
        .step = 0.5,
        .slider_most = 10,
        .live = true},
       &EqualizeParams::floor},
      {{.key = "ceiling",
        .title = "Ceiling",
        .help = "share of the pixels above which they may become white",
        .least = 0.1,
        .most = 100,
        .unit = "per cent",
        .step = 0.5,
        .slider_least = 90,
        .slider_most = 100,
        .live = true},
       &EqualizeParams::ceiling},
      {{.key = "stretch",
        .title = "Stretch",
        .help = "steepest straight line from the picture's floor to its ceiling as a multiple of "
                "the identity; the curve may be as steep, and what strength leaves lies on it",
        .least = 1,
        .most = 16,
        .step = 0.25,
        .slider_least = 1,
        .slider_most = 8,
        .live = true},
       &EqualizeParams::stretch},
      {{.key = "max-gain",
        .title = "Largest gain",
        .help = "largest factor of a pixel's value",
        .least = 1,
        .most = 255,
        .zero_means = "none",
        .step = 0.5,
        .slider_most = 16,
        .live = true},
       &EqualizeParams::max_gain},
      {{.key = "min-gain",
        .title = "Least gain",
        .help = "least factor of a pixel's value; 1 makes nothing darker",
        .least = 0,
        .most = 1,
        .zero_means = "none",
        .word = "auto",
        .word_means = "0.96 where the picture has contrast, down to none where it lacks it",
        .word_number = 0.96,
        .step = 0.05,
        .live = true},
       &EqualizeParams::min_gain},
      {{.key = "saturation",
        .title = "Saturation",
        .help = "factor of each colour's saturation, in steps of 1/256; hue is kept",
        .value = "K",
        .least = 0,
        .most = 4,
        .word = "auto",
        .word_means = "as much as the curve gives contrast back, level by level",
        .word_number = 1,
        .step = 0.1,
        .keys = "()",
        .live = true},
       &EqualizeParams::saturation},
      {{.key = "saturation-max",
        .title = "Largest saturation",
        .help = "largest factor of saturation auto",
        .value = "K",
        .least = 1,
        .most = 16,
        .step = 0.1,
        .slider_least = 1,
        .slider_most = 4,
        .live = true},
       &EqualizeParams::saturation_max},
      {{.key = "temporal-ms",
        .title = "Time constant",
        .help = "time constant of the curve; light flicker is undone, cuts are taken at once",
        .least = 0,
        .most = kMaxTemporalMs,
        .unit = "milliseconds",
        .zero_means = "each frame alone",
        .step = 100,
        .slider_most = 10'000,
        .keys = ",.",
        .live = true},
       &EqualizeParams::temporal_ms},
      {{.key = "brighten-ms",
        .title = "Time constant, brighter",
        .help = "time constant where the picture gets brighter",
        .least = 0,
        .most = kMaxTemporalMs,
        .unit = "milliseconds",
        .zero_means = "temporal-ms",
        .step = 100,
        .slider_most = 10'000,
        .live = true},
       &EqualizeParams::brighten_ms},
      {{.key = "darken-ms",
        .title = "Time constant, darker",
        .help = "time constant where the picture gets darker",
        .least = 0,
        .most = kMaxTemporalMs,
        .unit = "milliseconds",
        .zero_means = "temporal-ms",
        .step = 100,
        .slider_most = 10'000,
        .live = true},
       &EqualizeParams::darken_ms},
  };
}

std::vector<OptionRow<EqualizeParams>> counting_rows() {
  return {
      {{.key = "region",
        .title = "Region",
        .help = "only these pixels make the curve, all are transformed: a rectangle in pixels or, "
                "with a %, in per cent of the frame (10%,10%,80%,80%), or a .pgm, for the program "
                "a .png too, of the frame's size whose white counts",
        .value = "X,Y,W,H|FILE",
        .unset = "the frame"},
       &EqualizeParams::region},
      {{.key = "surround",
        .title = "Surround",
        .help = "black bars and the surround of round and octagonal pictures"},
       &EqualizeParams::surround},
  };
}

std::vector<OptionRow<EqualizeParams>> chain_rows() {
  return {
      {{.key = "chain", .title = "Chain", .help = "which implementation runs"},
       &EqualizeParams::chain},
      {{.key = "compatible",
        .title = "Compatible",
        .help = "whose bytes are made; it stands alone, but for clahe's tiles and clip-limit"},
       &EqualizeParams::compatible},
      {{.key = "scan",
        .title = "Scan",
        .help = "prefix sum of the histogram",
        .group = kStaged,
        .unset = kBackendsChoice},
       &EqualizeParams::staged,
       &S::scan},
      {{.key = "equalize",
        .title = "Equalize",
        .help = "how the curve is applied",
        .group = kStaged,
        .unset = kBackendsChoice},
       &EqualizeParams::staged,
       &S::equalize},
      {{.key = "rgb-to-hsv",
        .title = "RGB to HSV",
        .help = "how pixels are read",
        .group = kStaged,
        .unset = kBackendsChoice,
        .backends = Backends::cuda},
       &EqualizeParams::staged,
       &S::rgb_to_hsv},
      {{.key = "histogram",
        .title = "Histogram",
        .help = "where bins are counted",
        .group = kStaged,
        .unset = kBackendsChoice,
        .backends = Backends::cuda},
       &EqualizeParams::staged,
       &S::histogram},
      OptionRow<EqualizeParams>{{.key = "pixels-per-thread",
                                 .title = "Pixels per thread",
                                 .help = "pixels that a thread handles",
                                 .group = kStaged,
                                 .least = 1,
                                 .most = 8,
                                 .range = "1, 2, 4 or 8",
                                 .unset = kBackendsChoice,
                                 .backends = Backends::cuda},
                                &EqualizeParams::staged,
                                &S::pixels_per_thread}
          .where([](const EqualizeParams& params) {
            const int pixels = params.staged.pixels_per_thread.value_or(1);
            return pixels == 1 || pixels == 2 || pixels == 4 || pixels == 8;
          }),
      OptionRow<EqualizeParams>{{.key = "grid",
                                 .title = "Grid",
                                 .help = "blocks of a launch",
                                 .group = kStaged,
                                 .value = "X,Y,Z",
                                 .range = "x from 1 to 2147483647, y and z from 1 to 65535",
                                 .unset = kBackendsChoice,
                                 .backends = Backends::cuda},
                                &EqualizeParams::staged,
                                &S::grid}
          .where([](const EqualizeParams& params) {
            return is_grid(params.staged.grid.value_or(Extent3{}));
          }),
      OptionRow<EqualizeParams>{
          {.key = "block",
           .title = "Block",
           .help = "threads of a block",
           .group = kStaged,
           .value = "X,Y,Z",
           .range = "x and y from 1 to 1024, z from 1 to 64, x*y*z at most 1024",
           .unset = kBackendsChoice,
           .backends = Backends::cuda},
          &EqualizeParams::staged,
          &S::block}
          .where([](const EqualizeParams& params) {
            return is_block(params.staged.block.value_or(Extent3{}));
          }),
  };
}

}  // namespace

const OptionTable<EqualizeParams>& equalize_table() {
  static const OptionTable<EqualizeParams> table = [] {
    std::vector<OptionRow<EqualizeParams>> rows = curve_rows();
    for (auto part : {counting_rows(), chain_rows()})
      rows.insert(rows.end(), part.begin(), part.end());
    return OptionTable<EqualizeParams>("equalize", std::move(rows));
  }();
  return table;
}

OptionValues changed_options(const EqualizeParams& params) {
  EqualizeParams shape = params;
  shape.space = {};
  shape.chain = {};
  shape.staged = {};
  shape.curve.reset();
  return equalize_table().changed(shape);
}

EQUALUX_DEFINE_OPTIONS(EqualizeParams, equalize)

bool is_of_equalize(const Option& option) {
  const Option* own = find_option(equalize_options(), option.key);
  return own != nullptr && own->help == option.help;
}

}  // namespace equalux
