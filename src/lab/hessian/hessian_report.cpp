#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "src/lab/convolution/speedup.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// Tables and figures of `lab hessian`.
namespace equalux::cli::lab {
namespace {

constexpr const char* kSequentialWay = "CPU sequential";

/// Returns such as "GPU shared" or "CPU production, 2 threads".
std::string hessian_label(const Table& table, std::size_t row) {
  const std::string& way = table.text(row, "way");
  if (table.text(row, "backend") == "cuda") return "GPU " + way;
  const std::string& threads = table.text(row, "threads");
  if (way == "sequential") return "CPU " + way;
  return "CPU " + way + ", " + threads + (threads == "1" ? " thread" : " threads");
}

std::vector<std::size_t> rows_of(const Table& table, std::string_view column, std::string_view text,
                                 const std::string& step) {
  std::vector<std::size_t> rows = rows_where(table, column, text);
  std::erase_if(rows, [&](std::size_t i) { return table.text(i, "step") != step; });
  return rows;
}

/// Returns medians over the pictures, which disturbances of single measurements hardly move.
PivotTable times_of(const Table& table, const std::string& step) {
  std::vector<Sample> samples;
  for (const std::size_t i : rows_where(table, "step", step))
    samples.push_back({table.text(i, "size"), hessian_label(table, i), table.number(i, "ms")});
  return sample_table("size", samples, Middle::median);
}

/// Returns medians over the pictures of the speed-up on each picture.
PivotTable speedups_of(const Table& table, const std::string& step, const std::string& base) {
  const std::vector<std::size_t> rows = rows_where(table, "step", step);
  const auto picture = [&](std::size_t i) {
    return table.text(i, "size") + " " + table.text(i, "picture");
  };
  std::map<std::string, double> base_ms;
  for (const std::size_t i : rows) {
    if (hessian_label(table, i) == base) base_ms[picture(i)] = table.number(i, "ms");
  }
  std::vector<Sample> samples;
  for (const std::size_t i : rows) {
    const auto at = base_ms.find(picture(i));
    if (at == base_ms.end() || hessian_label(table, i) == base) continue;
    samples.push_back(
        {table.text(i, "size"), hessian_label(table, i), at->second / table.number(i, "ms")});
  }
  return sample_table("size", samples, Middle::median);
}

std::string hessian_section(const std::string& title, const PivotTable& table) {
  if (table.rows.empty()) return "";
  return "## " + title + "\n\n" + markdown_table(table) + "\n";
}

/// Returns medians of the steps at one size: a row for each variant, a column for each step in
/// order.
PivotTable steps_of(const Table& table, const std::vector<std::size_t>& rows) {
  std::vector<Sample> samples;
  for (const std::size_t i : rows)
    samples.push_back({hessian_label(table, i), table.text(i, "step"), table.number(i, "ms")});
  const PivotTable found = sample_table("ms", samples, Middle::median);
  PivotTable steps;
  steps.corner = found.corner;
  steps.rows = found.rows;
  steps.values.resize(found.rows.size());
  for (const char* name :
       {"upload", "smoothing", "derivatives", "eigenvalues", "fused", "download"}) {
    const auto at = std::find(found.columns.begin(), found.columns.end(), name);
    if (at == found.columns.end()) continue;
    steps.columns.emplace_back(name);
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      steps.values[i].push_back(
          found.values[i][static_cast<std::size_t>(at - found.columns.begin())]);
    }
  }
  return steps;
}

/// Returns the share of each step in the sum of steps, a row for each variant.
std::string shares(const Table& table, const std::string& size) {
  std::vector<std::size_t> rows = rows_where(table, "size", size);
  std::erase_if(rows, [&](std::size_t i) { return table.text(i, "step") == "whole"; });
  if (rows.empty()) return "";
  PivotTable steps = steps_of(table, rows);
  steps.corner = "ms (share of the steps)";
  for (auto& row : steps.values) {
    double sum = 0;
    for (const std::string& value : row)
      sum += value.empty() ? 0 : std::stod(value);
    for (std::string& value : row) {
      if (value.empty()) continue;
      value = plot::readable(value) + " (" +
              std::to_string(std::lround(100 * std::stod(value) / sum)) + " %)";
    }
  }
  return hessian_section("Steps at " + size, steps);
}

/// Makes a chart with a line for each variant over the pictures of one size.
plot::Panel picture_chart(const Table& table, const std::string& title, const std::string& size,
                          const std::string& step) {
  plot::LineChart chart{
      title + ", " + size, {"picture", plot::Scale::whole}, {"ms", plot::Scale::log10}, {}, {}, {}};
  for (const std::size_t i : rows_of(table, "size", size, step)) {
    const std::string label = hessian_label(table, i);
    auto at = std::find_if(chart.series.begin(), chart.series.end(),
                           [&](const plot::Series& series) { return series.title == label; });
    if (at == chart.series.end()) at = chart.series.insert(at, {label, {}, true});
    at->points.emplace_back(table.number(i, "picture"), table.number(i, "ms"));
  }
  return plot::line_chart(chart);
}

/// Makes Figure 10: bars of the GPU's copies and kernels; without a GPU, OpenCV's steps. The CPU's
/// plain program is left out, as it would dwarf all other bars.
std::optional<plot::Panel> step_chart(const Table& table, const std::string& size) {
  const bool on_gpu = !rows_where(table, "backend", "cuda").empty();
  std::vector<std::size_t> rows = rows_where(table, "size", size);
  std::erase_if(rows, [&](std::size_t i) {
    return table.text(i, "step") == "whole" || table.text(i, "way") == "sequential" ||
           (on_gpu && table.text(i, "backend") != "cuda");
  });
  if (rows.empty()) return std::nullopt;
  const PivotTable steps = steps_of(table, rows);
  plot::BarChart chart;
  chart.title = "Steps, " + size;
  chart.y = {"ms", plot::Scale::linear};
  chart.names = steps.rows;
  for (std::size_t k = 0; k < steps.columns.size(); ++k) {
    std::vector<double> values;
    for (const auto& row : steps.values) {
      values.push_back(row[k].empty() ? std::numeric_limits<double>::quiet_NaN()
                                      : std::stod(row[k]));
    }
    chart.series.emplace_back(steps.columns[k], values);
  }
  return plot::bar_chart(chart);
}

std::string differences(const Table& table) {
  std::vector<Sample> samples;
  std::map<std::string, double> worst;
  for (const std::size_t i : rows_where(table, "step", "whole")) {
    if (table.text(i, "worst_difference").empty()) continue;
    double& most = worst[hessian_label(table, i)];
    most = std::max(most, table.number(i, "worst_difference"));
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [label, most] : worst)
    rows.push_back({label, cell(most)});
  return "## Largest difference to the CPU's filter, of all pictures\n\n" +
         plot::markdown_table({"", "levels"}, rows) +
         "\nOpenCV's way takes its derivatives otherwise, and its cornerEigenValsAndVecs another "
         "matrix: they are measured, not compared.\n\n";
}

}  // namespace

Report report_hessian(const Table& table) {
  check_sizes(table);
  const std::vector<std::string> sizes = texts_of(table, "size");
  const bool on_gpu = !rows_where(table, "backend", "cuda").empty();
  const std::string base(kSequentialWay);
  Report report;
  if (!on_gpu) {
    report.markdown +=
        "The GPU's rows are missing: its columns of Tables 3 and 4, and Figure 10, need a run with "
        "one.\n\n";
  }
  report.markdown +=
      hessian_section(
          "Eigenvalues of given derivatives, ms, medians over the pictures (Figures 7 to 9)",
          times_of(table, "eigenvalues")) +
      hessian_section("Table 3: the same as speed-up over " + base,
                      speedups_of(table, "eigenvalues", base)) +
      hessian_section(
          "Smoothing, derivatives and eigenvalues, whole call, ms, medians over the pictures "
          "(Figures 11 to 13)",
          times_of(table, "whole")) +
      hessian_section("Table 4: the same as speed-up over " + base,
                      speedups_of(table, "whole", base));
  for (const std::string& size : sizes)
    report.markdown += shares(table, size);
  report.markdown += differences(table) + "## Every row\n\n" + markdown_table(table);
  for (const std::string& size : sizes) {
    if (!rows_of(table, "size", size, "eigenvalues").empty())
      report.panels.push_back(picture_chart(table, "Eigenvalues alone", size, "eigenvalues"));
    report.panels.push_back(picture_chart(table, "Whole call", size, "whole"));
  }
  if (auto steps = step_chart(table, sizes.back())) report.panels.push_back(std::move(*steps));
  if (const PivotTable speedups = speedups_of(table, "whole", base); !speedups.rows.empty())
    report.panels.push_back(speedup_chart("Speed-up of the whole call over " + base, speedups));
  return report;
}

}  // namespace equalux::cli::lab
