#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Plots of measurements, drawn by gnuplot.
namespace equalux::plot {

/// Plot, one of those in a picture, as gnuplot's input.
struct Panel {
  std::string data;      ///< lines of the data block $PANEL
  std::string commands;  ///< commands that draw the block
};

/// Scale of an axis; `whole` is linear with whole numbers only.
enum class Scale { linear, whole, log2, log10 };

struct Axis {
  std::string label;
  Scale scale = Scale::linear;
};

/// Points, or a line through them.
struct Series {
  std::string title;
  std::vector<std::pair<double, double>> points;
  bool line = true;
};

/// Line across the whole panel.
struct Mark {
  std::string title;
  double at = 0;
};

struct LineChart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Mark> levels;  ///< horizontal
  std::vector<Mark> verticals;
  /// Names of places along x that replace numbers; none = numbers.
  std::vector<std::pair<std::string, double>> x_names = {};
  bool dots = true;  ///< markers at the points of lines
};
[[nodiscard]] Panel line_chart(const LineChart& chart);

/// Values on a grid with a logarithmic colour scale; the least value is framed.
struct HeatMap {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<std::optional<double>>> values;  ///< positive
};
[[nodiscard]] Panel heat_map(const HeatMap& map);

/// Bars in groups, a group for each name.
struct BarChart {
  std::string title;
  Axis y;
  std::vector<std::string> names;
  /// One value for each name; missing values can only be the last.
  std::vector<std::pair<std::string, std::vector<double>>> series;
};
[[nodiscard]] Panel bar_chart(const BarChart& chart);

/// Boxes on lanes over time.
struct LaneBox {
  std::size_t lane = 0;
  double begin = 0;
  double end = 0;
  std::string text;
};
struct LaneChart {
  std::string title;
  std::string x_label;
  std::vector<std::string> lanes;  ///< the first one on top
  std::vector<LaneBox> boxes;
};
[[nodiscard]] Panel lane_chart(const LaneChart& chart);

/// Draws panels, two in a row, to a .png or .svg. Throws Error(unavailable, cannot_create,
/// write_failed).
void draw_figure(const std::vector<Panel>& panels, const std::string& path);

}  // namespace equalux::plot
