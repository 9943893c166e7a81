#include "src/lab/convolution/speedup.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include <equalux/error.h>

#include "src/lab/frame_size.h"
#include "src/lab/lab_clock.h"
#include "src/plot/markdown.h"

namespace equalux::cli::lab {
namespace {

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::optional<double> value_at(const PivotTable& table, std::size_t row, std::size_t column) {
  if (column >= table.columns.size() || table.values[row][column].empty()) return std::nullopt;
  return std::stod(table.values[row][column]);
}

/// Returns the pixels of a row "WxH".
double pixels_of(const std::string& size) {
  return static_cast<double>(read_sizes("size", size).front().pixels());
}

double middle_of(const std::vector<double>& values, Middle middle) {
  if (middle == Middle::median) return median(values);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Times of two variants at one size.
struct Pair {
  std::string size;
  double pixels;
  double log_ratio;  ///< log of other time / column's time; above 0 the column is faster
};

std::vector<Pair> pairs_of(const PivotTable& times, const std::string& column,
                           const std::string& other) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < times.rows.size(); ++i) {
    const auto one = value_at(times, i, place_of(times.columns, column));
    const auto two = value_at(times, i, place_of(times.columns, other));
    if (one && two)
      pairs.push_back({times.rows[i], pixels_of(times.rows[i]), std::log(*two / *one)});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.pixels < b.pixels; });
  return pairs;
}

/// Returns the pixels at which log-log interpolation between two sizes gives equal times.
double crossing(const Pair& from, const Pair& to) {
  const double part = from.log_ratio / (from.log_ratio - to.log_ratio);
  return std::exp(std::log(from.pixels) + part * (std::log(to.pixels) - std::log(from.pixels)));
}

}  // namespace

void check_sizes(const Table& table) {
  for (const std::string& size : texts_of(table, "size")) {
    try {
      static_cast<void>(pixels_of(size));
    } catch (const Error&) {
      throw Error(ExitCode::bad_input, table.origin + ": size '" + size +
                                           "' is no WxH, must be a CSV that equalux lab wrote");
    }
  }
}

PivotTable sample_table(const std::string& corner, const std::vector<Sample>& samples,
                        Middle middle) {
  PivotTable table;
  table.corner = corner;
  std::map<std::pair<std::string, std::string>, std::vector<double>> cells;
  const auto add_name = [](std::vector<std::string>& names, const std::string& name) {
    if (place_of(names, name) == names.size()) names.push_back(name);
  };
  for (const Sample& sample : samples) {
    add_name(table.rows, sample.row);
    add_name(table.columns, sample.column);
    cells[{sample.row, sample.column}].push_back(sample.value);
  }
  for (const std::string& row : table.rows) {
    table.values.emplace_back();
    for (const std::string& column : table.columns) {
      const auto at = cells.find({row, column});
      table.values.back().push_back(at == cells.end() ? std::string()
                                                      : cell(middle_of(at->second, middle)));
    }
  }
  return table;
}

PivotTable columns_where(const PivotTable& table,
                         const std::function<bool(const std::string&)>& wanted) {
  PivotTable result;
  result.corner = table.corner;
  result.rows = table.rows;
  result.values.resize(table.rows.size());
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    if (!wanted(table.columns[k])) continue;
    result.columns.push_back(table.columns[k]);
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      result.values[i].push_back(table.values[i][k]);
  }
  return result;
}

PivotTable speedup_table(const PivotTable& times, const std::string& base) {
  const std::size_t base_column = place_of(times.columns, base);
  PivotTable result = columns_where(times, [&](const std::string& name) { return name != base; });
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const std::optional<double> whole = value_at(times, i, base_column);
    for (std::size_t k = 0; k < result.columns.size(); ++k) {
      const std::optional<double> part = value_at(result, i, k);
      result.values[i][k] = whole && part ? cell(*whole / *part) : std::string();
    }
  }
  return result;
}

std::string overtaking_size(const PivotTable& times, const std::string& column,
                            const std::string& other) {
  const std::vector<Pair> pairs = pairs_of(times, column, other);
  if (pairs.empty()) return "";
  const auto faster = [](const Pair& pair) { return pair.log_ratio > 0; };
  if (std::all_of(pairs.begin(), pairs.end(), faster)) return "at every size";
  if (std::none_of(pairs.begin(), pairs.end(), faster)) return "at no size";
  if (!faster(pairs.back())) {
    std::string names;
    for (const Pair& pair : pairs) {
      if (faster(pair)) names += (names.empty() ? "" : ", ") + pair.size;
    }
    return "only at " + names;
  }
  std::size_t last = pairs.size() - 1;  // first pair from which on it stays faster
  while (faster(pairs[last - 1]))
    --last;
  return "from about " + plot::readable(cell(crossing(pairs[last - 1], pairs[last]) / 1e6)) +
         " megapixels, between " + pairs[last - 1].size + " and " + pairs[last].size;
}

namespace {

plot::LineChart chart_of(const std::string& title, const std::string& unit,
                         const PivotTable& table) {
  plot::LineChart chart{title, {"pixels", plot::Scale::log10}, {unit, plot::Scale::log10}, {}, {},
                        {}};
  for (const std::string& size : table.rows)
    chart.x_names.emplace_back(size, pixels_of(size));
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    plot::Series series{table.columns[k], {}, true};
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (const auto value = value_at(table, i, k))
        series.points.emplace_back(pixels_of(table.rows[i]), *value);
    }
    std::sort(series.points.begin(), series.points.end());
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

plot::Panel size_chart(const std::string& title, const std::string& unit, const PivotTable& times) {
  return plot::line_chart(chart_of(title, unit, times));
}

plot::Panel speedup_chart(const std::string& title, const PivotTable& speedups) {
  plot::LineChart chart = chart_of(title, "times faster", speedups);
  chart.levels = {{"as fast", 1}};
  return plot::line_chart(chart);
}

}  // namespace equalux::cli::lab
