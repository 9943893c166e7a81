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
  static const std::vector<Experiment> all{
      {"sweep", Needs::gpu, 9, measure_sweep, report_sweep},
      {"threads", Needs::gpu, 9, measure_threads, report_threads},
      {"scans", Needs::either, 9, measure_scans, report_scans},
      {"stages", Needs::either, 50, measure_stages, report_stages},
      {"access", Needs::gpu, 9, measure_access, report_access},
      {"histograms", Needs::gpu, 9, measure_histograms, report_histograms},
      {"scalers", Needs::either, 1, measure_scalers, report_scalers},
      {"hashes", Needs::either, 1, measure_hashes, report_hashes},
      {"load", Needs::either, 10, measure_load, report_load},
      {"timeline", Needs::gpu, 1, measure_timeline, report_timeline},
      {"convolution",
       Needs::either,
       9,
       measure_convolution,
       report_convolution,
       {{100, 100}, {512, 512}, {1280, 720}, {4096, 2304}, {10000, 6000}}},
      {"hessian", Needs::either, 3, measure_hessian, report_hessian, kEyes, kDrawnEyes},
      {"vessel", Needs::either, 3, measure_vessel, report_vessel, kEyes, kDrawnEyes},
  };
  return all;
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
