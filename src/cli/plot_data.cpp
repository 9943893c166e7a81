#include "plot_data.h"

#include <algorithm>

#include <equalux/error.h>

#include "tone_curve.h"

namespace equalux::cli {
namespace {

constexpr int kMaxValue = 255;
using Rgb = std::array<int, 3>;

/// Where R, G and B stand in a pixel of a packed format.
struct ChannelOffsets {
  std::size_t step = 1;
  std::array<std::size_t, 3> rgb{0, 0, 0};
};

ChannelOffsets channel_offsets(PixelFormat format) {
  const FormatTraits& row = traits(format);
  if (row.model != ColorModel::gray && row.model != ColorModel::rgb) {
    throw Error(ExitCode::usage, "a plot of " + std::string(row.name) +
                                     " is not possible, must be gray8 or packed RGB");
  }
  if (row.model == ColorModel::gray) return {};
  const auto first = static_cast<std::size_t>(row.color_offset);
  const bool blue_first = row.name.find('b') < row.name.find('r');
  const auto step = static_cast<std::size_t>(row.step[0]);
  return {step, {first + (blue_first ? 2 : 0), first + 1, first + (blue_first ? 0 : 2)}};
}

Rgb pixel_at(const std::uint8_t* row, std::size_t x, const ChannelOffsets& offsets) {
  const std::uint8_t* pixel = row + x * offsets.step;
  return {pixel[offsets.rgb[0]], pixel[offsets.rgb[1]], pixel[offsets.rgb[2]]};
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
  std::array<std::size_t, kMaxValue + 1> bin_at{};
  for (int v = 0; v <= kMaxValue; ++v) {
    bin_at[static_cast<std::size_t>(v)] = static_cast<std::size_t>(bin_of(v, bins, kMaxValue));
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
      const std::int64_t area = std::int64_t{rows.end - rows.first} * (columns.end - columns.first);
      for (const std::int64_t total : sum) {
        bytes += static_cast<char>(static_cast<std::uint8_t>((total + area / 2) / area));
      }
    }
  }
  return bytes;
}

}  // namespace equalux::cli
