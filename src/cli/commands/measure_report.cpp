#include "src/cli/commands/measure_report.h"

#include <cstdio>
#include <functional>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/plot/markdown.h"

namespace equalux::cli {
namespace {

using quality::ClipFigures;
using quality::FrameFigures;
using quality::PairFigures;
using quality::StreamFigures;
using Json = nlohmann::ordered_json;

/// A figure of each clip by itself, or of the result beside its original.
template <typename Figures>
struct Row {
  const char* key;    ///< in JSON
  const char* label;  ///< in tables and plots, with its unit
  int digits;
  std::optional<double> (*of)(const Figures&);
};

constexpr Row<StreamFigures> kStreamRows[] = {
    {"entropy_bits", "entropy, bits", 2,
     [](const StreamFigures& f) { return std::optional(f.entropy_bits); }},
    {"mean_level", "mean V, levels", 1,
     [](const StreamFigures& f) { return std::optional(f.mean_level); }},
    {"eme_db", "EME, dB", 1, [](const StreamFigures& f) { return std::optional(f.eme_db); }},
    {"colourfulness", "colourfulness", 1,
     [](const StreamFigures& f) { return std::optional(f.colourfulness); }},
    {"skin_level", "V of skin, levels", 1, [](const StreamFigures& f) { return f.skin_level; }},
    {"noise_sigma", "noise sigma, levels", 2, [](const StreamFigures& f) { return f.noise_sigma; }},
    {"still_step", "static-region RMS step, levels", 3,
     [](const StreamFigures& f) { return f.still_step; }},
    {"temporal_noise", "temporal noise, levels", 2,
     [](const StreamFigures& f) { return f.temporal_noise; }},
};
constexpr Row<PairFigures> kPairRows[] = {
    {"ambe", "AMBE, levels", 1, [](const PairFigures& f) { return std::optional(f.ambe); }},
    {"ssim", "SSIM", 3, [](const PairFigures& f) { return f.ssim; }},
    {"colour_difference", "CIEDE2000", 1,
     [](const PairFigures& f) { return std::optional(f.colour_difference); }},
    {"noise_gain", "noise gain", 2, [](const PairFigures& f) { return f.noise_gain; }},
    {"hue_error_deg", "hue error, degrees", 1,
     [](const PairFigures& f) { return f.hue_error_deg; }},
    {"flicker_transfer", "light-flicker transfer", 2,
     [](const PairFigures& f) { return f.flicker_transfer; }},
    {"texture_kept", "texture kept", 3, [](const PairFigures& f) { return f.texture_kept; }},
    {"ghosting", "ghosting, levels", 2, [](const PairFigures& f) { return f.ghosting; }},
};

std::string number(const std::optional<double>& value, int digits) {
  if (!value) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, *value);
  return text;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "0, 3", one for each cut; "-" where a shot is too short to tell.
std::string settle_text(const std::vector<quality::Cut>& cuts) {
  std::string text;
  for (const quality::Cut& cut : cuts) {
    text += text.empty() ? "" : ", ";
    text += cut.settle_frames ? std::to_string(*cut.settle_frames) : "-";
  }
  return text.empty() ? "-" : text;
}

std::string cuts_text(const std::vector<quality::Cut>& cuts) {
  if (cuts.empty()) return "no cuts";
  std::string text = cuts.size() == 1 ? "a cut at frame" : "cuts at frames";
  for (const quality::Cut& cut : cuts)
    text += (&cut == &cuts.front() ? " " : ", ") + std::to_string(cut.frame);
  return text;
}

std::string heading(const MeasuredClip& clip) {
  const ClipFigures& figures = clip.figures;
  std::string text = "A: " + printable(clip.a) +
                     (clip.b.empty() ? "" : "; B: " + printable(clip.b)) + "; " +
                     counted(figures.frames.size(), "frame") + " of " + std::to_string(clip.width) +
                     "x" + std::to_string(clip.height);
  if (figures.still_share) {
    text +=
        ", " + number(100 * *figures.still_share, 0) + " % of A static, " + cuts_text(figures.cuts);
  }
  if (!clip.note.empty()) text += "; " + printable(clip.note);
  return text + "\n\n";
}

template <typename Figures, std::size_t N>
Json json_of(const Row<Figures> (&rows)[N], const Figures& figures) {
  Json json = Json::object();
  for (const Row<Figures>& row : rows) {
    if (const std::optional<double> value = row.of(figures)) json[row.key] = *value;
  }
  return json;
}

/// Of the clip, and of each of its frames.
template <typename Figures>
Json figures_json(const Figures& figures) {
  Json json{{"a", json_of(kStreamRows, figures.a)}};
  if (figures.b) json["b"] = json_of(kStreamRows, *figures.b);
  if (figures.pair) json["pair"] = json_of(kPairRows, *figures.pair);
  return json;
}

using FrameValue = std::function<std::optional<double>(const FrameFigures&)>;

plot::Series series_of(const std::string& title, const ClipFigures& figures,
                       const FrameValue& value) {
  plot::Series series{title, {}};
  for (std::size_t i = 0; i < figures.frames.size(); ++i) {
    if (const auto y = value(figures.frames[i])) {
      series.points.emplace_back(static_cast<double>(i), *y);
    }
  }
  return series;
}

plot::LineChart over_time(const char* label, const ClipFigures& figures) {
  plot::LineChart chart{label, {"frame", plot::Scale::linear}, {"", plot::Scale::linear}, {}, {},
                        {}};
  chart.dots = false;
  for (const quality::Cut& cut : figures.cuts) {
    chart.verticals.push_back(
        {"cut at " + std::to_string(cut.frame), static_cast<double>(cut.frame)});
  }
  return chart;
}

bool has_points(const plot::LineChart& chart) {
  for (const plot::Series& series : chart.series) {
    if (!series.points.empty()) return true;
  }
  return false;
}

}  // namespace

std::string measure_table(const MeasuredClip& clip) {
  const ClipFigures& figures = clip.figures;
  std::vector<std::vector<std::string>> rows;
  for (const Row<StreamFigures>& row : kStreamRows) {
    rows.push_back({row.label, number(row.of(figures.a), row.digits)});
    if (figures.b) rows.back().push_back(number(row.of(*figures.b), row.digits));
  }
  if (figures.pair) {
    for (const Row<PairFigures>& row : kPairRows)
      rows.push_back({row.label, "", number(row.of(*figures.pair), row.digits)});
    rows.push_back({"frames to settle after a cut", "", settle_text(figures.cuts)});
  }
  std::vector<std::string> columns{"figure", "A"};
  if (figures.b) columns.emplace_back("B");
  return heading(clip) + plot::markdown_table(columns, rows);
}

std::string measure_json(const MeasuredClip& clip) {
  const ClipFigures& figures = clip.figures;
  Json json{{"version", 1}, {"a", clip.a}};
  if (!clip.b.empty()) json["b"] = clip.b;
  json["width"] = clip.width;
  json["height"] = clip.height;
  if (!clip.note.empty()) json["note"] = clip.note;
  json["figures"] = figures_json(figures);
  if (figures.still_share) json["figures"]["still_share"] = *figures.still_share;
  json["cuts"] = Json::array();
  for (const quality::Cut& cut : figures.cuts) {
    Json one{{"frame", cut.frame}};
    if (cut.settle_frames) one["settle_frames"] = *cut.settle_frames;
    json["cuts"].push_back(one);
  }
  json["frames"] = Json::array();
  for (std::size_t i = 0; i < figures.frames.size(); ++i) {
    Json frame = figures_json(figures.frames[i]);
    if (i > 0) frame["still_share"] = figures.frames[i].still_share;
    json["frames"].push_back(std::move(frame));
  }
  return json_text(json, 2) + "\n";
}

std::vector<plot::Panel> measure_panels(const MeasuredClip& clip) {
  const ClipFigures& figures = clip.figures;
  std::vector<plot::LineChart> charts;
  for (const Row<StreamFigures>& row : kStreamRows) {
    charts.push_back(over_time(row.label, figures));
    charts.back().series.push_back(
        series_of("A", figures, [&](const FrameFigures& frame) { return row.of(frame.a); }));
    if (!figures.b) continue;
    charts.back().series.push_back(
        series_of("B", figures, [&](const FrameFigures& frame) { return row.of(*frame.b); }));
  }
  for (const Row<PairFigures>& row : kPairRows) {
    if (!figures.pair) break;
    charts.push_back(over_time(row.label, figures));
    charts.back().series.push_back(series_of(
        "B to A", figures, [&](const FrameFigures& frame) { return row.of(*frame.pair); }));
  }
  std::vector<plot::Panel> panels;
  for (const plot::LineChart& chart : charts) {
    if (has_points(chart)) panels.push_back(plot::line_chart(chart));
  }
  return panels;
}

}  // namespace equalux::cli
