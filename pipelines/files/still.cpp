#include "pipelines/files/still.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <equalux/error.h>

#include "pipelines/files/file_names.h"
#include "pipelines/files/float_files.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/files/pnm.h"
#include "pipelines/picture/alpha_plane.h"
#include "pipelines/picture/convert_rgb.h"

namespace equalux {
namespace {

std::vector<StillCodec>& codecs() {
  static std::vector<StillCodec> all;
  return all;
}

bool is_pnm(const std::string& extension) {
  return extension == "ppm" || extension == "pgm" || extension == "pnm";
}

bool is_tiff(const std::string& extension) {
  return extension == "tif" || extension == "tiff";
}

const StillCodec* codec_for(const std::string& extension) {
  for (const StillCodec& codec : codecs()) {
    if (codec.knows(extension)) return &codec;
  }
  return nullptr;
}

Error unknown_extension(ExitCode code, const std::string& path) {
  const std::string others = codecs().empty() ? "" : ", .png, .jpg or another image format";
  return {code, path + ": image format '" + extension_of(path) +
                    "' is not known; must be .ppm, .pgm, .pnm" + others};
}

/// Converts to a format that codecs take: gray, bgr, bgra. Null where `image` has one of them
/// already.
Image for_codec(const ConstImageView& image, const std::string& path) {
  const FormatTraits& form = traits(image.desc.format);
  if (form.model != ColorModel::gray && form.model != ColorModel::rgb) {
    throw Error(ExitCode::usage,
                path + ": stills are gray or RGB, not " + std::string(form.name) + " images");
  }
  const bool alpha = has_alpha(image.desc.format);
  ImageDesc desc = image.desc;
  if (form.model == ColorModel::rgb) {
    const bool deep = has_deep_samples(desc.format);
    desc.format =
        alpha ? (deep ? PixelFormat::bgra64_le : PixelFormat::bgra) : bgr_of_depth(desc.format);
  }
  if (desc.format == image.desc.format) return {};
  Image converted(desc);
  convert_to_rgb(image, converted.view());
  return converted;
}

/// Rethrows a codec's error with the requested file's name in place of the partial one.
[[noreturn]] void rethrow_about(const Error& error, const std::string& partial,
                                const std::string& final_path) {
  std::string message = error.what();
  if (const std::size_t at = message.find(partial); at != std::string::npos) {
    message.replace(at, partial.size(), final_path);
  }
  throw Error(error.code(), message);
}

std::string write_with(const StillCodec& codec, const std::string& path,
                       const ConstImageView& image, const StillNotes& notes,
                       const StillOptions& options) {
  const std::string partial = partial_path(path);
  const OutputLock lock(lock_path(path), path);  // Codecs write partial files of their own.
  std::error_code ignored;
  std::string lost;
  try {
    lost = codec.write(partial, image, notes, options);
  } catch (const Error& error) {
    std::filesystem::remove(partial, ignored);
    rethrow_about(error, partial, path);
  }
  std::error_code renamed;
  std::filesystem::rename(partial, path, renamed);
  if (!renamed) return lost;
  std::filesystem::remove(partial, ignored);
  throw Error(ExitCode::cannot_create, path + ": cannot be created: " + renamed.message());
}

constexpr std::size_t kMostInTransit = 256;

}  // namespace

void NotesInTransit::put(std::uint64_t index, StillNotes notes) {
  const std::lock_guard lock(mutex_);
  notes_.insert_or_assign(index, std::move(notes));
  if (notes_.size() > kMostInTransit) notes_.erase(notes_.begin());
}

StillNotes NotesInTransit::take(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = notes_.extract(index);
  return found.empty() ? StillNotes{} : std::move(found.mapped());
}

void set_still_codec(const StillCodec& codec) {
  codecs().push_back(codec);
}

bool knows_still(const std::string& path) {
  const std::string extension = extension_of(path);
  return is_pnm(extension) || codec_for(extension) != nullptr;
}

bool writes_still(const std::string& path) {
  const std::string extension = extension_of(path);
  return extension == "npy" || is_tiff(extension) || knows_still(path);
}

bool still_holds_alpha(const std::string& path) {
  const std::string extension = extension_of(path);
  const StillCodec* codec = is_pnm(extension) ? nullptr : codec_for(extension);
  return codec != nullptr && codec->holds_alpha != nullptr && codec->holds_alpha(extension);
}

void check_still_format(const std::string& path, PixelFormat format) {
  const std::string extension = extension_of(path);
  const std::string name(to_string(format));
  const bool floats = traits(format).model == ColorModel::real;
  if (floats && extension != "npy" && !is_tiff(extension)) {
    throw Error(ExitCode::usage, path + ": the result is " + name +
                                     ", floats that no picture holds; name it .npy or .tif");
  }
  if (!floats && extension == "npy") {
    throw Error(ExitCode::usage, path + ": .npy holds results of floats, as of eigenvalues, not " +
                                     name + "; name it .ppm or .png");
  }
  const StillCodec* codec = codec_for(extension);
  const bool holds_deep =
      codec != nullptr && codec->holds_deep != nullptr && codec->holds_deep(extension);
  if (has_deep_samples(format) && !is_pnm(extension) && !holds_deep) {
    throw Error(ExitCode::usage, path + ": ." + extension +
                                     " holds 8 bits a sample, the frames are " + name +
                                     "; name it .png, .tif or .ppm");
  }
}

Image read_still(const std::string& path) {
  StillNotes notes;
  return read_still(path, notes);
}

Image read_still(const std::string& path, StillNotes& notes) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error(ExitCode::no_input, path + ": no such file; must be an image");
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ExitCode::bad_input, path + ": is a folder; must be an image");
  }
  notes = {};
  const std::string extension = extension_of(path);
  if (is_pnm(extension)) return read_pnm(path);
  const StillCodec* codec = codec_for(extension);
  if (codec == nullptr) throw unknown_extension(ExitCode::bad_input, path);
  return codec->read(path, notes);
}

void write_still(const std::string& path, const ConstImageView& image) {
  (void)write_still(path, image, StillNotes{}, StillOptions{});
}

std::string write_still(const std::string& path, const ConstImageView& image,
                        const StillNotes& notes, const StillOptions& options) {
  const std::string extension = extension_of(path);
  if (writes_still(path)) check_still_format(path, image.desc.format);
  if (extension == "npy") {
    write_npy(path, image);
    return contents_of(notes);
  }
  if (is_tiff(extension) && traits(image.desc.format).model == ColorModel::real) {
    write_float_tiff(path, image);
    return contents_of(notes);
  }
  if (is_pnm(extension)) {
    write_pnm(path, image);
    return contents_of(notes);
  }
  const StillCodec* codec = codec_for(extension);
  if (codec == nullptr) throw unknown_extension(ExitCode::usage, path);
  const Image converted = for_codec(image, path);
  return write_with(*codec, path, converted.empty() ? image : converted.view(), notes, options);
}

std::string contents_of(const StillNotes& notes) {
  std::string text = notes.unread;
  const auto add = [&](bool there, const char* name) {
    if (there) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(!notes.exif.empty(), "EXIF");
  add(!notes.xmp.empty(), "XMP");
  add(!notes.iptc.empty(), "IPTC");
  add(!notes.icc.empty(), "ICC profile");
  add(notes.dots_per_inch_x > 0, "density");
  return text;
}

}  // namespace equalux
