#include <equalux/error.h>

#include "pipelines/files/partial_file.h"
#include "src/lab/experiment.h"
#include "src/lab/gnuplot.h"

namespace equalux::cli::lab {
namespace {

/// The heading and what is known of the run.
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

void write_report(const Table& table, const Report& report, const std::string& stem) {
  const std::string text = markdown_head(table) + report.markdown;
  PartialFile markdown(stem + ".md");
  markdown.write(text.data(), text.size());
  markdown.commit();
  if (report.panels.empty()) return;
  check_gnuplot();
  draw_figure(report.panels, stem + ".png");
  draw_figure(report.panels, stem + ".svg");
}

}  // namespace equalux::cli::lab
