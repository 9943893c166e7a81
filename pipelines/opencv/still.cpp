#include "pipelines/opencv/still.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/error.h>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/files/still.h"
#include "pipelines/opencv/still_check.h"
#include "pipelines/opencv/still_formats.h"
#include "pipelines/opencv/still_notes.h"
#include "pipelines/opencv/whole_file.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux {
namespace {

static_assert(std::endian::native == std::endian::little, "OpenCV's words are copied as ours");

bool knows(const std::string& extension) {
  return still_format_of(extension) != nullptr && cv::haveImageWriter("x." + extension);
}

cv::Mat decode(const std::string& path, const std::vector<std::uint8_t>& bytes,
               std::uint32_t pages) {
  cv::Mat decoded;
  try {
    decoded = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception& e) {
    logger().debug("{}: {}", path, e.what());
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::bad_input, path + ": needs more memory than there is");
  }
  const bool webp = bytes.size() > 12 && std::equal(bytes.begin() + 8, bytes.begin() + 12, "WEBP");
  if (decoded.empty() && webp && pages > 1)
    throw Error(ExitCode::bad_input,
                path + ": is an animated WebP of " + std::to_string(pages) +
                    " frames, which is not read; make stills of it first, as ImageMagick's "
                    "convert IN.webp still-%05d.png does: run takes them as \"still-%05d.png\"");
  if (decoded.empty())
    throw Error(ExitCode::bad_input,
                path + ": cannot be decoded; it is damaged or of a kind that OpenCV does not read");
  return decoded;
}

PixelFormat pixel_format_of(const std::string& path, const cv::Mat& decoded) {
  const bool deep = decoded.depth() == CV_16U;
  if (decoded.depth() != CV_8U && !deep)
    throw Error(ExitCode::bad_input, path +
                                         ": has samples of a kind that is not read; 8 or 16 "
                                         "bits without sign are");
  switch (decoded.channels()) {
    case 1:
      return deep ? PixelFormat::gray16_le : PixelFormat::gray8;
    case 3:
      return deep ? PixelFormat::bgr48_le : PixelFormat::bgr;
    case 4:
      return deep ? PixelFormat::bgra64_le : PixelFormat::bgra;
    default:
      throw Error(ExitCode::bad_input, path + ": has " + std::to_string(decoded.channels()) +
                                           " channels; 1, 3 or 4 are possible");
  }
}

/// Turns the picture upright; `orientation` as in EXIF.
cv::Mat turned(const cv::Mat& stored, int orientation) {
  enum Flip { upside_down = 0, mirrored = 1, both = -1 };
  const auto flipped = [](const cv::Mat& from, Flip how) {
    cv::Mat to;
    cv::flip(from, to, how);
    return to;
  };
  if (orientation < 5) {
    if (orientation == 2) return flipped(stored, mirrored);
    if (orientation == 3) return flipped(stored, both);
    if (orientation == 4) return flipped(stored, upside_down);
    return stored;
  }
  cv::Mat sides;
  cv::transpose(stored, sides);
  if (orientation == 6) return flipped(sides, mirrored);
  if (orientation == 7) return flipped(sides, both);
  if (orientation == 8) return flipped(sides, upside_down);
  return sides;
}

Image read(const std::string& path, StillNotes& notes) {
  std::vector<std::uint8_t> file = read_whole_file(path);
  StillFacts facts = look_through(file);
  notes = read_notes(path, file, facts);
  leave_pixels_as_stored(file);
  const std::vector<std::uint8_t> bytes = check_still(path, std::move(file));
  const cv::Mat decoded = turned(decode(path, bytes, facts.pages), facts.orientation);

  ImageDesc desc;
  desc.format = pixel_format_of(path, decoded);
  desc.width = decoded.cols;
  desc.height = decoded.rows;
  Image image(desc);
  const ImageView view = image.view();
  for (int y = 0; y < desc.height; ++y)
    std::copy_n(decoded.ptr(y), row_bytes(desc, 0), view.row(0, y));
  return image;
}

/// Copies rows with negative strides, which OpenCV's matrices do not have.
cv::Mat to_matrix(const ConstImageView& image, int type) {
  const ImageDesc& desc = image.desc;
  cv::Mat matrix(desc.height, desc.width, type);
  for (int y = 0; y < desc.height; ++y)
    std::copy_n(image.row(0, y), row_bytes(desc, 0), matrix.ptr(y));
  return matrix;
}

int matrix_type(const std::string& path, PixelFormat format) {
  switch (format) {
    case PixelFormat::gray8:
      return CV_8UC1;
    case PixelFormat::bgr:
      return CV_8UC3;
    case PixelFormat::bgra:
      return CV_8UC4;
    case PixelFormat::gray16_le:
      return CV_16UC1;
    case PixelFormat::bgr48_le:
      return CV_16UC3;
    case PixelFormat::bgra64_le:
      return CV_16UC4;
    default:
      throw Error(ExitCode::usage, path + ": frames of " + std::string(to_string(format)) +
                                       " cannot be written as a still; gray, bgr, bgra can");
  }
}

/// Returns parameters of OpenCV's encoder; none = its defaults: JPEG at 95, lossless WebP.
std::vector<int> parameters_for(std::string_view format, const StillNotes& notes,
                                const StillOptions& options) {
  if (format == "TIFF" && notes.dots_per_inch_x > 0 && notes.dots_per_inch_y > 0) {
    constexpr int kInches = 2;  // RESUNIT_INCH
    return {cv::IMWRITE_TIFF_RESUNIT, kInches,
            cv::IMWRITE_TIFF_XDPI,    static_cast<int>(std::lround(notes.dots_per_inch_x)),
            cv::IMWRITE_TIFF_YDPI,    static_cast<int>(std::lround(notes.dots_per_inch_y))};
  }
  if (!options.quality) return {};
  if (format == "JPEG") return {cv::IMWRITE_JPEG_QUALITY, *options.quality};
  if (format == "WebP") return {cv::IMWRITE_WEBP_QUALITY, *options.quality};
  return {};
}

std::string write(const std::string& path, const ConstImageView& image, const StillNotes& notes,
                  const StillOptions& options) {
  const std::string extension = extension_of(path);
  const StillFormat* format = still_format_of(extension);
  if (format == nullptr)
    throw Error(ExitCode::usage, path + ": '" + extension + "' is no still format known here");
  const ImageDesc& desc = image.desc;
  if (std::max(desc.width, desc.height) > format->longest_side)
    throw Error(ExitCode::cannot_create,
                path + ": " + std::string(format->name) + " holds at most " +
                    std::to_string(format->longest_side) + " pixels a side, not " +
                    size_text(desc) + "; use .png or .tif");

  const cv::Mat matrix = to_matrix(image, matrix_type(path, desc.format));
  std::vector<std::uint8_t> bytes;
  bool encoded = false;
  try {
    encoded =
        cv::imencode("." + extension, matrix, bytes, parameters_for(format->name, notes, options));
  } catch (const cv::Exception& e) {
    logger().debug("{}: {}", path, e.what());
  }
  if (!encoded || bytes.empty())
    throw Error(ExitCode::cannot_create, path + ": OpenCV could not encode it as " +
                                             std::string(format->name) + "; try .png");
  std::string lost;
  add_notes(path, format->name, desc, notes, bytes, lost);
  PartialFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
  return lost;
}

}  // namespace

StillCodec opencv_still_codec() {
  // Silences OpenCV, whose warnings repeat, less clearly, what our errors say.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  StillCodec codec = still_codec_of_formats();
  codec.knows = knows;
  codec.read = read;
  codec.write = write;
  return codec;
}

bool decode_jpeg(std::span<const std::uint8_t> jpeg, const ImageView& bgr) {
  const cv::Mat bytes(1, static_cast<int>(jpeg.size()), CV_8UC1,
                      const_cast<std::uint8_t*>(jpeg.data()));
  cv::Mat picture(bgr.desc.height, bgr.desc.width, CV_8UC3, bgr.data[0],
                  static_cast<std::size_t>(bgr.stride[0]));
  try {
    const cv::Mat decoded =
        cv::imdecode(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION, &picture);
    // A picture of another size is in other memory.
    return !decoded.empty() && decoded.data == bgr.data[0];
  } catch (const cv::Exception& e) {
    logger().debug("a camera's JPEG: {}", e.what());
    return false;
  }
}

void register_opencv_stills() {
  set_still_codec(opencv_still_codec());
}

}  // namespace equalux
