#include <array>

#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// `lab sweep`: Tables 3 to 6 of the report on equalization.
namespace equalux::cli::lab {
namespace {

constexpr std::array kGrids{1, 4, 16, 64, 256, 1024};
constexpr std::array kSweepBlocks{1, 4, 16, 64, 256};

plot::HeatMap heat_map_of(const PivotTable& table, const std::string& title) {
  plot::HeatMap map{title, "block.x", "grid.x", table.columns, table.rows, {}};
  for (const auto& row : table.values) {
    map.values.emplace_back();
    for (const std::string& value : row) {
      map.values.back().push_back(value.empty() ? std::nullopt
                                                : std::optional<double>(std::stod(value)));
    }
  }
  return map;
}

std::string best_line(const Table& table, const char* column) {
  const std::vector<std::size_t> rows = all_rows(table);
  const std::size_t best = least_row(table, column, rows);
  std::size_t worst = best;
  for (const std::size_t i : rows) {
    if (table.number(i, column) > table.number(worst, column)) worst = i;
  }
  return "Best: " + plot::readable(table.text(best, column)) + " ms with grid.x " +
         table.text(best, "grid_x") + " and block.x " + table.text(best, "block_x") + ", " +
         plot::readable(cell(table.number(worst, column) / table.number(best, column))) +
         " times faster than grid.x " + table.text(worst, "grid_x") + " and block.x " +
         table.text(worst, "block_x") + ".\n\n";
}

}  // namespace

void measure_sweep(Lab& lab) {
  EqualizeParams params = lab.staged_params();
  const SameBytes same(lab, params);
  lab.fact("scaler", std::string(enum_name(params.scaler)));
  lab.fact("bins", cell(params.bins == 0 ? 256 : params.bins));
  lab.repeat_facts("median");
  lab.fact("whole_call",
           "allocate device memory, copy up, kernels, copy down, free; pageable host "
           "memory");
  lab.begin({"grid_x", "block_x", "threads", "whole_ms", "kernels_ms", "calls", "same_bytes"});
  std::size_t done = 0;
  for (const int grid : kGrids) {
    for (const int block : kSweepBlocks) {
      lab.progress(done++, kGrids.size() * kSweepBlocks.size(),
                   "grid.x " + cell(grid) + ", block.x " + cell(block));
      params.staged.grid = Extent3{grid, 1, 1};
      params.staged.block = Extent3{block, 1, 1};
      const gpu_lab::CallTimes times =
          gpu_lab::time_calls(lab.device(), lab.image().view(), params, lab.budget());
      lab.add({cell(grid), cell(block), cell(grid * block), cell(median(times.whole_ms)),
               cell(median(times.kernels_ms)), cell(times.whole_ms.size()),
               same.text(times.result)});
    }
  }
}

Report report_sweep(const Table& table) {
  const PivotTable whole = pivot(table, {"grid_x", "block_x", "whole_ms", "grid.x \\ block.x"});
  const PivotTable kernels = pivot(table, {"grid_x", "block_x", "kernels_ms", "grid.x \\ block.x"});
  Report report;
  report.markdown = "## Whole call, ms\n\n" + markdown_table(whole) + "\n" +
                    best_line(table, "whole_ms") + "## Kernels alone, ms\n\n" +
                    markdown_table(kernels) + "\n" + best_line(table, "kernels_ms") +
                    same_bytes_line(table);
  report.panels = {
      plot::heat_map(heat_map_of(whole, "Whole call, ms: " + table.fact("device"))),
      plot::heat_map(heat_map_of(kernels, "Kernels alone, ms: " + table.fact("device")))};
  return report;
}

}  // namespace equalux::cli::lab
