#include <utility>

#include <nlohmann/json.hpp>

#include "pipelines/opencv/modules.h"
#include "pipelines/opencv/still.h"
#include "pipelines/opencv/still_formats.h"

/// Functions that call the stills' module, which the first call loads.
namespace equalux {
namespace {

const StillsFunctions& stills() {
  return functions_of<StillsFunctions>(kStillsModule);
}

Image read_by_module(const std::string& path, StillNotes& notes) {
  return stills().codec->read(path, notes);
}

std::string write_by_module(const std::string& path, const ConstImageView& image,
                            const StillNotes& notes, const StillOptions& options) {
  return stills().codec->write(path, image, notes, options);
}

bool known_to_module(const std::string& extension) {
  return still_format_of(extension) != nullptr && stills().codec->knows(extension);
}

}  // namespace

void register_opencv_stills() {
  StillCodec codec = still_codec_of_formats();
  codec.knows = known_to_module;
  codec.read = read_by_module;
  codec.write = write_by_module;
  set_still_codec(codec);
}

bool decode_jpeg(std::span<const std::uint8_t> jpeg, const ImageView& bgr) {
  return stills().decode_jpeg(jpeg, bgr);
}

void draw_caption(const ImageView& picture, int left, int baseline, int width, std::string text) {
  stills().draw_caption(picture, left, baseline, width, std::move(text));
}

std::vector<std::uint8_t> jpeg_of(const PicturePair& pair, const PictureForm& form) {
  return stills().jpeg_of(pair, form);
}

nlohmann::json tones_of(const PicturePair& pair) {
  return stills().tones_of(pair);
}

}  // namespace equalux
