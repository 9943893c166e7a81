#include "src/plot/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "pipelines/files/file_names.h"
#include "src/plot/gnuplot.h"

namespace equalux::plot {
namespace {

// Sizes in pixels.
constexpr int kPanelWidth = 780;
constexpr int kPanelHeight = 500;
constexpr std::size_t kPanelsInARow = 2;
constexpr const char* kBlock = "$PANEL";
// Fraction of the axis; narrower boxes have no room for a text.
constexpr double kLeastLabelledPart = 0.03;

// Eight colours that also differ in luminance.
constexpr std::array<const char*, 8> kColors{"#1f4e8c", "#d1495b", "#2e8b57", "#edae49",
                                             "#7b4fa3", "#30a5bf", "#8c6d46", "#555555"};

std::string color(std::size_t i) {
  return std::string("'") + kColors[i % kColors.size()] + "'";
}

std::string axis(char name, const Axis& what) {
  std::string text = std::string("set ") + name + "label " + gnuplot_text(what.label) + "\n";
  if (what.scale == Scale::linear || what.scale == Scale::whole) return text;
  text += std::string("set logscale ") + name + (what.scale == Scale::log2 ? " 2" : " 10") + "\n";
  if (what.scale != Scale::log2) return text;
  text.append("set format ").push_back(name);
  return text + " '%.0f'\n";
}

std::string head(const std::string& title) {
  return "set title " + gnuplot_text(title) + " font ',13'\n" +
         "set grid lc rgb '#dddddd' lw 0.6\nset border 3 lc rgb '#404040'\n"
         "set tics nomirror out\n";
}

/// Returns such as "('1' 0, '4' 1)".
std::string tics(const std::vector<std::string>& names) {
  std::string text = "(";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : ", ") + gnuplot_text(names[i]) + " " + std::to_string(i);
  return text + ")";
}

/// Quotes a text for a data line.
std::string in_data(const std::string& text) {
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' ? '\'' : c == '\n' || c == '\\' ? ' ' : c;
  return result + "\"";
}

std::string short_number(double value) {
  std::ostringstream text;
  text.precision(value >= 100 ? 4 : 3);
  text << value;
  return text.str();
}

struct Range {
  double least;
  double most;
};
Range range_of(const HeatMap& map) {
  Range range{1e300, 0};
  for (const auto& row : map.values) {
    for (const auto& value : row) {
      if (!value) continue;
      range = {std::min(range.least, *value), std::max(range.most, *value)};
    }
  }
  return range;
}

}  // namespace

namespace {

/// Returns named places, all above 0, as marks of x; empty where gnuplot chooses the marks.
std::string x_tics(const LineChart& chart) {
  std::ostringstream text;
  text.precision(10);
  if (!chart.x_names.empty()) {
    text << "set xtics rotate by -30 left (";
    for (std::size_t i = 0; i < chart.x_names.size(); ++i) {
      text << (i == 0 ? "" : ", ") << gnuplot_text(chart.x_names[i].first) << ' '
           << chart.x_names[i].second;
    }
    const auto [least, most] =
        std::minmax_element(chart.x_names.begin(), chart.x_names.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    // Margins keep rounding from losing the name of a place at the end of the axis.
    text << ")\nset xrange [" << 0.95 * least->second << ":" << 1.05 * most->second << "]\n";
  } else if (chart.x.scale == Scale::whole) {
    constexpr double kMostTics = 10;
    double most = 1;
    for (const Series& series : chart.series) {
      for (const auto& point : series.points)
        most = std::max(most, point.first);
    }
    text << "set xtics " << std::ceil(most / kMostTics) << "\n";
  }
  return text.str();
}

std::string look_of(bool line, bool dots, std::size_t number) {
  if (line && !dots) return "lines";
  return (line ? "linespoints pt " : "points pt ") + std::to_string(4 + number) + " ps 0.7";
}

}  // namespace

Panel line_chart(const LineChart& chart) {
  std::ostringstream data;
  std::ostringstream commands;
  data.precision(10);
  commands.precision(10);
  commands << head(chart.title) << axis('x', chart.x) << axis('y', chart.y)
           << "set key outside right top samplen 2\nset autoscale x noextend\n"
           << x_tics(chart);
  const std::size_t colored = chart.series.size();
  for (std::size_t i = 0; i < chart.verticals.size(); ++i) {
    commands << "set arrow from " << chart.verticals[i].at << ", graph 0 to "
             << chart.verticals[i].at << ", graph 1 nohead dt 3 lw 2 lc rgb "
             << color(colored + chart.levels.size() + i) << "\n";
  }
  commands << "plot ";
  for (std::size_t i = 0; i < colored; ++i) {
    const Series& series = chart.series[i];
    for (const auto& [x, y] : series.points)
      data << x << ' ' << y << '\n';
    data << "\n\n";  // ends the block that `index` counts
    commands << kBlock << " index " << i << " using 1:2 with "
             << look_of(series.line, chart.dots, i) << " lw 1.6 dt " << i / kColors.size() + 1
             << " lc rgb " << color(i) << " title " << gnuplot_text(series.title) << ", ";
  }
  for (std::size_t i = 0; i < chart.levels.size(); ++i) {
    commands << chart.levels[i].at << " with lines dt 2 lw 2 lc rgb " << color(colored + i)
             << " title " << gnuplot_text(chart.levels[i].title) << ", ";
  }
  for (std::size_t i = 0; i < chart.verticals.size(); ++i) {
    commands << "NaN with lines dt 3 lw 2 lc rgb " << color(colored + chart.levels.size() + i)
             << " title " << gnuplot_text(chart.verticals[i].title) << ", ";
  }
  commands << "NaN notitle\n";
  return {data.str(), commands.str()};
}

Panel heat_map(const HeatMap& map) {
  std::ostringstream data;
  std::ostringstream commands;
  data.precision(10);
  const Range range = range_of(map);
  commands << head(map.title) << "unset grid\nset key off\n"
           << "set xlabel " << gnuplot_text(map.x_label) << "\nset ylabel "
           << gnuplot_text(map.y_label) << "\nset xtics scale 0 " << tics(map.columns)
           << "\nset ytics scale 0 " << tics(map.rows)
           << "\nset xrange [-0.5:" << static_cast<double>(map.columns.size()) - 0.5
           << "]\nset yrange [" << static_cast<double>(map.rows.size()) - 0.5 << ":-0.5]\n"
           << "set palette defined (0 '#dff0e3', 0.5 '#f5d789', 1 '#e2786b')\n"
           << "set logscale cb\nset cbrange [" << range.least * 0.99 << ":" << range.most * 1.01
           << "]\nunset border\n";
  for (std::size_t y = 0; y < map.values.size(); ++y) {
    for (std::size_t x = 0; x < map.values[y].size(); ++x) {
      const auto& value = map.values[y][x];
      if (!value) continue;
      data << x << ' ' << y << ' ' << *value << ' ' << in_data(short_number(*value)) << '\n';
      if (*value > range.least) continue;
      const auto left = static_cast<double>(x) - 0.5;
      const auto top = static_cast<double>(y) - 0.5;
      commands << "set object rectangle from " << left << "," << top << " to " << left + 1 << ","
               << top + 1 << " front fs empty border lc rgb '#1f4e8c' lw 3\n";
    }
  }
  commands << "plot " << kBlock
           << " using 1:2:(0.49):(0.48):3 with boxxyerror fs solid noborder lc palette, " << kBlock
           << " using 1:2:4 with labels font ',11'\n";
  return {data.str(), commands.str()};
}

Panel bar_chart(const BarChart& chart) {
  std::ostringstream data;
  std::ostringstream commands;
  data.precision(10);
  commands << head(chart.title) << axis('y', chart.y)
           << "set style data histograms\nset style histogram clustered gap 1\n"
           << "set style fill solid 0.9 noborder\nset datafile missing '?'\nset xtics rotate by "
              "-30 left scale 0\n"
           << "set key outside right top samplen 2\n"
           << (chart.y.scale == Scale::linear ? "set yrange [0:*]\n" : "");
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    data << in_data(chart.names[i]);
    for (const auto& [title, values] : chart.series) {
      if (i < values.size()) {
        data << ' ' << values[i];
      } else {
        data << " ?";
      }
    }
    data << '\n';
  }
  commands << "plot ";
  for (std::size_t k = 0; k < chart.series.size(); ++k) {
    commands << (k == 0 ? "" : ", ") << kBlock << " using " << k + 2 << (k == 0 ? ":xtic(1)" : "")
             << " lc rgb " << color(k) << " title " << gnuplot_text(chart.series[k].first);
  }
  commands << "\n";
  return {data.str(), commands.str()};
}

Panel lane_chart(const LaneChart& chart) {
  std::ostringstream data;
  std::ostringstream commands;
  data.precision(10);
  commands << head(chart.title) << "set key off\nset xlabel " << gnuplot_text(chart.x_label)
           << "\nset ytics scale 0 " << tics(chart.lanes) << "\nset yrange ["
           << static_cast<double>(chart.lanes.size()) - 0.5 << ":-0.5]\nunset grid\n"
           << "set grid xtics lc rgb '#dddddd' lw 0.6\n"
           << "set style fill solid 0.85 border lc rgb '#ffffff'\n";
  for (std::size_t i = 0; i < kColors.size(); ++i)
    commands << "set linetype " << i + 1 << " lc rgb " << color(i) << "\n";
  double end = 0;
  for (const LaneBox& box : chart.boxes)
    end = std::max(end, box.end);
  std::size_t number = 0;
  for (const LaneBox& box : chart.boxes) {
    const bool wide = box.end - box.begin > kLeastLabelledPart * end;
    data << box.begin << ' ' << box.end << ' ' << box.lane << ' ' << in_data(wide ? box.text : "")
         << ' ' << number++ / chart.lanes.size() % kColors.size() + 1 << '\n';
  }
  commands << "plot " << kBlock
           << " using (($1+$2)/2):3:1:2:($3-0.4):($3+0.4):5 with boxxyerror lc variable, " << kBlock
           << " using (($1+$2)/2):3:4 with labels tc rgb '#ffffff' font ',9'\n";
  return {data.str(), commands.str()};
}

void draw_figure(const std::vector<Panel>& panels, const std::string& path) {
  const std::size_t across = std::min(panels.size(), kPanelsInARow);
  const std::size_t down = (panels.size() + kPanelsInARow - 1) / kPanelsInARow;
  std::ostringstream size;
  size << static_cast<std::size_t>(kPanelWidth) * across << ","
       << static_cast<std::size_t>(kPanelHeight) * down;
  const bool svg = extension_of(path) == "svg";
  draw_with_gnuplot(path, [&](const ScratchFolder& folder, const std::string& output) {
    std::ostringstream script;
    script << "set terminal " << (svg ? "svg size " : "pngcairo size ") << size.str()
           << " font 'DejaVu Sans,10' " << (svg ? "background '" : "background rgb '")
           << "white' noenhanced\nset output " << gnuplot_text(output) << "\nset multiplot layout "
           << down << "," << across << "\n";
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const std::string name = "panel" + std::to_string(i) + ".txt";
      folder.write(name, panels[i].data);
      std::string commands = panels[i].commands;
      const std::string file = gnuplot_text((folder.path() / name).string());
      for (std::size_t at = 0; (at = commands.find(kBlock, at)) != std::string::npos;)
        commands.replace(at, std::string(kBlock).size(), file);
      script << "reset\n" << commands;
    }
    script << "unset multiplot\nset output\n";
    return script.str();
  });
}

}  // namespace equalux::plot
