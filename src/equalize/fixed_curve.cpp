#include "src/equalize/fixed_curve.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/equalize/options.h"

namespace equalux {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKind = "tone curve";
constexpr int kVersion = 1;
constexpr std::size_t kLevelsALine = 8;
constexpr std::size_t kFullLevels = 256;
constexpr std::size_t kLimitedLevels = 220;

/// W(v) of values up to `most` with `bits` fractional bits, interpolated linearly. Level 0 counts
/// as 0: v = 0 stays black.
std::uint32_t value_between(const ToneCurve& curve, std::uint32_t v, std::uint32_t most, int bits) {
  const auto last = static_cast<std::uint32_t>(curve.levels.size() - 1);
  const std::uint32_t i = v * last / most;
  const std::uint32_t beyond = v * last % most;
  const std::uint64_t low = i == 0 ? 0 : curve.levels[i];
  const std::uint64_t high = curve.levels[std::min(i + 1, last)];
  const std::uint64_t divisor = std::uint64_t{last} << (tone::kCurveBits - bits);
  const std::uint64_t sum = low * (most - beyond) + high * beyond;  // below 2^46
  return static_cast<std::uint32_t>((sum + divisor / 2) / divisor);
}

/// Reads a whole number up to `most`. curve_from_text() turns what this throws into its own Error.
std::uint64_t whole_number(const Json& json, std::string_view what, std::uint64_t most) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most) {
    throw Error(ExitCode::bad_input, std::string(what) + " is " + json_text(json) +
                                         ", must be a whole number up to " + std::to_string(most));
  }
  return json.get<std::uint64_t>();
}

ToneCurve curve_from_json(const Json& json) {
  const auto refuse = [](const std::string& what) { throw Error(ExitCode::bad_input, what); };
  if (!json.is_object() || json.value("equalux", "") != kKind) {
    refuse("is no tone curve, must be a file that --curve-to wrote");
  }
  if (const Json& version = json.at("version"); version != kVersion) {
    refuse("has version " + json_text(version) + ", must be " + std::to_string(kVersion));
  }
  if (const Json& unit = json.at("unit"); unit != ToneCurve::kUnit) {
    refuse("has unit " + json_text(unit) + ", must be " + std::to_string(ToneCurve::kUnit));
  }
  ToneCurve curve;
  const auto space = enum_from<Space>(json.at("space").get<std::string>());
  if (!space)
    refuse("has space " + json_text(json.at("space")) + ", must be value, luma or lightness");
  curve.space = *space;
  curve.frames = whole_number(json.at("frames"), "has frames that", UINT64_MAX);
  for (const Json& level : json.at("levels"))
    curve.levels.push_back(static_cast<std::uint32_t>(
        whole_number(level, "has a level that", std::uint64_t{255} * ToneCurve::kUnit)));
  for (const auto& [key, value] : json.at("made-with").items())
    curve.made_with.emplace_back(key, value.get<std::string>());
  if (const std::string fault = fault_of(curve); !fault.empty()) refuse(fault);
  return curve;
}

}  // namespace

void CurveSum::add(const CurveSum& other) {
  if (other.form.frames == 0) return;
  if (form.frames == 0) {
    *this = other;
    return;
  }
  form.frames += other.form.frames;
  if (other.levels.size() == levels.size()) {
    for (std::size_t v = 0; v < levels.size(); ++v)
      levels[v] += other.levels[v];
    return;
  }
  const auto last = static_cast<int>(levels.size() - 1);
  const std::array<std::uint32_t, 256> table = curve_table(other.mean(), last);
  for (std::size_t v = 0; v < levels.size(); ++v)
    levels[v] += table[v] * other.form.frames;
}

ToneCurve CurveSum::mean() const {
  ToneCurve curve = form;
  curve.levels.clear();
  const std::uint64_t n = form.frames;
  for (const std::uint64_t sum : levels)
    curve.levels.push_back(static_cast<std::uint32_t>((2 * sum + n) / (2 * n)));
  return curve;
}

std::string curve_text(const ToneCurve& curve) {
  Json options = Json::object();
  for (const auto& [key, value] : curve.made_with)
    options[key] = value;
  const Json head{
      {"equalux", kKind},       {"version", kVersion},  {"space", enum_name(curve.space)},
      {"frames", curve.frames}, {"made-with", options}, {"unit", ToneCurve::kUnit}};
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += "  \"" + key + "\": " + json_text(value) + ",\n";
  text += "  \"levels\": [";
  for (std::size_t i = 0; i < curve.levels.size(); ++i) {
    if (i != 0) text += ',';
    text += i % kLevelsALine == 0 ? "\n    " : " ";
    text += std::to_string(curve.levels[i]);
  }
  return text + "\n  ]\n}\n";
}

ToneCurve curve_from_text(std::string_view text, std::string_view name) {
  const auto refuse = [name](const std::string& what) {
    throw Error(ExitCode::bad_input, std::string(name) + " " + what);
  };
  try {
    return curve_from_json(parse_ordered_json(text));
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const nlohmann::json::out_of_range&) {
    refuse("lacks a key, must be a whole file that --curve-to wrote");
  } catch (const nlohmann::json::exception&) {
    refuse("is no JSON of a tone curve, must be a file that --curve-to wrote");
  }
  return {};
}

ToneCurve read_curve(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ExitCode::no_input,
                "curve " + path + " cannot be opened, must be a file that --curve-to wrote");
  }
  // Size limit: a larger file is no curve, perhaps a film.
  constexpr std::size_t kMostBytes = 1 << 20;
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return curve_from_text(text, "curve " + path);
}

CurveTable plain_curve(const std::array<std::uint32_t, 256>& counts, Scaler scaler, int bins,
                       int max_value) {
  const auto levels = static_cast<std::uint32_t>(max_value) + 1;
  const std::array last = last_levels_of_bins(bins, max_value);
  CurveTable sums{};
  std::uint32_t sum = 0;
  std::uint32_t darkest = levels - 1;
  for (std::uint32_t v = 0; v < levels; ++v) {
    if (counts[v] != 0) darkest = std::min(darkest, v);
    sums[v] = sum += counts[v];
  }
  const CurveScale scale = curve_scale(scaler, sums[last[0]], sums[last[darkest]], sum);
  CurveTable curve{};
  for (std::uint32_t v = 0; v < levels; ++v)
    curve[v] = plain_level(scale, sums[last[v]], v, levels - 1);
  return curve;
}

CurveTable curve_table(const ToneCurve& curve, int max_value) {
  std::array<std::uint32_t, 256> table{};
  const auto most = static_cast<std::uint32_t>(max_value);
  for (std::uint32_t v = 0; v <= most; ++v)
    table[v] = value_between(curve, v, most, tone::kCurveBits);
  return table;
}

std::vector<std::uint32_t> deep_curve_table(const ToneCurve& curve, int max_value) {
  const auto most = static_cast<std::uint32_t>(max_value);
  std::vector<std::uint32_t> table;
  for (std::uint32_t v = 0; v <= most; ++v)
    table.push_back(value_between(curve, v, most, kDeepCurveBits));
  return table;
}

CurveSum curve_sum_of(const EqualizeParams& params, std::uint64_t frames,
                      std::vector<std::uint64_t> levels) {
  return {{params.space, frames, {}, changed_options(params)}, std::move(levels)};
}

std::string fault_of(const ToneCurve& curve) {
  const std::size_t count = curve.levels.size();
  if (count != kFullLevels && count != kLimitedLevels) {
    return "has " + std::to_string(count) + " levels, must have 220 or 256";
  }
  if (curve.frames == 0) return "is of no frame, must be of one or more";
  if (!std::is_sorted(curve.levels.begin(), curve.levels.end())) {
    return "falls from one level to the next, must never";
  }
  if (curve.levels.back() > (count - 1) * ToneCurve::kUnit) {
    return "rises above white, must end at " + std::to_string((count - 1) * ToneCurve::kUnit) +
           " or below";
  }
  return {};
}

}  // namespace equalux
