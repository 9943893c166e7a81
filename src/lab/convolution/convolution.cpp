#include <array>
#include <optional>

#include "src/lab/convolution/speedup.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// `lab convolution`: Tables 1 to 8 and Figures 9 to 12 of the convolution report.
namespace equalux::cli::lab {
namespace {

constexpr std::array kReportBlocks{32, 16, 8};  // in the order of the report's tables
constexpr std::array kStudied{ConvolveMode::global, ConvolveMode::constant, ConvolveMode::shared};
constexpr const char* kSequential = "CPU sequential";

/// Variant to measure, a row of the CSV.
struct ConvolveWay {
  Backend backend;
  ConvolveMode mode;
  std::optional<int> block;    ///< block size of the published kernels
  std::optional<int> threads;  ///< threads of the CPU
};

std::vector<ConvolveWay> ways(const Lab& lab) {
  std::vector<ConvolveWay> all;
  if (lab.measures_cpu()) {
    all.push_back({Backend::cpu, ConvolveMode::sequential, {}, 1});
    all.push_back({Backend::cpu, ConvolveMode::production, {}, 1});
    if (lab.cpu_threads() > 1)
      all.push_back({Backend::cpu, ConvolveMode::production, {}, lab.cpu_threads()});
  }
  if (!lab.gpu()) return all;
  for (const int block : kReportBlocks) {
    for (const ConvolveMode mode : kStudied)
      all.push_back({Backend::cuda, mode, block, {}});
  }
  all.push_back({Backend::cuda, ConvolveMode::production, {}, {}});
  return all;
}

gpu_lab::CallTimes time_way(const Lab& lab, const ConvolveWay& way, const ConstImageView& image) {
  ConvolveParams params = lab.options().kernel;
  params.mode = way.mode;
  if (way.block) params.block = *way.block;
  if (way.backend == Backend::cuda)
    return gpu_lab::time_convolution(lab.device(), image, params, lab.budget());
  return time_cpu_filter(*make_cpu_filter(params, {*way.threads}), image, lab.budget());
}

std::string text_of(const std::optional<int>& number) {
  return number ? cell(*number) : std::string();
}

/// Returns such as "GPU global" or "CPU production, 2 threads".
std::string convolve_label(const Table& table, std::size_t row) {
  const std::string& mode = table.text(row, "mode");
  if (table.text(row, "backend") == "cuda") return "GPU " + mode;
  if (mode != "production") return "CPU " + mode;
  const std::string& threads = table.text(row, "threads");
  return "CPU production, " + threads + (threads == "1" ? " thread" : " threads");
}

/// Returns the rows of the published kernels with one block size, and of the sequential CPU
/// program.
std::vector<std::size_t> rows_of_block(const Table& table, std::string_view block) {
  std::vector<std::size_t> rows = all_rows(table);
  std::erase_if(rows, [&](std::size_t i) {
    return table.text(i, "block") != block && convolve_label(table, i) != kSequential;
  });
  return rows;
}

/// Returns times with a row for each size and a column for each mode, averaged over block sizes.
PivotTable times_of(const Table& table, std::string_view column,
                    const std::vector<std::size_t>& rows) {
  std::vector<Sample> samples;
  for (const std::size_t i : rows) {
    if (table.text(i, column).empty()) continue;  // CPU rows have no kernel times
    samples.push_back({table.text(i, "size"), convolve_label(table, i), table.number(i, column)});
  }
  return sample_table("size", samples, Middle::mean);
}

/// Returns the columns whose names begin with `start`.
PivotTable only(const PivotTable& table, std::string_view start) {
  return columns_where(table, [&](const std::string& name) { return name.starts_with(start); });
}

std::string section(const std::string& title, const PivotTable& table) {
  return "## " + title + "\n\n" + markdown_table(table) + "\n";
}

/// Returns Tables 1 and 2, with means over the block sizes, then a table for each block size.
std::string time_tables(const Table& table, bool on_gpu, bool on_cpu) {
  const std::vector<std::size_t> rows = all_rows(table);
  const PivotTable whole = times_of(table, "whole_ms", rows);
  std::string text = section(
      on_gpu ? "Table 1: whole call, ms, means over the blocks" : "Table 1: the CPU's filter, ms",
      whole);
  if (on_cpu) {
    text += section("Table 2: speed-up over " + std::string(kSequential),
                    speedup_table(whole, kSequential));
  }
  if (!on_gpu) return text;
  text += section("Kernels alone, ms, means over the blocks", times_of(table, "kernels_ms", rows));
  int number = 3;
  for (const int block : kReportBlocks) {
    const std::string name = "block " + cell(block) + "x" + cell(block);
    const PivotTable of_block = times_of(table, "whole_ms", rows_of_block(table, cell(block)));
    text += section("Table " + cell(number++) + ": whole call with " + name + ", ms",
                    only(of_block, "GPU "));
    const std::string speedups = "Table " + cell(number++) + ": speed-up with " + name;
    if (on_cpu) text += section(speedups, only(speedup_table(of_block, kSequential), "GPU "));
    text += section("Kernels alone with " + name + ", ms",
                    times_of(table, "kernels_ms", rows_of_block(table, cell(block))));
  }
  return text;
}

/// Returns the size from which each GPU mode is faster than each CPU variant.
std::string overtaking(const Table& table) {
  const PivotTable whole = times_of(table, "whole_ms", all_rows(table));
  std::vector<std::string> columns{"the GPU's whole call"};
  std::vector<std::vector<std::string>> rows;
  for (const std::string& cpu : only(whole, "CPU ").columns)
    columns.push_back("is faster than " + cpu);
  for (const std::string& gpu : only(whole, "GPU ").columns) {
    rows.push_back({gpu});
    for (const std::string& cpu : only(whole, "CPU ").columns)
      rows.back().push_back(overtaking_size(whole, gpu, cpu));
  }
  return "## Where the GPU overtakes the CPU\n\n" + plot::markdown_table(columns, rows) +
         "\nBetween two measured sizes the point is interpolated, linearly in the logarithms of "
         "pixels and times.\n\n";
}

std::vector<plot::Panel> charts(const Table& table, bool on_gpu, bool on_cpu) {
  const std::string cpu = table.fact("cpu");
  const std::string device = table.fact("device");
  const PivotTable whole = times_of(table, "whole_ms", all_rows(table));
  std::vector<plot::Panel> panels{size_chart(
      "Whole call: " + (on_gpu ? device + (on_cpu ? ", " + cpu : "") : cpu), "ms", whole)};
  if (on_gpu) {
    panels.push_back(size_chart("Whole call on the GPU: " + device, "ms", only(whole, "GPU ")));
    panels.push_back(size_chart("Kernels alone: " + device, "ms",
                                times_of(table, "kernels_ms", all_rows(table))));
  }
  if (on_cpu) {
    panels.push_back(speedup_chart("Speed-up of the whole call over " + std::string(kSequential),
                                   speedup_table(whole, kSequential)));
  }
  return panels;
}

}  // namespace

void measure_convolution(Lab& lab) {
  const std::vector<ConvolveWay> all = ways(lab);
  const std::vector<FrameSize>& sizes = lab.sizes();
  lab.fact("kernel", lab.options().kernel_text);
  lab.repeat_facts("median");
  lab.fact("whole_call",
           "on the GPU allocate device memory, copy up, kernels, copy down, free; pageable host "
           "memory; on the CPU the filter");
  lab.begin({"size", "pixels", "backend", "mode", "block", "threads", "whole_ms", "kernels_ms",
             "calls", "correct"});
  std::size_t done = 0;
  for (const FrameSize& size : sizes) {
    lab.progress(done, sizes.size() * all.size(), size_text(size));
    const Image image = lab.image_of(size);
    const Image expected =
        filtered(*make_cpu_filter(lab.options().kernel, {lab.cpu_threads()}), image.view());
    for (const ConvolveWay& way : all) {
      const std::string backend(enum_name(way.backend));
      const std::string mode(enum_name(way.mode));
      lab.progress(done++, sizes.size() * all.size(),
                   size_text(size) + ", " + backend + " " + mode);
      const gpu_lab::CallTimes times = time_way(lab, way, image.view());
      lab.add({size_text(size), cell(size.pixels()), backend, mode, text_of(way.block),
               text_of(way.threads), cell(median(times.whole_ms)),
               times.kernels_ms.empty() ? std::string() : cell(median(times.kernels_ms)),
               cell(times.whole_ms.size()),
               same_samples(times.result.view(), expected.view()) ? "yes" : "no"});
    }
  }
}

Report report_convolution(const Table& table) {
  const bool on_gpu = !rows_where(table, "backend", "cuda").empty();
  const bool on_cpu = !rows_where(table, "backend", "cpu").empty();
  check_sizes(table);
  Report report;
  if (!on_gpu) {
    report.markdown +=
        "The GPU's rows are missing: Tables 3 to 8, Figures 10 and 11 and where the GPU overtakes "
        "the CPU need a run with one.\n\n";
  }
  if (!on_cpu) {
    report.markdown += "The CPU's rows are missing, and with them what is relative to them.\n\n";
  }
  report.markdown += time_tables(table, on_gpu, on_cpu);
  if (on_gpu && on_cpu) report.markdown += overtaking(table);
  report.markdown += "## Every row\n\n" + markdown_table(table) + "\n" +
                     cell(rows_where(table, "correct", "yes").size()) + " of " +
                     cell(table.rows.size()) + " results have the bytes of the CPU's filter.\n";
  report.panels = charts(table, on_gpu, on_cpu);
  return report;
}

}  // namespace equalux::cli::lab
