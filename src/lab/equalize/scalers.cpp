#include "src/lab/equalize/scalers.h"

#include <algorithm>
#include <cstdlib>

#include "pipelines/core/frame_hash.h"
#include "src/common/log.h"
#include "src/format/layout.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/gnuplot.h"
#include "src/plot/histogram_plot.h"

/// `lab scalers`: section 4.1.3 of the report on equalization.
namespace equalux::cli::lab {
namespace {

struct Result {
  std::string name;
  Image image;
};

/// Draws Figures 8 and 9; `lab plot` cannot, as the CSV holds no pixels.
void draw_pictures(const Lab& lab, const Image& shifted, const std::vector<Result>& results,
                   int bins) {
  try {
    plot::check_gnuplot();
  } catch (const Error&) {
    return;  // the report's warning says so already
  }
  const std::string title = "V " + std::string(lab.options().shift_value < 0 ? "" : "+") +
                            cell(lab.options().shift_value);
  plot::draw_plot({{"Original", lab.image().view()}, {title, shifted.view()}},
                  {lab.stem() + "-shift.png", bins, false});
  plot::draw_plot({{title, shifted.view()},
                   {results[0].name, results[0].image.view()},
                   {results[1].name, results[1].image.view()}},
                  {lab.stem() + "-pictures.png", bins, false});
}

}  // namespace

Image shift_value(const ConstImageView& image, int shift) {
  Image shifted(image.desc);
  copy_image(image, shifted.view());  // includes alpha
  const RgbLayout at = rgb_layout(image.desc.format);
  for (int y = 0; y < image.desc.height; ++y) {
    std::uint8_t* pixel = shifted.view().row(0, y);
    for (int x = 0; x < image.desc.width; ++x, pixel += at.step) {
      const int v = std::max({pixel[at.r], pixel[at.g], pixel[at.b]});
      const int wanted = std::clamp(v + shift, 0, 255);
      const auto scaled = [&](int channel) {
        return static_cast<std::uint8_t>(v == 0 ? wanted : (2 * channel * wanted + v) / (2 * v));
      };
      const std::uint8_t r = scaled(pixel[at.r]);
      const std::uint8_t g = scaled(pixel[at.g]);
      const std::uint8_t b = scaled(pixel[at.b]);
      pixel[at.r] = r;
      pixel[at.g] = g;
      pixel[at.b] = b;
    }
  }
  return shifted;
}

Difference compare(const ConstImageView& a, const ConstImageView& b) {
  Difference difference;
  const std::size_t bytes = row_bytes(a.desc, 0);
  for (int y = 0; y < a.desc.height; ++y) {
    for (std::size_t i = 0; i < bytes; ++i) {
      const int apart = std::abs(a.row(0, y)[i] - b.row(0, y)[i]);
      difference.values += 1;
      difference.differ += apart == 0 ? 0 : 1;
      difference.most = std::max(difference.most, apart);
    }
  }
  return difference;
}

void measure_scalers(Lab& lab) {
  const Image shifted = shift_value(lab.image().view(), lab.options().shift_value);
  EqualizeParams params = lab.params(Chain::fused);
  params.staged = {};
  const Backend backend = lab.gpu() ? Backend::cuda : Backend::cpu;
  std::vector<Result> results;
  for (const std::string_view name : enum_names<Scaler>()) {
    params.scaler = *enum_from<Scaler>(name);
    results.push_back(
        {std::string(name), filtered(shifted.view(), params, backend, lab.options())});
  }
  const int bins = params.bins == 0 ? 256 : params.bins;
  lab.fact("backend", std::string(enum_name(backend)));
  lab.fact("chain", std::string(enum_name(params.chain)));
  lab.fact("bins", cell(bins));
  lab.fact("shift_value", cell(lab.options().shift_value));
  lab.fact("shifted_md5", frame_md5(shifted.view()));
  lab.begin({"scaler", "other", "values", "differ", "percent", "largest_difference"});
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t k = i + 1; k < results.size(); ++k) {
      const Difference d = compare(results[i].image.view(), results[k].image.view());
      lab.add({results[i].name, results[k].name, cell(d.values), cell(d.differ),
               cell(100.0 * static_cast<double>(d.differ) / static_cast<double>(d.values)),
               cell(d.most)});
    }
  }
  draw_pictures(lab, shifted, results, std::min(bins, 256));
}

Report report_scalers(const Table& table) {
  Report report;
  report.markdown = "V of every pixel shifted by " + table.fact("shift_value") +
                    ", hue and saturation kept, then equalized with each scaler.\n\n" +
                    markdown_table(table);
  plot::BarChart chart{"Values that differ between scalers, %", {"%", plot::Scale::linear}, {}, {}};
  std::vector<double> percent;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    chart.names.push_back(table.text(i, "scaler") + " / " + table.text(i, "other"));
    percent.push_back(table.number(i, "percent"));
  }
  chart.series = {{"differ", percent}};
  report.panels = {plot::bar_chart(chart)};
  return report;
}

}  // namespace equalux::cli::lab
