#pragma once

#include <string>
#include <vector>

#include <equalux/image.h>

/// Plots of pictures above their histograms, drawn by gnuplot.
namespace equalux::plot {

/// Column of a plot: a gray8 or packed RGB image and its histogram of V.
struct PlotColumn {
  std::string title;
  ConstImageView image;
};

struct PlotOptions {
  std::string path;       ///< path of the PNG
  int bins = 256;         ///< 2 to 256 bars
  bool channels = false;  ///< histograms of R, G and B behind the bars
};

/// Draws each image above its histogram of V: bars, and in red the cumulative distribution, scaled
/// to the highest bar. Writes NAME.partial.png, then renames it. Throws Error(unavailable,
/// cannot_create, write_failed).
void draw_plot(const std::vector<PlotColumn>& columns, const PlotOptions& options);

}  // namespace equalux::plot
