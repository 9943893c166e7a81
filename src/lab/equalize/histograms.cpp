#include <bit>
#include <cstring>
#include <random>

#include "src/lab/lab.h"
#include "src/lab/pivot.h"

/// `lab histograms`: Figure 3 of the report on equalization.
namespace equalux::cli::lab {
namespace {

constexpr int kLeastBins = 16;
constexpr int kFlatLevel = 93;
constexpr std::uint32_t kSeed = 1;

struct Content {
  std::string name;
  Image image;
};

/// Returns images for three cases of atomic contention: all threads on one bin, neighbours on
/// similar bins, random bins.
std::vector<Content> contents(const Image& natural) {
  std::vector<Content> all;
  const ImageDesc desc = natural.desc();
  const auto bytes = image_layout(desc).bytes;
  all.push_back({"flat", Image(desc)});
  std::memset(all.back().image.view().data[0], kFlatLevel, bytes);
  all.push_back({"natural", Image(desc)});
  copy_image(natural.view(), all.back().image.view());
  all.push_back({"noise", Image(desc)});
  std::mt19937 random(kSeed);
  std::uint8_t* noise = all.back().image.view().data[0];
  for (std::size_t i = 0; i < bytes; ++i)
    noise[i] = static_cast<std::uint8_t>(random() >> 24);
  return all;
}

plot::Panel chart_of(const Table& table, const std::string& content) {
  plot::LineChart chart{"Histogram of a " + content + " image: " + table.fact("device"),
                        {"bins", plot::Scale::log2},
                        {"us", plot::Scale::log10},
                        {},
                        {},
                        {}};
  for (const std::string& variant : texts_of(table, "variant")) {
    plot::Series series{variant, {}, true};
    for (const std::size_t i : rows_where(table, "content", content)) {
      if (table.text(i, "variant") == variant)
        series.points.emplace_back(table.number(i, "bins"), table.number(i, "us"));
    }
    chart.series.push_back(std::move(series));
  }
  return plot::line_chart(chart);
}

}  // namespace

void measure_histograms(Lab& lab) {
  const std::vector<Content> all = contents(lab.image());
  const auto& variants = enum_names<HistogramVariant>();
  const StagedParams& knobs = lab.options().common.equalize.staged;
  lab.repeat_facts("median");
  lab.fact("flat", "every byte is " + cell(kFlatLevel));
  lab.fact("noise", "random bytes");
  lab.fact("grid", knobs.grid ? extent_text(*knobs.grid) : "chosen");
  lab.fact("block", knobs.block ? extent_text(*knobs.block) : "chosen");
  lab.begin({"content", "variant", "bins", "us", "calls", "correct"});
  const int most = lab.options().most_bins;
  const auto steps =
      static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(most / kLeastBins)));
  std::size_t done = 0;
  for (const Content& content : all) {
    for (const std::string_view variant : variants) {
      for (int bins = kLeastBins; bins <= most; bins *= 2) {
        lab.progress(done++, all.size() * variants.size() * steps,
                     content.name + ", " + std::string(variant) + ", bins " + cell(bins));
        const gpu_lab::KernelTimes times =
            gpu_lab::time_histogram(lab.device(), *enum_from<HistogramVariant>(variant),
                                    content.image.view(), bins, knobs, lab.budget());
        lab.add({content.name, std::string(variant), cell(bins), cell(median(times.us)),
                 cell(times.us.size()), times.correct ? "yes" : "no"});
      }
    }
  }
}

Report report_histograms(const Table& table) {
  Report report;
  for (const std::string& content : texts_of(table, "content")) {
    report.markdown += "## " + content + ", us\n\n" +
                       markdown_table(pivot(table, {"variant", "bins", "us", "variant \\ bins"},
                                            rows_where(table, "content", content))) +
                       "\n";
    report.panels.push_back(chart_of(table, content));
  }
  report.markdown += cell(rows_where(table, "correct", "yes").size()) + " of " +
                     cell(table.rows.size()) + " results are the counts of plain loops.\n";
  return report;
}

}  // namespace equalux::cli::lab
