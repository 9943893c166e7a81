#pragma once

#include <string>
#include <vector>

#include <equalux/image.h>

/// Pictures above their histograms, drawn by gnuplot.
namespace equalux::plot {

/// One column of a plot: an image of gray8 or packed RGB, and its histogram of V.
struct PlotColumn {
  std::string title;
  ConstImageView image;
};

struct PlotOptions {
  std::string path;       ///< of the PNG
  int bins = 256;         ///< 2 to 256 bars
  bool channels = false;  ///< histograms of R, G and B behind the bars
};

/// Draws each image above its histogram of V: bars, and the cumulative sum in red, scaled to the
/// histogram's maximum. Written through NAME.partial.png.
/// Throws Error(unavailable, cannot_create, write_failed).
void draw_plot(const std::vector<PlotColumn>& columns, const PlotOptions& options);

}  // namespace equalux::plot
