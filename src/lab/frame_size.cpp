#include "src/lab/frame_size.h"

#include <algorithm>
#include <string_view>

#include <equalux/error.h>

#include "src/options/option_values.h"

namespace equalux::cli::lab {
namespace {

constexpr int kFraction = 8;  // fraction bits of a sample position

/// Position of a target sample in the source: between `at` and `next`, `part` of the way.
struct Place {
  int at;
  int next;
  int part;  ///< fraction, scaled by 2^kFraction
};

/// Returns positions that align the centres of the pixels; the edges repeat the outer samples.
std::vector<Place> places(int from, int to) {
  std::vector<Place> all;
  for (int i = 0; i < to; ++i) {
    const std::int64_t middle =
        ((2 * std::int64_t{i} + 1) * from << kFraction) / (std::int64_t{2} * to);
    const std::int64_t position = std::clamp<std::int64_t>(middle - (1 << (kFraction - 1)), 0,
                                                           std::int64_t{from - 1} << kFraction);
    const auto at = static_cast<int>(position >> kFraction);
    const auto part = static_cast<int>(position & ((1 << kFraction) - 1));
    all.push_back({at, std::min(at + 1, from - 1), part});
  }
  return all;
}

}  // namespace

std::string size_text(const FrameSize& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::vector<FrameSize> read_sizes(const std::string& option, const std::string& text) {
  std::vector<FrameSize> sizes;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t x = part.find('x');
    const auto width = number_from<int>(part.substr(0, x));
    const auto height =
        x == std::string_view::npos ? std::nullopt : number_from<int>(part.substr(x + 1));
    const bool right = width && height && *width >= 1 && *height >= 1 && *width <= kMaxSide &&
                       *height <= kMaxSide && std::int64_t{*width} * *height <= kMaxPixels;
    if (!right) {
      throw Error(ExitCode::usage, "--" + option + " has '" + std::string(part) +
                                       "', must be WxH[,WxH...], sides of 1 to " +
                                       std::to_string(kMaxSide) + ", at most 2^31 pixels");
    }
    sizes.push_back({*width, *height});
  }
  return sizes;
}

Image scaled(const ConstImageView& image, const FrameSize& size) {
  ImageDesc desc = image.desc;
  desc.width = size.width;
  desc.height = size.height;
  Image copy(desc);
  const int step = traits(desc.format).step[0];
  const std::vector<Place> columns = places(image.desc.width, size.width);
  const std::vector<Place> rows = places(image.desc.height, size.height);
  constexpr int kOne = 1 << kFraction;
  for (int y = 0; y < size.height; ++y) {
    const Place& row = rows[static_cast<std::size_t>(y)];
    const std::uint8_t* above = image.row(0, row.at);
    const std::uint8_t* below = image.row(0, row.next);
    std::uint8_t* out = copy.view().row(0, y);
    for (const Place& column : columns) {
      for (int c = 0; c < step; ++c) {
        const auto across = [&](const std::uint8_t* samples) {
          return samples[column.at * step + c] * (kOne - column.part) +
                 samples[column.next * step + c] * column.part;
        };
        const int sum = across(above) * (kOne - row.part) + across(below) * row.part;
        *out++ = static_cast<std::uint8_t>((sum + (kOne * kOne / 2)) >> (2 * kFraction));
      }
    }
  }
  return copy;
}

}  // namespace equalux::cli::lab
