#include "src/plot/histogram_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include <equalux/error.h>

#include "src/equalize/tone/tone_curve.h"
#include "src/plot/gnuplot.h"

namespace equalux::plot {
namespace {

// Sizes in pixels of the drawing.
constexpr int kColumnWidth = 560;
constexpr int kMaxImageHeight = 760;
constexpr int kMinImageSide = 16;
constexpr int kHistogramHeight = 300;
constexpr int kLeftMargin = 92;
constexpr int kRightMargin = 22;
constexpr int kTitleHeight = 44;
constexpr int kGap = 26;
constexpr int kBottomMargin = 96;

/// Histograms of V and of the three channels.
struct PlotHistogram {
  std::vector<std::uint64_t> value;
  std::array<std::vector<std::uint64_t>, 3> channels;  ///< R, G, B
};

using Rgb = std::array<int, 3>;

/// Returns the traits of a gray or packed RGB format; throws for others.
const FormatTraits& packed_traits(PixelFormat format) {
  const FormatTraits& t = traits(format);
  if (t.model != ColorModel::gray && t.model != ColorModel::rgb) {
    throw Error(ExitCode::usage, "a plot of " + std::string(t.name) +
                                     " is not possible, must be gray or packed RGB");
  }
  return t;
}

Rgb pixel_at(const std::uint8_t* row, int x, const FormatTraits& t) {
  const std::uint8_t* pixel = row + std::ptrdiff_t{x} * t.step[0];
  const auto sample = [&](std::size_t channel) -> int {
    const std::uint8_t* at = pixel + t.offset[channel];
    return t.depth == 8 ? at[0] : at[0] + 256 * at[1];
  };
  return {sample(0), sample(1), sample(2)};
}

/// Source pixels that a target pixel covers, at least one.
struct Span {
  int first;
  int end;
};
Span covered(int target, int targets, int sources) {
  const auto first = static_cast<int>(std::int64_t{target} * sources / targets);
  const auto end = static_cast<int>(std::int64_t{target + 1} * sources / targets);
  return {first, std::max(end, first + 1)};
}

/// Counts the histograms of gray or packed RGB of 8 or 16 bits, with 2 to 256 bins.
PlotHistogram count_plot_histogram(const ConstImageView& image, int bins) {
  const FormatTraits& format = packed_traits(image.desc.format);
  const int max_value = (1 << format.depth) - 1;
  const auto count = static_cast<std::size_t>(bins);
  PlotHistogram histogram{std::vector<std::uint64_t>(count), {}};
  histogram.channels.fill(std::vector<std::uint64_t>(count));
  std::vector<std::size_t> bin_at(static_cast<std::size_t>(max_value) + 1);
  for (int v = 0; v <= max_value; ++v) {
    bin_at[static_cast<std::size_t>(v)] = static_cast<std::size_t>(bin_of(v, bins, max_value));
  }
  for (int y = 0; y < image.desc.height; ++y) {
    const std::uint8_t* row = image.row(0, y);
    for (int x = 0; x < image.desc.width; ++x) {
      const Rgb rgb = pixel_at(row, x, format);
      for (std::size_t c = 0; c < 3; ++c) {
        ++histogram.channels[c][bin_at[static_cast<std::size_t>(rgb[c])]];
      }
      const int value = *std::max_element(rgb.begin(), rgb.end());
      ++histogram.value[bin_at[static_cast<std::size_t>(value)]];
    }
  }
  return histogram;
}

/// Returns R, G, B bytes without row padding at the given size, each pixel the mean of the area
/// that it covers.
std::string resized_rgb(const ConstImageView& image, int width, int height) {
  const FormatTraits& format = packed_traits(image.desc.format);
  const int max_value = (1 << format.depth) - 1;
  std::string bytes;
  bytes.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    const Span rows = covered(y, height, image.desc.height);
    for (int x = 0; x < width; ++x) {
      const Span columns = covered(x, width, image.desc.width);
      std::array<std::int64_t, 3> sum{};
      for (int sy = rows.first; sy < rows.end; ++sy) {
        for (int sx = columns.first; sx < columns.end; ++sx) {
          const Rgb rgb = pixel_at(image.row(0, sy), sx, format);
          for (std::size_t c = 0; c < 3; ++c)
            sum[c] += rgb[c];
        }
      }
      // Sum of an all-white area, which maps to 255; division rounds half up.
      const std::int64_t white =
          std::int64_t{max_value} * (rows.end - rows.first) * (columns.end - columns.first);
      for (const std::int64_t total : sum) {
        bytes +=
            static_cast<char>(static_cast<std::uint8_t>((2 * 255 * total + white) / (2 * white)));
      }
    }
  }
  return bytes;
}

struct Size {
  int width;
  int height;
};

/// Returns the image's size inside a column of the plot, with its aspect ratio.
Size image_panel(const ImageDesc& desc) {
  const double scale = std::min(static_cast<double>(kColumnWidth) / desc.width,
                                static_cast<double>(kMaxImageHeight) / desc.height);
  const auto side = [&](int pixels, int most) {
    return std::clamp(static_cast<int>(pixels * scale + 0.5), kMinImageSide, most);
  };
  return {side(desc.width, kColumnWidth), side(desc.height, kMaxImageHeight)};
}

/// Returns a table with the columns v, V, cumulative, R, G, B.
std::string histogram_table(const PlotHistogram& histogram) {
  const std::size_t bins = histogram.value.size();
  const std::uint64_t highest = *std::max_element(histogram.value.begin(), histogram.value.end());
  const std::uint64_t total =
      std::accumulate(histogram.value.begin(), histogram.value.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  std::ostringstream table;
  for (std::size_t b = 0; b < bins; ++b) {
    sum += histogram.value[b];
    table << 255.0 * static_cast<double>(b) / static_cast<double>(bins - 1) << ' '
          << histogram.value[b] << ' '
          << static_cast<double>(highest) * static_cast<double>(sum) / static_cast<double>(total);
    for (const auto& channel : histogram.channels)
      table << ' ' << channel[b];
    table << '\n';
  }
  return table.str();
}

/// Returns gnuplot's margins, fractions from the bottom left, for a panel in pixels from the top
/// left.
std::string margins(const Size& page, int left, int top, const Size& panel) {
  std::ostringstream text;
  text.precision(8);
  const double bottom = page.height - top - panel.height;
  text << "set lmargin at screen " << static_cast<double>(left) / page.width
       << "\nset rmargin at screen " << static_cast<double>(left + panel.width) / page.width
       << "\nset tmargin at screen " << static_cast<double>(page.height - top) / page.height
       << "\nset bmargin at screen " << bottom / page.height << "\n";
  return text.str();
}

std::string image_plot(const std::string& title, const std::string& file, const Size& size) {
  std::ostringstream text;
  text << "set title " << gnuplot_text(title) << " noenhanced font ',14' offset 0,-0.4\n"
       << "unset xtics; unset ytics; unset xlabel; unset ylabel; unset key; unset grid\n"
       << "set border 0\n"
       << "set xrange [-0.5:" << size.width << "-0.5]; set yrange [-0.5:" << size.height
       << "-0.5]\n"
       << "plot " << gnuplot_text(file) << " binary array=(" << size.width << "," << size.height
       << ") flip=y format='%uchar%uchar%uchar' using 1:2:3 with rgbimage notitle\n";
  return text.str();
}

/// Returns such as "1.5k" for 1500, so that large counts fit beside the axis.
std::string short_count(double count) {
  std::ostringstream text;
  if (count >= 1e6) {
    text << count / 1e6 << "M";
  } else if (count >= 1e3) {
    text << count / 1e3 << "k";
  } else {
    text << count;
  }
  return text.str();
}

/// Returns range and marks of an axis of counts: four to eight round steps.
std::string count_axis(std::uint64_t highest) {
  const auto top = static_cast<double>(std::max<std::uint64_t>(highest, 1));
  const double power = std::pow(10.0, std::floor(std::log10(top)));
  const double step = power * (top / power > 4 ? 1.0 : top / power > 2 ? 0.5 : 0.25);
  std::ostringstream text;
  text << "set yrange [0:" << top * 1.04 << "]; set ytics nomirror out (";
  for (int i = 0; i * step <= top * 1.04; ++i) {
    text << (i == 0 ? "" : ", ") << "'" << short_count(i * step) << "' " << i * step;
  }
  text << ")\n";
  return text.str();
}

std::uint64_t highest_of(const PlotHistogram& histogram, bool channels) {
  const auto top = [](const std::vector<std::uint64_t>& counts) {
    return *std::max_element(counts.begin(), counts.end());
  };
  std::uint64_t highest = top(histogram.value);
  for (const auto& counts : histogram.channels) {
    if (channels) highest = std::max(highest, top(counts));
  }
  return highest;
}

std::string histogram_plot(const std::string& file, const PlotHistogram& histogram,
                           const PlotOptions& options, bool first) {
  std::ostringstream text;
  text << "unset title\nset border 3 lc rgb '#404040'\n"
       << "set xrange [-4:259]; set xtics 0,32,255 nomirror out; set xtics add (255)\n"
       << count_axis(highest_of(histogram, options.channels)) << "set xlabel 'V' offset 0,0.4\n"
       << (first ? "set ylabel 'pixels' offset 0.5,0\n" : "unset ylabel\n")
       << "set grid ytics lc rgb '#dddddd' lw 0.6\n"
       << "set key below horizontal center samplen 1.6 width -1 maxrows 1\n"
       << "set style fill " << (options.channels ? "transparent solid 0.55" : "solid 1.0")
       << " noborder\n"
       << "set boxwidth " << 255.0 / (options.bins - 1) * 0.9 << "\n"
       << "plot ";
  if (options.channels) {
    static constexpr std::array<const char*, 3> kColors{"#e07070", "#60b060", "#6080e0"};
    static constexpr std::array<const char*, 3> kNames{"R", "G", "B"};
    for (std::size_t c = 0; c < 3; ++c) {
      text << gnuplot_text(file) << " using 1:" << 4 + c
           << " with filledcurves y1=0 fs transparent "
           << "solid 0.35 lc rgb '" << kColors[c] << "' title '" << kNames[c] << "', ";
    }
  }
  text << gnuplot_text(file) << " using 1:2 with boxes lc rgb '#3a6ea5' title 'V', "
       << gnuplot_text(file) << " using 1:3 with lines lc rgb '#d01818' lw 2 title '"
       << (options.channels ? "cdf of V" : "cumulative, scaled") << "'\n";
  return text.str();
}

std::string script(const std::vector<PlotColumn>& columns, const PlotOptions& options,
                   const ScratchFolder& folder, const std::string& output) {
  int image_height = 0;
  for (const PlotColumn& column : columns) {
    image_height = std::max(image_height, image_panel(column.image.desc).height);
  }
  const int pitch = kLeftMargin + kColumnWidth + kRightMargin;
  const Size page{pitch * static_cast<int>(columns.size()),
                  kTitleHeight + image_height + kGap + kHistogramHeight + kBottomMargin};
  std::ostringstream text;
  text << "set terminal pngcairo size " << page.width << "," << page.height
       << " font 'DejaVu Sans,11' background rgb 'white'\n"
       << "set output " << gnuplot_text(output) << "\nset multiplot\n";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Size image = image_panel(columns[i].image.desc);
    const std::string pixels = "image" + std::to_string(i) + ".rgb";
    const std::string table = "histogram" + std::to_string(i) + ".txt";
    folder.write(pixels, resized_rgb(columns[i].image, image.width, image.height));
    const PlotHistogram histogram = count_plot_histogram(columns[i].image, options.bins);
    folder.write(table, histogram_table(histogram));
    const int left = pitch * static_cast<int>(i) + kLeftMargin;
    text << margins(page, left + (kColumnWidth - image.width) / 2,
                    kTitleHeight + image_height - image.height, image)
         << image_plot(columns[i].title, (folder.path() / pixels).string(), image)
         << margins(page, left, kTitleHeight + image_height + kGap,
                    {kColumnWidth, kHistogramHeight})
         << histogram_plot((folder.path() / table).string(), histogram, options, i == 0);
  }
  text << "unset multiplot\nset output\n";
  return text.str();
}

}  // namespace

void draw_plot(const std::vector<PlotColumn>& columns, const PlotOptions& options) {
  draw_with_gnuplot(options.path, [&](const ScratchFolder& folder, const std::string& output) {
    return script(columns, options, folder, output);
  });
}

}  // namespace equalux::plot
