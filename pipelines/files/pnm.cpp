#include "pipelines/files/pnm.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <fcntl.h>

#include "pipelines/files/descriptor_io.h"
#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/picture/convert_rgb.h"
#include "src/common/size_text.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

// Includes comments; real headers have less than a hundred characters.
constexpr std::size_t kLongestHeader = 4096;
constexpr int kFullScale = 255;
constexpr int kDeepScale = 65535;

class PnmReader {
 public:
  explicit PnmReader(const std::string& path) : path_(path), input_(open(path), path, never_) {}

  Image read() {
    ImageDesc desc;
    desc.range = ColorRange::full;
    desc.format = read_magic();
    desc.width = read_number("width");
    desc.height = read_number("height");
    const int maximum = read_number("maximum");
    check(desc, maximum);
    if (maximum > kFullScale) {
      const bool gray = desc.format == PixelFormat::gray8;
      desc.format = gray ? PixelFormat::gray16_le : PixelFormat::rgb48_le;
    }
    check_size(tight_bytes(desc));
    Image image(desc);
    for (int y = 0; y < desc.height; ++y) {
      read_row(image.view().row(0, y), row_bytes(desc, 0), y, desc.height, maximum);
    }
    return image;
  }

 private:
  static Descriptor open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) return {descriptor, true};
    throw Error(ExitCode::no_input, path + ": cannot be opened: " + system_error_text(errno) +
                                        "; must be a readable image");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::bad_input, path_ + ": " + what);
  }

  char next() {
    char c = 0;
    if (++header_bytes_ > kLongestHeader || input_.read(&c, 1) != 1) {
      refuse("is no PNM image: its header does not end");
    }
    return c;
  }

  PixelFormat read_magic() {
    const char p = next();
    const char kind = next();
    if (p == 'P' && kind == '5') return PixelFormat::gray8;
    if (p == 'P' && kind == '6') return PixelFormat::rgb;
    refuse("is no PNM image of kind P5 or P6; convert it to binary PGM or PPM");
  }

  int read_number(const std::string& which) {
    char c = next();
    while (c == '#' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (c == '#') {
        while (c != '\n')
          c = next();
      }
      c = next();
    }
    int value = 0;
    bool found = false;
    for (; c >= '0' && c <= '9'; c = next()) {
      found = true;
      if (value > std::numeric_limits<int>::max() / 10 - 1) refuse("PNM " + which + " is absurd");
      value = value * 10 + (c - '0');
    }
    if (!found) refuse("PNM " + which + " is no number");
    return value;  // The one white space after a number has been read.
  }

  void check(const ImageDesc& desc, int maximum) const {
    if (maximum < 1 || maximum > kDeepScale) {
      refuse("PNM maximum is " + std::to_string(maximum) + "; must be 1 to 65535");
    }
    if (desc.width < 1 || desc.height < 1 || desc.width > kMaxSide || desc.height > kMaxSide ||
        std::int64_t{desc.width} * desc.height > kMaxPixels) {
      refuse("PNM image of " + size_text(desc) +
             "; sides must be 1 to 65535 and pixels 2^31 at most");
    }
  }

  /// Checks the file's size before memory for the declared size is allocated.
  void check_size(std::size_t needed) const {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path_, error);
    if (error || bytes >= header_bytes_ + needed) return;  // A pipe has no size.
    refuse("holds " + std::to_string(bytes - header_bytes_) + " of its " + std::to_string(needed) +
           " bytes of samples");
  }

  void read_row(std::uint8_t* row, std::size_t bytes, int y, int rows, int maximum) {
    if (input_.read(row, bytes) != bytes) {
      refuse("ends in row " + std::to_string(y) + " of " + std::to_string(rows));
    }
    if (maximum > kFullScale) {
      widen(row, bytes, maximum);
      return;
    }
    if (maximum == kFullScale) return;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (row[i] > maximum) refuse("has a sample above its maximum " + std::to_string(maximum));
      row[i] = static_cast<std::uint8_t>((row[i] * 2 * kFullScale + maximum) / (2 * maximum));
    }
  }

  /// Converts samples of two bytes, the high one first, to our byte order.
  void widen(std::uint8_t* row, std::size_t bytes, std::int64_t maximum) const {
    for (std::size_t i = 0; i < bytes; i += 2) {
      const std::int64_t sample = row[i] * 256 + row[i + 1];
      if (sample > maximum) {
        refuse("has a sample above its maximum " + std::to_string(maximum));
      }
      const std::int64_t scaled = (sample * 2 * kDeepScale + maximum) / (2 * maximum);
      row[i] = static_cast<std::uint8_t>(scaled & 255);
      row[i + 1] = static_cast<std::uint8_t>(scaled >> 8);
    }
  }

  std::string path_;
  Wakeup never_;
  DescriptorReader input_;
  std::size_t header_bytes_ = 0;
};

/// Returns the format of the file: gray or rgb, of 8 or 16 bits.
PixelFormat format_in_file(const std::string& path, PixelFormat format) {
  const ColorModel model = traits(format).model;
  if (model != ColorModel::gray && model != ColorModel::rgb) {
    throw Error(ExitCode::usage, path + ": PNM holds gray and RGB, not " +
                                     std::string(to_string(format)) + " images");
  }
  if (model == ColorModel::rgb && extension_of(path) == "pgm") {
    throw Error(ExitCode::usage, path + ": .pgm holds gray images only; name it .ppm");
  }
  const bool gray = model == ColorModel::gray && extension_of(path) != "ppm";
  if (has_deep_samples(format)) return gray ? PixelFormat::gray16_le : PixelFormat::rgb48_le;
  return gray ? PixelFormat::gray8 : PixelFormat::rgb;
}

}  // namespace

Image read_pnm(const std::string& path) {
  return PnmReader(path).read();
}

void write_pnm(const std::string& path, const ConstImageView& image) {
  ImageDesc desc = image.desc;
  desc.format = format_in_file(path, desc.format);
  Image pixels(desc);
  if (desc.format == image.desc.format) {
    copy_image(image, pixels.view());
  } else {
    convert_to_rgb(image, pixels.view());
  }
  const bool gray = traits(desc.format).model == ColorModel::gray;
  const bool deep = has_deep_samples(desc.format);
  const std::string header = (gray ? "P5\n" : "P6\n") + std::to_string(desc.width) + " " +
                             std::to_string(desc.height) + (deep ? "\n65535\n" : "\n255\n");
  std::vector<std::uint8_t> bytes(header.size() + tight_bytes(desc));
  std::memcpy(bytes.data(), header.data(), header.size());
  std::uint8_t* out = bytes.data() + header.size();
  const std::size_t row = row_bytes(desc, 0);
  for (int y = 0; y < desc.height; ++y, out += row) {
    std::memcpy(out, pixels.view().row(0, y), row);
  }

  if (deep) {
    // The format stores the high byte first.
    for (std::size_t i = header.size(); i < bytes.size(); i += 2)
      std::swap(bytes[i], bytes[i + 1]);
  }

  PartialFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace equalux
