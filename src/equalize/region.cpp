#include "src/equalize/region.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "src/common/size_text.h"
#include "src/format/pixel_values.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

constexpr std::string_view kForm =
    ", must be x,y,width,height in pixels or, with a %, in per cent, or the name of a .pgm or .png "
    "file";

MaskReader mask_reader = nullptr;

/// Length in pixels or in per cent of a side.
struct Length {
  double number = 0;
  bool percent = false;

  [[nodiscard]] double pixels(int side) const { return percent ? number * side / 100 : number; }
};

using Rectangle = std::array<Length, 4>;  // x, y, width, height

/// Parses a rectangle; the numbers are not checked.
std::optional<Rectangle> rectangle_from(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  Rectangle rectangle;
  if (parts.size() != rectangle.size()) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Length& length = rectangle[i];
    length.percent = parts[i].ends_with('%');
    if (length.percent) {
      const auto number = number_from<double>(parts[i].substr(0, parts[i].size() - 1));
      if (!number || !std::isfinite(*number)) return std::nullopt;
      length.number = *number;
    } else {
      const auto number = number_from<int>(parts[i]);
      if (!number) return std::nullopt;
      length.number = *number;
    }
  }
  return rectangle;
}

/// Whole pixels from `begin` on, cut to the frame.
Columns columns_of(const Length& begin, const Length& size, int side) {
  const auto whole = [side](double pixels) {
    return static_cast<std::int32_t>(std::lround(std::min<double>(pixels, side)));
  };
  const double first = begin.pixels(side);
  return {whole(first), whole(first + size.pixels(side))};
}

bool names_file(std::string_view region, std::string_view extension) {
  if (region.size() <= extension.size()) return false;
  const std::string_view end = region.substr(region.size() - extension.size());
  return std::equal(end.begin(), end.end(), extension.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

bool is_mask(std::string_view region) {
  return names_file(region, ".pgm") || names_file(region, ".png");
}

/// Mask in a file: a binary PGM of 8 bits.
class MaskFile {
 public:
  explicit MaskFile(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      throw Error(ExitCode::no_input,
                  "region mask " + path + " cannot be opened, must be a readable file");
    }
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) refuse("cannot be read");
  }

  Image read() {
    if (!bytes_.starts_with("P5")) refuse("is no binary PGM");
    at_ = 2;
    ImageDesc desc{PixelFormat::gray8, number(), number()};
    const int maximum = number();
    ++at_;  // white space before the samples
    if (desc.width < 1 || desc.height < 1 || desc.width > kMaxSide || desc.height > kMaxSide ||
        maximum < 1 || maximum > 255) {
      refuse("is no PGM of 1 to 65535 pixels a side and 8 bits");
    }
    const auto width = static_cast<std::size_t>(desc.width);
    if (bytes_.size() < at_ ||
        (bytes_.size() - at_) / width < static_cast<std::size_t>(desc.height)) {
      refuse("ends before its last row");
    }
    Image image(desc);
    for (int y = 0; y < desc.height; ++y, at_ += width) {
      std::transform(bytes_.data() + at_, bytes_.data() + at_ + width, image.view().row(0, y),
                     [maximum](char c) {
                       const int level = static_cast<unsigned char>(c) * 255 / maximum;
                       return static_cast<std::uint8_t>(std::min(level, 255));
                     });
    }
    return image;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::bad_input, "region mask " + path_ + " " + what + ", must be a whole one");
  }

  int number() {
    constexpr std::string_view kBlanks = " \t\r\n\v\f";
    while (at_ < bytes_.size() &&
           (bytes_[at_] == '#' || kBlanks.find(bytes_[at_]) != std::string_view::npos)) {
      if (bytes_[at_] == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
      ++at_;
    }
    int value = 0;
    const auto [end, error] =
        std::from_chars(bytes_.data() + at_, bytes_.data() + bytes_.size(), value);
    if (error != std::errc{}) refuse("has a damaged header");
    at_ = static_cast<std::size_t>(end - bytes_.data());
    return value;
  }

  std::string path_;
  std::string bytes_;
  std::size_t at_ = 0;
};

Image read_mask(const std::string& path) {
  if (names_file(path, ".pgm")) return MaskFile(path).read();
  if (mask_reader == nullptr) {
    throw Error(ExitCode::unavailable,
                "region mask " + path + " cannot be read by this build, must be a .pgm file");
  }
  return mask_reader(path);
}

/// Adds the runs of a row for which inside(x) is false.
template <typename Inside>
void add_outside(int width, std::vector<Columns>& runs, const Inside& inside) {
  for (int x = 0; x < width; ++x) {
    if (inside(x)) continue;
    const int begin = x;
    while (x < width && !inside(x))
      ++x;
    runs.push_back({begin, x});
  }
}

}  // namespace

void set_mask_reader(MaskReader reader) {
  mask_reader = reader;
}

std::vector<std::string> region_violations(std::string_view region, const ImageDesc* desc) {
  if (region.empty() || is_mask(region)) return {};
  const std::string is = "region is " + std::string(region);
  const std::optional<Rectangle> rectangle = rectangle_from(region);
  if (!rectangle) return {"region is " + quoted(region) + std::string(kForm)};
  const auto& [x, y, width, height] = *rectangle;
  if (x.number < 0 || y.number < 0 || width.number <= 0 || height.number <= 0) {
    return {is + ", must have x and y of at least 0, and width and height above"};
  }
  if (desc == nullptr) return {};
  const Columns across = columns_of(x, width, desc->width);
  const Columns down = columns_of(y, height, desc->height);
  if (across.begin < across.end && down.begin < down.end) return {};
  return {is + ", must have a pixel within the frame's " + size_text(*desc)};
}

RegionOutside::RegionOutside(const std::string& region, const ImageDesc& desc) {
  if (region.empty()) return;
  throw_violations(region_violations(region, &desc));
  first_.reserve(static_cast<std::size_t>(desc.height) + 1);
  first_.push_back(0);
  if (const std::optional<Rectangle> rectangle = rectangle_from(region)) {
    const auto& [x, y, width, height] = *rectangle;
    const Columns across = columns_of(x, width, desc.width);
    const Columns down = columns_of(y, height, desc.height);
    for (int row = 0; row < desc.height; ++row) {
      const bool crosses = row >= down.begin && row < down.end;
      add_outside(desc.width, runs_, [&](int column) {
        return crosses && column >= across.begin && column < across.end;
      });
      first_.push_back(runs_.size());
    }
    return;
  }
  const Image mask = read_mask(region);
  if (mask.desc().width != desc.width || mask.desc().height != desc.height ||
      !has_byte_samples(mask.desc().format)) {
    throw Error(ExitCode::usage, "region mask " + region + " has " + size_text(mask.desc()) +
                                     " pixels of " + std::string(to_string(mask.desc().format)) +
                                     ", must have the frame's " + size_text(desc) +
                                     " of 8 bits a sample");
  }
  const PixelValues values = pixel_values(mask.view(), {}, false);
  for (int row = 0; row < desc.height; ++row) {
    add_outside(desc.width, runs_, [&](int column) { return values(column, row) > 127; });
    first_.push_back(runs_.size());
  }
}

}  // namespace equalux
