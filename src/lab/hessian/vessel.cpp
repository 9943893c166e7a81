#include <algorithm>
#include <optional>

#include <equalux/error.h>

#include "src/lab/convolution/speedup.h"
#include "src/lab/hessian/pictures.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"

/// `lab vessel`: Figure 15 and Table 5 of the Hessian report, the whole chain to a mask of vessels.
namespace equalux::cli::lab {
namespace {

// Small picture on which an attempt shows whether the GPU has the filter.
constexpr FrameSize kVesselProbe{64, 48};
constexpr const char* kOneThread = "CPU, 1 thread";

/// Returns such as "GPU" or "CPU, 2 threads".
std::string vessel_label(const Table& table, std::size_t row) {
  if (table.text(row, "backend") == "cuda") return "GPU";
  const std::string& threads = table.text(row, "threads");
  return "CPU, " + threads + (threads == "1" ? " thread" : " threads");
}

bool gpu_has_vessel(Lab& lab, const VesselParams& params) {
  if (!lab.gpu()) return false;
  try {
    static_cast<void>(gpu_lab::time_vessel(lab.device(), picture_of(lab, kVesselProbe, 0).view(),
                                           params, {1, 0}));
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::unavailable || !lab.measures_cpu()) throw;
    lab.absent("cuda", error.what());
    return false;
  }
}

/// Returns the percentage of set pixels of a mask, which shows that vessels were found.
double vessel_percent(const ConstImageView& mask) {
  std::uint64_t set = 0;
  for (int y = 0; y < mask.desc.height; ++y) {
    const std::uint8_t* row = mask.row(0, y);
    set += static_cast<std::uint64_t>(
        std::count_if(row, row + mask.desc.width, [](std::uint8_t v) { return v != 0; }));
  }
  return 100.0 * static_cast<double>(set) / (double{1} * mask.desc.width * mask.desc.height);
}

void add_row(Lab& lab, const FrameSize& size, int picture, std::optional<int> threads,
             const gpu_lab::CallTimes& times, const ConstImageView& expected) {
  lab.add({size_text(size), cell(picture + 1), threads ? "cpu" : "cuda",
           threads ? cell(*threads) : std::string(), cell(median(times.whole_ms)),
           times.kernels_ms.empty() ? std::string() : cell(median(times.kernels_ms)),
           cell(times.whole_ms.size()), same_samples(times.result.view(), expected) ? "yes" : "no",
           cell(vessel_percent(expected))});
}

PivotTable times_of(const Table& table) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    samples.push_back({table.text(i, "size"), vessel_label(table, i), table.number(i, "whole_ms")});
  return sample_table("size", samples, Middle::median);
}

PivotTable frames_a_second(PivotTable times) {
  for (auto& row : times.values) {
    for (std::string& value : row)
      value = value.empty() ? value : cell(1000.0 / std::stod(value));
  }
  return times;
}

}  // namespace

void measure_vessel(Lab& lab) {
  const VesselParams& params = lab.options().vessel;
  const bool on_gpu = gpu_has_vessel(lab, params);
  std::vector<int> thread_counts;
  if (lab.measures_cpu()) thread_counts.push_back(1);
  if (lab.measures_cpu() && lab.cpu_threads() > 1) thread_counts.push_back(lab.cpu_threads());
  const std::vector<FrameSize>& sizes = lab.sizes();
  const std::size_t cells = sizes.size() * static_cast<std::size_t>(lab.options().images) *
                            (thread_counts.size() + (on_gpu ? 1 : 0));
  lab.fact("vessel", lab.options().vessel_text);
  lab.fact("channel", std::string(enum_name(params.channel)));
  lab.repeat_facts("median of a picture's calls");
  lab.fact("whole_call",
           "host to host: on the GPU allocate device memory, copy up, kernels, copy down, free; "
           "pageable host memory; on the CPU the filter");
  lab.begin({"size", "picture", "backend", "threads", "whole_ms", "kernels_ms", "calls", "correct",
             "vessel_percent"});
  std::size_t done = 0;
  for (const FrameSize& size : sizes) {
    for (int picture = 0; picture < lab.options().images; ++picture) {
      const Image image = picture_of(lab, size, picture);
      const Image expected = filtered(*make_cpu_filter(params, {lab.cpu_threads()}), image.view());
      for (const int threads : thread_counts) {
        lab.progress(done++, cells, size_text(size) + ", cpu");
        add_row(lab, size, picture, threads,
                time_cpu_filter(*make_cpu_filter(params, {threads}), image.view(), lab.budget()),
                expected.view());
      }
      if (!on_gpu) continue;
      lab.progress(done++, cells, size_text(size) + ", cuda");
      add_row(lab, size, picture, std::nullopt,
              gpu_lab::time_vessel(lab.device(), image.view(), params, lab.budget()),
              expected.view());
    }
  }
}

Report report_vessel(const Table& table) {
  check_sizes(table);
  const bool on_gpu = !rows_where(table, "backend", "cuda").empty();
  const PivotTable times = times_of(table);
  const PivotTable speedups = speedup_table(times, kOneThread);
  const bool on_cpu = speedups.columns.size() < times.columns.size();
  Report report;
  if (!on_gpu) report.markdown += "The GPU's rows are missing: they need a run with one.\n\n";
  report.markdown += "## Figure 15: image to mask, ms, medians over the pictures\n\n" +
                     markdown_table(times) + "\n";
  if (on_cpu && !speedups.columns.empty()) {
    report.markdown += "## Table 5: speed-up over " + std::string(kOneThread) + "\n\n" +
                       markdown_table(speedups) + "\n";
  }
  report.markdown += "## Images a second\n\n" + markdown_table(frames_a_second(times)) +
                     "\n## Every row\n\n" + markdown_table(table) + "\n" +
                     cell(rows_where(table, "correct", "yes").size()) + " of " +
                     cell(table.rows.size()) + " results have the bytes of the CPU's filter.\n";
  report.panels = {size_chart("Vessels, image to mask", "ms", times)};
  if (on_cpu && !speedups.columns.empty())
    report.panels.push_back(speedup_chart("Speed-up over " + std::string(kOneThread), speedups));
  return report;
}

}  // namespace equalux::cli::lab
