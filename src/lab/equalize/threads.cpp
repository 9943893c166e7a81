#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// `lab threads`: Figures 12 to 15 of the report on equalization.
namespace equalux::cli::lab {
namespace {

constexpr std::array kBlockExponents{0, 3, 5, 7, 8, 10};  // log2 of the threads per block
constexpr int kLeastExponents = 12;

/// Spreads 2^exponent over three dimensions, the largest part on x.
Extent3 spread(int exponent) {
  return {1 << (exponent + 2) / 3, 1 << (exponent + 1) / 3, 1 << exponent / 3};
}

struct Geometry {
  int exponent;  ///< log2 of all threads
  Extent3 grid;
  Extent3 block;
};

/// Returns geometries from one thread to at least twice as many threads as pixels.
std::vector<Geometry> geometries(std::uint64_t pixels) {
  const int last = std::max(kLeastExponents, static_cast<int>(std::bit_width(pixels - 1)) + 1);
  std::vector<Geometry> all;
  for (int exponent = 0; exponent <= last; ++exponent) {
    for (const int block : kBlockExponents) {
      if (block <= exponent) all.push_back({exponent, spread(exponent - block), spread(block)});
    }
  }
  return all;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Adds the CPU's mean time, to which the report compares.
void add_cpu_facts(Lab& lab, const EqualizeParams& params) {
  EqualizeParams plain = params;
  plain.staged = {};
  const Budget budget{std::max(lab.repeats(), 10), 2.0};
  const ConstImageView image = lab.image().view();
  lab.fact("cpu_mean_ms", cell(mean(time_cpu_calls(image, plain, lab.cpu_threads(), budget))));
  lab.fact("cpu_1_thread_mean_ms", cell(mean(time_cpu_calls(image, plain, 1, budget))));
}

}  // namespace

void measure_threads(Lab& lab) {
  EqualizeParams params = lab.staged_params();
  const SameBytes same(lab, params);
  lab.fact("scaler", std::string(enum_name(params.scaler)));
  lab.fact("bins", cell(params.bins == 0 ? 256 : params.bins));
  lab.repeat_facts("median on the GPU, mean on the CPU");
  lab.fact("log2_pixels", cell(std::log2(static_cast<double>(lab.pixels()))));
  add_cpu_facts(lab, params);
  lab.begin({"log2_threads", "grid", "block", "block_threads", "whole_ms", "kernels_ms", "calls",
             "same_bytes"});
  const std::vector<Geometry> all = geometries(lab.pixels());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Geometry& geometry = all[i];
    const std::string grid = extent_text(geometry.grid);
    const std::string block = extent_text(geometry.block);
    lab.progress(i, all.size(), "grid " + grid + ", block " + block);
    params.staged.grid = geometry.grid;
    params.staged.block = geometry.block;
    const gpu_lab::CallTimes times =
        gpu_lab::time_calls(lab.device(), lab.image().view(), params, lab.budget());
    lab.add({cell(geometry.exponent), grid, block,
             cell(geometry.block.x * geometry.block.y * geometry.block.z),
             cell(median(times.whole_ms)), cell(median(times.kernels_ms)),
             cell(times.whole_ms.size()), same.text(times.result)});
  }
}

Report report_threads(const Table& table) {
  plot::LineChart chart{
      "Time over all threads: " + table.fact("device") + ", " + table.fact("cpu"),
      {"log2(threads)", plot::Scale::linear},
      {"ms", plot::Scale::log10},
      {},
      {{"CPU, " + table.fact("cpu_threads") + " threads", table.fact_number("cpu_mean_ms")},
       {"CPU, 1 thread", table.fact_number("cpu_1_thread_mean_ms")}},
      {{"log2(pixels)", table.fact_number("log2_pixels")}}};
  for (const auto& [column, title] :
       {std::pair("whole_ms", "GPU, whole call"), std::pair("kernels_ms", "GPU, kernels alone")}) {
    plot::Series series{title, {}, false};
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      series.points.emplace_back(table.number(i, "log2_threads"), table.number(i, column));
    chart.series.push_back(std::move(series));
  }
  const std::size_t best = least_row(table, "whole_ms", all_rows(table));
  Report report;
  report.markdown =
      "Best whole call: " + plot::readable(table.text(best, "whole_ms")) + " ms with grid " +
      table.text(best, "grid") + " and block " + table.text(best, "block") + ". The CPU takes " +
      plot::readable(table.fact("cpu_mean_ms")) + " ms with " + table.fact("cpu_threads") +
      " threads and " + plot::readable(table.fact("cpu_1_thread_mean_ms")) +
      " ms with one.\n\n## Whole call, ms\n\n" +
      markdown_table(pivot(table, {"log2_threads", "block_threads", "whole_ms",
                                   "log2(threads) \\ threads of a block"})) +
      "\n## Every geometry\n\n" + markdown_table(table) + "\n" + same_bytes_line(table);
  report.panels = {plot::line_chart(chart)};
  return report;
}

}  // namespace equalux::cli::lab
