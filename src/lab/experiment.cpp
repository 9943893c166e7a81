#include "src/lab/experiment.h"

#include <algorithm>

#include "pipelines/files/partial_file.h"
#include "src/plot/gnuplot.h"

namespace equalux::cli::lab {
namespace {

// Sizes of Table 1 of the Hessian report: STARE, MESSIDOR, HRF.
const std::vector<FrameSize> kEyes{{700, 605}, {2240, 1488}, {3540, 2336}};
constexpr std::string_view kDrawnEyes = "eyes that the program draws, the same in every run";

/// Returns the heading and the facts of the run.
std::string markdown_head(const Table& table) {
  std::string text = "# equalux lab " + table.experiment + "\n\n";
  for (const auto& [key, value] : table.facts) {
    text += "- " + key + ": ";
    for (const char c : value)
      text += c == '\n' || c == '\r' ? ' ' : c;
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

const std::vector<Experiment>& experiments() {
  using enum ChainOptions;
  static const std::vector<Experiment> experiments{
      {"sweep", Needs::gpu, 9, measure_sweep, report_sweep, all, {"repeat", "cell-seconds"}},
      {"threads", Needs::gpu, 9, measure_threads, report_threads, all, {"repeat", "cell-seconds"}},
      {"scans",
       Needs::either,
       9,
       measure_scans,
       report_scans,
       none,
       {"repeat", "cell-seconds", "most-bins", "grid", "block"}},
      {"stages", Needs::either, 50, measure_stages, report_stages, all, {"repeat"}},
      {"access", Needs::gpu, 9, measure_access, report_access, none, {"repeat", "cell-seconds"}},
      {"histograms",
       Needs::gpu,
       9,
       measure_histograms,
       report_histograms,
       none,
       {"repeat", "cell-seconds", "most-bins", "grid", "block", "pixels-per-thread"}},
      {"scalers", Needs::either, 1, measure_scalers, report_scalers, curve, {"shift-value"}},
      {"hashes", Needs::either, 1, measure_hashes, report_hashes, none, {"bins"}},
      {"load", Needs::either, 10, measure_load, report_load, all, {"repeat", "call-ms"}},
      {"timeline", Needs::gpu, 1, measure_timeline, report_timeline, all, {"frames"}},
      {"convolution",
       Needs::either,
       9,
       measure_convolution,
       report_convolution,
       none,
       {"repeat", "cell-seconds", "sizes", "kernel"},
       {{100, 100}, {512, 512}, {1280, 720}, {4096, 2304}, {10000, 6000}}},
      {"hessian",
       Needs::either,
       3,
       measure_hessian,
       report_hessian,
       none,
       {"repeat", "cell-seconds", "sizes", "eigenvalues", "images"},
       kEyes,
       kDrawnEyes},
      {"vessel",
       Needs::either,
       3,
       measure_vessel,
       report_vessel,
       none,
       {"repeat", "cell-seconds", "sizes", "vessel", "images"},
       kEyes,
       kDrawnEyes},
  };
  return experiments;
}

bool Experiment::reads(const GivenOption& option) const {
  if (option.name == "out") return true;
  if (std::find(options.begin(), options.end(), option.name) != options.end()) return true;
  switch (option.of) {
    case GivenOption::Of::experiment:
      return false;
    case GivenOption::Of::curve:
      return chain != ChainOptions::none;
    case GivenOption::Of::staged:
      return chain == ChainOptions::all;
  }
  return false;
}

const Experiment* find_experiment(std::string_view name) {
  const auto& all = experiments();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Experiment& experiment) {
    return experiment.name == name;
  });
  return at == all.end() ? nullptr : &*at;
}

void write_report(const Table& table, const Report& report, const std::string& stem) {
  const std::string text = markdown_head(table) + report.markdown;
  PartialFile markdown(stem + ".md");
  markdown.write(text.data(), text.size());
  markdown.commit();
  if (report.panels.empty()) return;
  plot::check_gnuplot();
  plot::draw_figure(report.panels, stem + ".png");
  plot::draw_figure(report.panels, stem + ".svg");
}

}  // namespace equalux::cli::lab
