#include "src/cli/commands/measure_report.h"

#include <functional>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "src/common/formatting.h"
#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/size_text.h"
#include "src/plot/markdown.h"
#include "src/quality/figures_json.h"

namespace equalux::cli {
namespace {

using quality::ClipFigures;
using quality::FigureRow;
using quality::FrameFigures;
using quality::kPairFigures;
using quality::kStreamFigures;
using quality::PairFigures;
using quality::StreamFigures;
using Json = nlohmann::ordered_json;

std::string number(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

/// Returns such as "0, 3", a number for each cut; "-" where a shot is too short to tell.
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
  std::string text =
      "A: " + printable(clip.a) + (clip.b.empty() ? "" : "; B: " + printable(clip.b)) + "; " +
      counted(figures.frames.size(), "frame") + " of " + size_text(clip.width, clip.height);
  if (figures.still_share) {
    text +=
        ", " + number(100 * *figures.still_share, 0) + " % of A static, " + cuts_text(figures.cuts);
  }
  if (!clip.note.empty()) text += "; " + printable(clip.note);
  return text + "\n\n";
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
  for (const FigureRow<StreamFigures>& row : kStreamFigures) {
    rows.push_back({row.label, number(row.of(figures.a), row.digits)});
    if (figures.b) rows.back().push_back(number(row.of(*figures.b), row.digits));
  }
  if (figures.pair) {
    for (const FigureRow<PairFigures>& row : kPairFigures)
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
  // Figures have the same form in all reports.
  json.update(quality::figures_json(figures));
  return json_text(json, 2) + "\n";
}

std::vector<plot::Panel> measure_panels(const MeasuredClip& clip) {
  const ClipFigures& figures = clip.figures;
  std::vector<plot::LineChart> charts;
  for (const FigureRow<StreamFigures>& row : kStreamFigures) {
    charts.push_back(over_time(row.label, figures));
    charts.back().series.push_back(
        series_of("A", figures, [&](const FrameFigures& frame) { return row.of(frame.a); }));
    if (!figures.b) continue;
    charts.back().series.push_back(
        series_of("B", figures, [&](const FrameFigures& frame) { return row.of(*frame.b); }));
  }
  for (const FigureRow<PairFigures>& row : kPairFigures) {
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
