#include "src/common/params_text.h"

#include <algorithm>
#include <charconv>

#include <equalux/curve.h>
#include <equalux/error.h>

#include "src/common/option_values.h"

/// Parameters from text: options, config keys and `--filter` specs.
namespace equalux {
namespace {

Extent3 read_extent(std::string_view key, std::string_view text) {
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
    throw_usage(std::string(key) + " is " + quoted(text) +
                ", must be one to three whole numbers: x,y,z");
  }
  return extent;
}

/// One of the numbers that shape the curve.
struct CurveKey {
  std::string_view key;
  double EqualizeParams::*field;
  std::string_view range;
};
constexpr std::array<CurveKey, 8> kCurveKeys{{
    {"strength", &EqualizeParams::strength, "0 to 1"},
    {"clip-limit", &EqualizeParams::clip_limit, "1 to 255, or 0 for none"},
    {"floor", &EqualizeParams::floor, "0 to below ceiling, in per cent"},
    {"ceiling", &EqualizeParams::ceiling, "above floor to 100, in per cent"},
    {"max-gain", &EqualizeParams::max_gain, "1 to 255, or 0 for none"},
    {"temporal-ms", &EqualizeParams::temporal_ms, "0 to 3600000, in milliseconds"},
    {"brighten-ms", &EqualizeParams::brighten_ms, "0 to 3600000, in milliseconds"},
    {"darken-ms", &EqualizeParams::darken_ms, "0 to 3600000, in milliseconds"},
}};

bool set_curve_option(EqualizeParams& params, std::string_view key, std::string_view value) {
  for (const CurveKey& each : kCurveKeys) {
    if (each.key != key) continue;
    params.*each.field = read_double(key, value, each.range);
    return true;
  }
  return false;
}

/// The shortest number that is read as this one.
std::string text_of(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), number);
  return {std::begin(text), end};
}

/// Takes the curve and, where no other is set, its space.
void set_curve(EqualizeParams& params, std::string_view path) {
  params.curve = read_curve(std::string(path));
  if (params.space == Space::value) params.space = params.curve->space;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> changed_options(const EqualizeParams& params) {
  const EqualizeParams usual;
  std::vector<std::pair<std::string, std::string>> changed;
  if (params.scaler != usual.scaler) changed.emplace_back("scaler", enum_name(params.scaler));
  if (params.bins != usual.bins) changed.emplace_back("bins", std::to_string(params.bins));
  for (const CurveKey& each : kCurveKeys) {
    const double number = params.*each.field;
    if (number != usual.*each.field) changed.emplace_back(each.key, text_of(number));
  }
  if (!params.region.empty()) changed.emplace_back("region", params.region);
  if (params.surround != usual.surround) {
    changed.emplace_back("surround", enum_name(params.surround));
  }
  return changed;
}

void set_option(EqualizeParams& params, std::string_view key, std::string_view value) {
  StagedParams& staged = params.staged;
  if (key == "scaler") {
    params.scaler = read_enum<Scaler>(key, value);
  } else if (key == "bins") {
    params.bins = read_int(key, value, "2 to 65536, or 0 for 2^depth");
  } else if (key == "chain") {
    params.chain = read_enum<Chain>(key, value);
  } else if (key == "space") {
    params.space = read_enum<Space>(key, value);
  } else if (set_curve_option(params, key, value)) {
    return;
  } else if (key == "curve-from") {
    set_curve(params, value);
  } else if (key == "region") {
    params.region = value;
  } else if (key == "surround") {
    params.surround = read_enum<Surround>(key, value);
  } else if (key == "rgb-to-hsv") {
    staged.rgb_to_hsv = read_enum<RgbToHsvVariant>(key, value);
  } else if (key == "histogram") {
    staged.histogram = read_enum<HistogramVariant>(key, value);
  } else if (key == "scan") {
    staged.scan = read_enum<ScanVariant>(key, value);
  } else if (key == "equalize") {
    staged.equalize = read_enum<EqualizeVariant>(key, value);
  } else if (key == "pixels-per-thread") {
    staged.pixels_per_thread = read_int(key, value, "1, 2, 4 or 8");
  } else if (key == "grid") {
    staged.grid = read_extent(key, value);
  } else if (key == "block") {
    staged.block = read_extent(key, value);
  } else {
    refuse_key("equalize", key, equalize_option_keys());
  }
}

const std::vector<std::string_view>& equalize_option_keys() {
  static const std::vector<std::string_view> keys{
      "scaler",      "bins",      "chain",      "space",    "strength",
      "clip-limit",  "floor",     "ceiling",    "max-gain", "temporal-ms",
      "brighten-ms", "darken-ms", "curve-from", "region",   "surround",
      "rgb-to-hsv",  "histogram", "scan",       "equalize", "pixels-per-thread",
      "grid",        "block"};
  return keys;
}

std::string FilterSpec::text() const {
  std::string line = name;
  char separator = ':';
  for (const auto& [key, value] : options) {
    line += separator + key + '=' + value;
    separator = ',';
  }
  return line;
}

FilterSpec parse_filter_spec(std::string_view text) {
  static constexpr std::string_view kForm = ", must be name[:key=value[,key=value...]]";
  const std::size_t colon = text.find(':');
  FilterSpec spec{std::string(text.substr(0, colon)), {}};
  if (spec.name.empty() || spec.name.find_first_of("=, ") != std::string::npos) {
    throw_usage("filter " + quoted(text) + " has no name" + std::string(kForm));
  }
  if (colon == std::string_view::npos) return spec;

  for (const std::string_view element : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = element.find('=');
    if (equals == std::string_view::npos) {
      if (spec.options.empty() || element.empty()) {
        throw_usage("filter " + quoted(text) + " has " + quoted(element) + " without a key" +
                    std::string(kForm));
      }
      spec.options.back().second += ',' + std::string(element);
      continue;
    }
    const std::string key(element.substr(0, equals));
    const std::string value(element.substr(equals + 1));
    if (key.empty() || value.empty()) {
      throw_usage("filter " + quoted(text) + " has " + quoted(element) + " without a " +
                  (key.empty() ? "key" : "value") + std::string(kForm));
    }
    const bool twice = std::any_of(spec.options.begin(), spec.options.end(),
                                   [&](const auto& option) { return option.first == key; });
    if (twice) throw_usage("filter " + quoted(text) + " sets " + key + " twice, must be once");
    spec.options.emplace_back(key, value);
  }
  return spec;
}

}  // namespace equalux
