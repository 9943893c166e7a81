#include <cmath>

#include <equalux/clahe.h>

#include "src/clahe/opencv_tiles.h"
#include "src/clahe/tile_grid.h"
#include "src/equalize/options.h"

/// Options of adaptive equalization, and its rules between options and about frames.
namespace equalux {
namespace {

std::string text(int x, int y) {
  return std::to_string(x) + "," + std::to_string(y);
}

void read_tiles(const Option&, ClaheParams& params, std::string_view value) {
  const std::vector<std::string_view> parts = split(value, ',');
  const std::optional<int> x = number_from<int>(parts.front());
  const std::optional<int> y = number_from<int>(parts.back());
  if (parts.size() > 2 || !x || !y) {
    throw_usage("tiles is " + quoted(value) + ", must be one or two whole numbers x,y, 1 to " +
                std::to_string(kMostTiles));
  }
  params.tiles_x = *x;
  params.tiles_y = *y;
}

const OptionTable<ClaheParams>& clahe_table() {
  static const OptionTable<ClaheParams> table = [] {
    std::vector<OptionRow<ClaheParams>> rows{
        {{.key = "tiles",
          .title = "Tiles",
          .help = "tiles beside and above each other, x,y",
          .value = "X,Y",
          .range = "1 to 16 each, with compatible opencv to 256"},
         OptionType::text,
         read_tiles,
         [](const ClaheParams& params) { return text(params.tiles_x, params.tiles_y); }}};
    for (const char* key :
         {"clip-limit", "strength", "floor", "ceiling", "max-gain", "min-gain", "temporal-ms",
          "brighten-ms", "darken-ms", "scaler", "compatible", "saturation", "saturation-max"})
      rows.push_back(
          OptionRow<ClaheParams>::within(&ClaheParams::curve, equalize_table().find(key)));
    return OptionTable<ClaheParams>("clahe", std::move(rows));
  }();
  return table;
}

bool is_opencv(const ClaheParams& params) {
  return params.curve.compatible == Compatible::opencv;
}

void check_tiles(Clauses& broken, const ClaheParams& params, const ImageDesc* desc) {
  const int most = is_opencv(params) ? kMostOpencvTiles : kMostTiles;
  const auto in_range = [most](int tiles) { return tiles >= 1 && tiles <= most; };
  const std::string tiles = "tiles is " + text(params.tiles_x, params.tiles_y);
  if (!in_range(params.tiles_x) || !in_range(params.tiles_y)) {
    broken.push_back(tiles + ", must be 1 to " + std::to_string(most) + " each");
  } else if (desc != nullptr && !is_opencv(params)) {
    const CellCount cells = cells_of(*desc);
    if (params.tiles_x > cells.columns || params.tiles_y > cells.rows) {
      broken.push_back(tiles + ", must be at most " + text(cells.columns, cells.rows) +
                       " for this frame");
    }
  } else if (desc != nullptr && desc->format == PixelFormat::gray16_le &&
             params.tiles_x * params.tiles_y > kMostOpencvDeepTiles) {
    broken.push_back(tiles + ", must be at most " + std::to_string(kMostOpencvDeepTiles) +
                     " in all for frames of 16 bits, whose tables take 128 KiB each");
  }
}

/// Checks that no option is set that createCLAHE lacks, and the clip limit that it takes.
void check_compatible(Clauses& broken, const ClaheParams& params) {
  std::string others;
  for (const auto& [key, value] : clahe_table().changed(params)) {
    if (key == "tiles" || key == "clip-limit" || key == "compatible") continue;
    others += (others.empty() ? "" : ", ") + key;
  }
  if (!others.empty()) {
    broken.push_back("compatible is opencv beside " + others +
                     ", must stand with tiles and clip-limit alone: cv::createCLAHE has no others");
  }
  const double limit = params.curve.clip_limit;
  if (!(limit >= 0) || !std::isfinite(limit)) {
    broken.push_back("clip-limit is " + number_text(limit) +
                     ", must be 0 for none or above for compatible opencv");
  }
}

/// Curve parameters that equalization's own rules apply to.
EqualizeParams plain_rules(const ClaheParams& params) {
  EqualizeParams curve = params.curve;
  if (!is_opencv(params)) return curve;
  curve.compatible = Compatible::none;
  curve.clip_limit = 0;
  return curve;
}

}  // namespace

Clauses violations(const ClaheParams& params, Backend backend, const ImageDesc* desc) {
  Clauses broken;
  if (params.curve.bins != 0) {
    broken.push_back("bins is " + std::to_string(params.curve.bins) + ", must be 0 for clahe");
  }
  if (params.curve.chain != Chain::fused) {
    broken.push_back("chain is " + std::string(enum_name(params.curve.chain)) +
                     ", must be fused for clahe");
  }
  // Tiles are those of the whole frame's value, each with its own curve.
  const EqualizeParams& curve = params.curve;
  if (curve.space != Space::value) {
    broken.push_back("space is " + std::string(enum_name(curve.space)) +
                     ", must be value for clahe");
  }
  if (!curve.region.empty()) broken.push_back("region is set, must be empty for clahe");
  if (curve.surround != Surround::keep) {
    broken.push_back("surround is " + std::string(enum_name(curve.surround)) +
                     ", must be keep for clahe");
  }
  if (curve.curve) broken.push_back("curve-from is set, must be left out for clahe");
  for (std::string& clause : violations(plain_rules(params), backend))
    broken.push_back(std::move(clause));
  if (is_opencv(params)) check_compatible(broken, params);
  if (desc != nullptr && !takes(params, desc->format)) {
    broken.push_back("the frame's format is " + std::string(to_string(desc->format)) +
                     (is_opencv(params) ? ", must be gray8 or gray16_le for compatible opencv"
                                        : ", must be gray, packed RGB or YUV"));
  }
  check_tiles(broken, params, desc);
  return broken;
}

bool takes(const ClaheParams& params, PixelFormat format) {
  if (is_opencv(params)) return format == PixelFormat::gray8 || format == PixelFormat::gray16_le;
  return has_byte_samples(format) || has_deep_samples(format);
}

EQUALUX_DEFINE_OPTIONS(ClaheParams, clahe)

}  // namespace equalux
