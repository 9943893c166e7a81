#include <array>

#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// `lab access`: Figure 2 of the report on equalization.
namespace equalux::cli::lab {
namespace {

constexpr const char* kReport = "report";
constexpr std::array kAccessBlocks{64, 128, 256, 512};
constexpr std::array kBlocksAMultiprocessor{1, 2, 4, 8, 16};
constexpr std::array kPixelsPerThread{1, 2, 4, 8};

struct Candidate {
  std::string name;
  StagedParams shape;
};

/// Returns the report's geometry, then a small grid search around geometries that fill the device.
std::vector<Candidate> candidates(int multiprocessors) {
  const auto shape = [](int grid, int block, int pixels) {
    StagedParams params;
    params.grid = Extent3{grid, 1, 1};
    params.block = Extent3{block, 1, 1};
    params.pixels_per_thread = pixels;
    return params;
  };
  std::vector<Candidate> all{{kReport, shape(8, 8, 1)}};
  for (const int block : kAccessBlocks) {
    for (const int blocks : kBlocksAMultiprocessor) {
      for (const int pixels : kPixelsPerThread)
        all.push_back({"search", shape(blocks * multiprocessors, block, pixels)});
    }
  }
  return all;
}

std::vector<std::size_t> rows_of(const Table& table, const std::string& variant,
                                 std::string_view geometry) {
  std::vector<std::size_t> rows = rows_where(table, "variant", variant);
  if (geometry == kReport)
    std::erase_if(rows, [&](std::size_t i) { return table.text(i, "geometry") != geometry; });
  return rows;
}

}  // namespace

void measure_access(Lab& lab) {
  const std::vector<Candidate> all = candidates(lab.gpu()->device.multiprocessors);
  const auto& variants = enum_names<RgbToHsvVariant>();
  const double bytes =
      static_cast<double>(lab.pixels()) * (12 + traits(lab.image().desc().format).step[0]);
  lab.repeat_facts("median");
  lab.begin({"variant", "geometry", "grid", "block", "pixels_per_thread", "us", "gb_s", "calls",
             "correct"});
  std::size_t done = 0;
  for (const std::string_view variant : variants) {
    for (const auto& [name, shape] : all) {
      lab.progress(done++, variants.size() * all.size(), std::string(variant));
      const gpu_lab::KernelTimes times =
          gpu_lab::time_rgb_to_hsv(lab.device(), *enum_from<RgbToHsvVariant>(variant),
                                   lab.image().view(), shape, lab.budget());
      const double us = median(times.us);
      lab.add({std::string(variant), name, extent_text(*shape.grid), extent_text(*shape.block),
               cell(*shape.pixels_per_thread), cell(us), cell(bytes / us / 1e3),
               cell(times.us.size()), times.correct ? "yes" : "no"});
    }
  }
}

Report report_access(const Table& table) {
  std::vector<std::vector<std::string>> lines;
  plot::BarChart chart;
  chart.title = "rgb_to_hsv: " + table.fact("device");
  chart.y = {"us", plot::Scale::log10};
  for (const auto& [geometry, title] :
       {std::pair(kReport, "the report's"), std::pair("best", "best of all")}) {
    std::vector<double> values;
    chart.names.clear();
    for (const std::string& variant : texts_of(table, "variant")) {
      const std::size_t i = least_row(table, "us", rows_of(table, variant, geometry));
      lines.push_back({variant, title, table.text(i, "grid"), table.text(i, "block"),
                       table.text(i, "pixels_per_thread"), table.text(i, "us"),
                       table.text(i, "gb_s")});
      values.push_back(table.number(i, "us"));
      chart.names.push_back(variant);
    }
    chart.series.emplace_back(std::string("geometry: ") + title, values);
  }
  Report report;
  report.markdown =
      plot::markdown_table(
          {"variant", "geometry", "grid", "block", "pixels a thread", "us", "GB/s"}, lines) +
      "\n## Every geometry\n\n" + markdown_table(table);
  report.panels = {plot::bar_chart(chart)};
  return report;
}

}  // namespace equalux::cli::lab
