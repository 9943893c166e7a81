#include "tests/support/media/test_images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

namespace equalux::test {
namespace {

constexpr std::uint8_t kPoison = 0xA5;

/// A level of 8 bits as one of `depth`, with `grain` below it where the content has any: flat
/// frames stay flat, and black and white are the ends.
std::uint16_t deep_level(Content content, std::uint8_t level, int depth, std::uint32_t grain) {
  const int more = depth - 8;
  const auto low = grain & ((1u << more) - 1u);
  const auto high = static_cast<std::uint32_t>(level) << more;
  switch (content) {
    case Content::ramp:
    case Content::noise:
    case Content::natural:
      return static_cast<std::uint16_t>(high | low);
    case Content::nearly_flat:
      return static_cast<std::uint16_t>((117u << more) + (level - 117u));
    case Content::white:
      return static_cast<std::uint16_t>((1u << depth) - 1u);
    default:
      return static_cast<std::uint16_t>(high);
  }
}

/// A textured, lit scene: three slow waves and grain, mostly in the lower half. The waves' parts
/// by column and by row are tables: frames may be large.
class NaturalScene {
 public:
  NaturalScene(std::size_t columns, std::size_t rows, int plane) : columns_(columns), rows_(rows) {
    for (std::size_t x = 0; x < columns; ++x) {
      const auto fx = static_cast<double>(x);
      columns_[x] = {std::sin(fx * 0.013 + plane), std::sin(fx * 0.07 + 2.0 * plane),
                     std::cos(fx * 0.07 + 2.0 * plane), std::sin(fx * 0.31)};
    }
    for (std::size_t y = 0; y < rows; ++y) {
      const auto fy = static_cast<double>(y);
      rows_[y] = {std::cos(fy * 0.017), std::cos(fy * 0.05), std::sin(fy * 0.05),
                  std::sin(fy * 0.23)};
    }
  }

  [[nodiscard]] std::uint8_t at(std::size_t x, std::size_t y, std::uint32_t grain) const {
    const Waves& c = columns_[x];
    const Waves& r = rows_[y];
    const double wave = c[0] * r[0] + 0.5 * (c[1] * r[1] + c[2] * r[2]) + 0.25 * c[3] * r[3];
    const double level = 90.0 + 38.0 * wave + static_cast<double>(grain % 9) - 4.0;
    return static_cast<std::uint8_t>(std::clamp(level, 0.0, 255.0));
  }

 private:
  using Waves = std::array<double, 4>;
  std::vector<Waves> columns_;
  std::vector<Waves> rows_;
};

std::uint8_t content_byte(Content content, std::size_t x, std::size_t y, int plane,
                          std::mt19937& random) {
  switch (content) {
    case Content::constant:
      return static_cast<std::uint8_t>(93 + 20 * plane);
    case Content::ramp:
      return static_cast<std::uint8_t>(x + 3 * y + 85u * static_cast<unsigned>(plane));
    case Content::noise:
      return static_cast<std::uint8_t>(random());
    case Content::single_bin:
      return 200;
    case Content::black:
      return 0;
    case Content::white:
      return 255;
    case Content::nearly_flat:
      return static_cast<std::uint8_t>((random() % 997 == 0 ? 1 : 0) + 117);
    case Content::natural:
      break;  // NaturalScene's
  }
  return 0;
}

}  // namespace

const std::vector<Content>& all_contents() {
  static const std::vector<Content> all{Content::constant,    Content::ramp,   Content::noise,
                                        Content::single_bin,  Content::black,  Content::white,
                                        Content::nearly_flat, Content::natural};
  return all;
}

std::string name_of(Content content) {
  switch (content) {
    case Content::constant:
      return "constant";
    case Content::ramp:
      return "ramp";
    case Content::noise:
      return "noise";
    case Content::single_bin:
      return "single_bin";
    case Content::black:
      return "black";
    case Content::white:
      return "white";
    case Content::nearly_flat:
      return "nearly_flat";
    case Content::natural:
      return "natural";
  }
  return "?";
}

ImageDesc full_range(PixelFormat format, int width, int height) {
  ImageDesc desc;
  desc.format = format;
  desc.width = width;
  desc.height = height;
  desc.range = ColorRange::full;
  return desc;
}

std::string describe(const ImageDesc& desc, Content content) {
  return std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
         std::to_string(desc.height) + " " + std::string(to_string(desc.matrix)) + " " +
         std::string(to_string(desc.range)) + " " + name_of(content);
}

PaddedImage::PaddedImage(const ImageDesc& desc, int padding, bool negative, int offset) {
  view_.desc = desc;
  const int planes = traits(desc.format).planes;
  std::array<std::size_t, kMaxPlanes> begin{};
  std::size_t size = 64 + static_cast<std::size_t>(offset);
  for (int p = 0; p < planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    begin[i] = size;
    view_.stride[i] = static_cast<std::ptrdiff_t>(row_bytes(desc, p)) + padding;
    size +=
        static_cast<std::size_t>(view_.stride[i]) * static_cast<std::size_t>(plane_rows(desc, p)) +
        64;
  }
  memory_.assign(size, kPoison);
  is_sample_.assign(size, 0);
  for (int p = 0; p < planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    std::size_t first = begin[i];
    if (negative) {
      first += static_cast<std::size_t>(view_.stride[i]) *
               static_cast<std::size_t>(plane_rows(desc, p) - 1);
      view_.stride[i] = -view_.stride[i];
    }
    view_.data[i] = memory_.data() + first;
    for (int y = 0; y < plane_rows(desc, p); ++y) {
      const auto at = static_cast<std::size_t>(view_.row(p, y) - memory_.data());
      std::fill_n(is_sample_.begin() + static_cast<std::ptrdiff_t>(at), row_bytes(desc, p),
                  std::uint8_t{1});
    }
  }
}

bool PaddedImage::padding_intact() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (is_sample_[i] == 0 && memory_[i] != kPoison) return false;
  }
  return true;
}

std::vector<PixelFormat> byte_formats() {
  std::vector<PixelFormat> formats;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (has_byte_samples(format)) formats.push_back(format);
  }
  return formats;
}

std::vector<PixelFormat> rgb_formats() {
  std::vector<PixelFormat> formats;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    const ColorModel model = traits(format).model;
    if (!has_byte_samples(format)) continue;
    if (model == ColorModel::rgb || model == ColorModel::gray) formats.push_back(format);
  }
  return formats;
}

void fill(const ImageView& view, Content content, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (int p = 0; p < traits(view.desc.format).planes; ++p) {
    const FormatTraits& form = traits(view.desc.format);
    const bool deep = has_deep_samples(view.desc.format);
    const std::size_t columns = row_bytes(view.desc, p) / (deep ? 2 : 1);
    const auto rows = static_cast<std::size_t>(plane_rows(view.desc, p));
    const bool natural = content == Content::natural;
    const NaturalScene scene(natural ? columns : 0, natural ? rows : 0, p);
    for (std::size_t y = 0; y < rows; ++y) {
      std::uint8_t* row = view.row(p, static_cast<int>(y));
      for (std::size_t x = 0; x < columns; ++x) {
        const std::uint8_t level =
            natural ? scene.at(x, y, random()) : content_byte(content, x, y, p, random);
        if (!deep) {
          row[x] = level;
          continue;
        }
        const int word = deep_level(content, level, form.depth, random()) << form.shift;
        row[2 * x] = static_cast<std::uint8_t>(word & 255);
        row[2 * x + 1] = static_cast<std::uint8_t>(word >> 8);
      }
    }
  }
}

std::size_t count_differences(const ConstImageView& a, const ConstImageView& b) {
  std::size_t count = 0;
  for (int p = 0; p < traits(a.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(a.desc, p); ++y) {
      const std::uint8_t* ra = a.row(p, y);
      const std::uint8_t* rb = b.row(p, y);
      const std::size_t bytes = row_bytes(a.desc, p);
      for (std::size_t x = 0; x < bytes; ++x)
        count += ra[x] != rb[x] ? 1 : 0;
    }
  }
  return count;
}

int max_difference(const ConstImageView& a, const ConstImageView& b) {
  int most = 0;
  for (int p = 0; p < traits(a.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(a.desc, p); ++y) {
      const std::uint8_t* ra = a.row(p, y);
      const std::uint8_t* rb = b.row(p, y);
      const std::size_t bytes = row_bytes(a.desc, p);
      for (std::size_t x = 0; x < bytes; ++x) {
        most = std::max(most, std::abs(ra[x] - rb[x]));
      }
    }
  }
  return most;
}

std::vector<std::uint8_t> tight_copy(const ConstImageView& view) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(tight_bytes(view.desc));
  for (int p = 0; p < traits(view.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(view.desc, p); ++y) {
      const std::uint8_t* row = view.row(p, y);
      bytes.insert(bytes.end(), row, row + row_bytes(view.desc, p));
    }
  }
  return bytes;
}

}  // namespace equalux::test
