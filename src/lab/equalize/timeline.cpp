#include <algorithm>

#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// `lab timeline`: overlap of the three CUDA streams of the product.
namespace equalux::cli::lab {
namespace {

constexpr double kUsAMs = 1000.0;

}  // namespace

void measure_timeline(Lab& lab) {
  const EqualizeParams params = lab.params(Chain::fused);
  validate(params, Backend::cuda, &lab.image().desc());
  lab.fact("chain", std::string(enum_name(params.chain)));
  lab.fact("times", "events on the streams, since the first upload began");
  lab.begin({"frame", "lane", "begin_us", "end_us"});
  for (const gpu_lab::Span& span :
       gpu_lab::trace_frames(lab.device(), lab.image().view(), params, lab.options().frames)) {
    lab.add(
        {cell(span.frame), span.lane, cell(kUsAMs * span.begin_ms), cell(kUsAMs * span.end_ms)});
  }
}

Report report_timeline(const Table& table) {
  const std::vector<std::string> lanes = texts_of(table, "lane");
  plot::LaneChart chart{
      "Frames through three streams: " + table.fact("device") + ", " + table.fact("size"),
      "us",
      lanes,
      {}};
  std::vector<double> busy(lanes.size());
  double end = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto lane = static_cast<std::size_t>(
        std::find(lanes.begin(), lanes.end(), table.text(i, "lane")) - lanes.begin());
    const plot::LaneBox box{lane, table.number(i, "begin_us"), table.number(i, "end_us"),
                            table.text(i, "frame")};
    busy[lane] += box.end - box.begin;
    end = std::max(end, box.end);
    chart.boxes.push_back(box);
  }
  std::vector<std::vector<std::string>> rows;
  double all = 0;
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    rows.push_back({lanes[k], cell(busy[k]), cell(100.0 * busy[k] / end)});
    all += busy[k];
  }
  Report report;
  report.markdown = plot::markdown_table({"lane", "busy, us", "% of the time"}, rows) +
                    "\nAll frames: " + plot::readable(cell(end)) +
                    " us. One after another the same work would take " + plot::readable(cell(all)) +
                    " us, " + plot::readable(cell(all / end)) +
                    " times as long.\n\n## Every interval\n\n" + markdown_table(table);
  report.panels = {plot::lane_chart(chart)};
  return report;
}

}  // namespace equalux::cli::lab
