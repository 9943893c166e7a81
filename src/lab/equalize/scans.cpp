#include <algorithm>
#include <numeric>
#include <random>

#include "src/cpu/staged/staged_stages.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"

/// `lab scans`: the scans of the report's section 3.4, and its Figures 16 and 17.
namespace equalux::cli::lab {
namespace {

// Section 2.4 of the report; none of its variants.
constexpr const char* kRunningSum = "running-sum";
constexpr int kFigureBins = 256;
constexpr std::uint32_t kMostCount = 1000;
constexpr double kBatchUs = 200.0;
constexpr int kMostBatch = 1000;

/// Returns powers of two, and some other lengths.
std::vector<int> lengths(int most) {
  std::vector<int> all{3, 100, 255, 257, 1000};
  for (int n = kMinBins; n <= kMaxBins; n *= 2)
    all.push_back(n);
  std::erase_if(all, [&](int n) { return n > most; });
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::optional<ScanVariant>> cpu_variants() {
  return {std::nullopt, ScanVariant::baseline, ScanVariant::two_ended, ScanVariant::kogge_stone,
          ScanVariant::brent_kung};
}

gpu_lab::KernelTimes time_on_cpu(std::optional<ScanVariant> variant, int n, const Budget& budget) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::uint32_t> counts(size);
  std::vector<std::uint32_t> cdf(size);
  std::vector<std::uint32_t> scratch(size);
  std::mt19937 random(static_cast<std::uint32_t>(n));
  for (std::uint32_t& count : counts)
    count = static_cast<std::uint32_t>(random() % kMostCount);
  int batch = 1;  // calls per sample, so many that the clock's own time is small
  gpu_lab::KernelTimes times;
  times.us = repeat_within<double>(budget, [&] {
    const LabClock::time_point start = LabClock::now();
    for (int i = 0; i < batch; ++i)
      cdf_scan(variant, counts, cdf, scratch);
    const double us = 1e6 * seconds_since(start) / batch;
    batch = std::clamp(static_cast<int>(kBatchUs / std::max(us, 0.01)), 1, kMostBatch);
    return us;
  });
  std::vector<std::uint32_t> sums(size);
  std::partial_sum(counts.begin(), counts.end(), sums.begin());
  times.correct = cdf == sums;
  return times;
}

void add_row(Lab& lab, const std::string& backend, const std::string& variant, int n,
             const std::string& geometry, const gpu_lab::KernelTimes& times) {
  lab.add({backend, variant, cell(n), geometry, cell(median(times.us)), cell(times.us.size()),
           times.correct ? "yes" : "no"});
}

void measure_on_cpu(Lab& lab, const std::vector<int>& all) {
  std::size_t done = 0;
  for (const auto& variant : cpu_variants()) {
    const std::string name = variant ? std::string(enum_name(*variant)) : kRunningSum;
    for (const int n : all) {
      lab.progress(done++, all.size() * cpu_variants().size(), "cpu " + name + ", n " + cell(n));
      add_row(lab, "cpu", name, n, "-", time_on_cpu(variant, n, lab.budget()));
    }
  }
}

void measure_on_gpu(Lab& lab, const std::vector<int>& all) {
  const StagedParams& knobs = lab.options().common.equalize.staged;
  const std::string geometry =
      (knobs.grid ? extent_text(*knobs.grid) + " blocks" : std::string("chosen")) +
      (knobs.block ? " of " + extent_text(*knobs.block) : std::string());
  const auto& names = enum_names<ScanVariant>();
  std::size_t done = 0;
  for (const std::string_view name : names) {
    const ScanVariant variant = *enum_from<ScanVariant>(name);
    for (const int n : all) {
      lab.progress(done++, all.size() * names.size(),
                   "cuda " + std::string(name) + ", n " + cell(n));
      add_row(lab, "cuda", std::string(name), n, geometry,
              gpu_lab::time_scan(lab.device(), variant, n, knobs, lab.budget()));
    }
  }
  for (const auto& [grid, block] : {std::pair(Extent3{8, 8, 1}, Extent3{8, 4, 1}),
                                    std::pair(Extent3{8, 1, 1}, Extent3{8, 8, 4})}) {
    StagedParams shape;
    shape.grid = grid;
    shape.block = block;
    for (const std::string_view name : names) {
      add_row(lab, "cuda", std::string(name), kFigureBins,
              extent_text(grid) + " blocks of " + extent_text(block),
              gpu_lab::time_scan(lab.device(), *enum_from<ScanVariant>(name), kFigureBins, shape,
                                 lab.budget()));
    }
  }
}

/// Returns such as "cuda kogge-stone".
std::string series_name(const Table& table, std::size_t row) {
  return table.text(row, "backend") + " " + table.text(row, "variant");
}

std::vector<std::string> geometries_of(const Table& table) {
  std::vector<std::string> all = texts_of(table, "geometry");
  std::erase(all, "-");
  return all;
}

plot::Panel chart_over_n(const Table& table, const std::string& geometry) {
  plot::LineChart chart{
      "Scans over n", {"n", plot::Scale::log2}, {"us", plot::Scale::log10}, {}, {}, {}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string& where = table.text(i, "geometry");
    if (where != "-" && where != geometry) continue;
    const std::string name = series_name(table, i);
    if (chart.series.empty() || chart.series.back().title != name)
      chart.series.push_back({name, {}, true});
    chart.series.back().points.emplace_back(table.number(i, "n"), table.number(i, "us"));
  }
  return plot::line_chart(chart);
}

/// Makes a bar chart at 256 bins with a group for each variant and a bar for each geometry.
plot::Panel bars_at_figure_bins(const Table& table, const std::vector<std::string>& geometries) {
  plot::BarChart chart;
  chart.title = "256 bins: " + table.fact("device");
  chart.y = {"us", plot::Scale::linear};
  for (const std::string& geometry : geometries) {
    std::vector<std::string> names;
    std::vector<double> values;
    for (const std::size_t i : rows_where(table, "geometry", geometry)) {
      if (table.number(i, "n") != kFigureBins) continue;
      names.push_back(table.text(i, "variant"));
      values.push_back(table.number(i, "us"));
    }
    if (names.empty()) continue;
    if (names.size() > chart.names.size()) chart.names = names;
    chart.series.emplace_back(geometry, values);
  }
  return plot::bar_chart(chart);
}

}  // namespace

void measure_scans(Lab& lab) {
  const std::vector<int> all = lengths(lab.options().most_bins);
  lab.repeat_facts("median");
  lab.fact("counts", "random, below " + cell(kMostCount));
  lab.begin({"backend", "variant", "n", "geometry", "us", "calls", "correct"});
  if (lab.measures_cpu()) measure_on_cpu(lab, all);
  if (lab.gpu()) measure_on_gpu(lab, all);
}

Report report_scans(const Table& table) {
  const std::vector<std::string> geometries = geometries_of(table);
  Report report;
  for (const std::string& backend : texts_of(table, "backend")) {
    for (const std::string& geometry : texts_of(table, "geometry")) {
      std::vector<std::size_t> rows = rows_where(table, "geometry", geometry);
      std::erase_if(rows, [&](std::size_t i) { return table.text(i, "backend") != backend; });
      if (rows.empty()) continue;
      report.markdown +=
          "## " + backend + (geometry == "-" ? "" : ", " + geometry) + ", us\n\n" +
          markdown_table(pivot(table, {"variant", "n", "us", "variant \\ n"}, rows)) + "\n";
    }
  }
  report.markdown += cell(rows_where(table, "correct", "yes").size()) + " of " +
                     cell(table.rows.size()) + " results are the sums that plain addition gives.\n";
  report.panels = {chart_over_n(table, geometries.empty() ? "-" : geometries.front())};
  if (!geometries.empty()) report.panels.push_back(bars_at_figure_bins(table, geometries));
  return report;
}

}  // namespace equalux::cli::lab
