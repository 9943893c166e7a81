#include "src/lab/plot_data.h"

#include <algorithm>

#include <equalux/error.h>

#include "src/equalize/tone_curve.h"

namespace equalux::cli {
namespace {

using Rgb = std::array<int, 3>;

/// Where R, G and B stand in a pixel of a packed format, in samples, and how large they can be.
struct ChannelOffsets {
  std::size_t step = 1;
  std::array<std::size_t, 3> rgb{0, 0, 0};
  int max_value = 255;
};

ChannelOffsets channel_offsets(PixelFormat format) {
  const FormatTraits& row = traits(format);
  if (row.model != ColorModel::gray && row.model != ColorModel::rgb) {
    throw Error(ExitCode::usage, "a plot of " + std::string(row.name) +
                                     " is not possible, must be gray or packed RGB");
  }
  const int max_value = (1 << row.depth) - 1;
  if (row.model == ColorModel::gray) return {1, {0, 0, 0}, max_value};
  const auto first = static_cast<std::size_t>(row.color_offset);
  const bool blue_first = row.name.find('b') < row.name.find('r');
  const auto step = static_cast<std::size_t>(row.step[0] / sample_bytes(format));
  return {step, {first + (blue_first ? 2 : 0), first + 1, first + (blue_first ? 0 : 2)}, max_value};
}

Rgb pixel_at(const std::uint8_t* row, std::size_t x, const ChannelOffsets& offsets) {
  const auto sample = [&](std::size_t channel) -> int {
    const std::size_t at = x * offsets.step + offsets.rgb[channel];
    return offsets.max_value == 255 ? row[at] : row[2 * at] + 256 * row[2 * at + 1];
  };
  return {sample(0), sample(1), sample(2)};
}

/// The source pixels that a target pixel covers: at least one.
struct Span {
  int first;
  int end;
};
Span covered(int target, int targets, int sources) {
  const auto first = static_cast<int>(std::int64_t{target} * sources / targets);
  const auto end = static_cast<int>(std::int64_t{target + 1} * sources / targets);
  return {first, std::max(end, first + 1)};
}

}  // namespace

PlotHistogram count_plot_histogram(const ConstImageView& image, int bins) {
  const ChannelOffsets offsets = channel_offsets(image.desc.format);
  const auto count = static_cast<std::size_t>(bins);
  PlotHistogram histogram{std::vector<std::uint64_t>(count), {}};
  histogram.channels.fill(std::vector<std::uint64_t>(count));
  std::vector<std::size_t> bin_at(static_cast<std::size_t>(offsets.max_value) + 1);
  for (int v = 0; v <= offsets.max_value; ++v) {
    bin_at[static_cast<std::size_t>(v)] =
        static_cast<std::size_t>(bin_of(v, bins, offsets.max_value));
  }
  for (int y = 0; y < image.desc.height; ++y) {
    const std::uint8_t* row = image.row(0, y);
    for (std::size_t x = 0; x < static_cast<std::size_t>(image.desc.width); ++x) {
      const Rgb rgb = pixel_at(row, x, offsets);
      for (std::size_t c = 0; c < 3; ++c) {
        ++histogram.channels[c][bin_at[static_cast<std::size_t>(rgb[c])]];
      }
      const int value = *std::max_element(rgb.begin(), rgb.end());
      ++histogram.value[bin_at[static_cast<std::size_t>(value)]];
    }
  }
  return histogram;
}

std::string resized_rgb(const ConstImageView& image, int width, int height) {
  const ChannelOffsets offsets = channel_offsets(image.desc.format);
  std::string bytes;
  bytes.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    const Span rows = covered(y, height, image.desc.height);
    for (int x = 0; x < width; ++x) {
      const Span columns = covered(x, width, image.desc.width);
      std::array<std::int64_t, 3> sum{};
      for (int sy = rows.first; sy < rows.end; ++sy) {
        for (int sx = columns.first; sx < columns.end; ++sx) {
          const Rgb rgb = pixel_at(image.row(0, sy), static_cast<std::size_t>(sx), offsets);
          for (std::size_t c = 0; c < 3; ++c)
            sum[c] += rgb[c];
        }
      }
      // As many full-scale samples: a byte of 255.
      const std::int64_t white =
          std::int64_t{offsets.max_value} * (rows.end - rows.first) * (columns.end - columns.first);
      for (const std::int64_t total : sum) {
        bytes +=
            static_cast<char>(static_cast<std::uint8_t>((2 * 255 * total + white) / (2 * white)));
      }
    }
  }
  return bytes;
}

}  // namespace equalux::cli
