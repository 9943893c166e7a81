#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <equalux/image.h>

/// What a plot needs of an image: its histograms, and its pixels at the size of the plot.
namespace equalux::cli {

/// Counts for each bin of V and of the three channels.
struct PlotHistogram {
  std::vector<std::uint64_t> value;
  std::array<std::vector<std::uint64_t>, 3> channels;  ///< R, G, B
};

/// Of gray or a packed RGB form, of 8 or 16 bits, over 2 to 256 bins. Throws Error(usage) for other
/// formats.
[[nodiscard]] PlotHistogram count_plot_histogram(const ConstImageView& image, int bins);

/// Tight rows of R, G, B bytes at the given size, each pixel the mean of the area it covers.
[[nodiscard]] std::string resized_rgb(const ConstImageView& image, int width, int height);

}  // namespace equalux::cli
