#include "src/cli/stream/clip_reader.h"

#include <utility>

#include "pipelines/picture/convert_rgb.h"

namespace equalux::cli {
namespace {

constexpr std::size_t kPoolFrames = 4;

}  // namespace

ClipReader::ClipReader(std::string input, const InputOptions& options)
    : input_(std::move(input)), source_(make_source(input_, options)) {}

void ClipReader::open() {
  info_ = source_->open(converts_to_rgb);
  pool_ = std::make_unique<FramePool>(info_.desc, kPoolFrames, source_->lends_buffers());
  if (info_.desc.format != PixelFormat::bgr) {
    converted_ = Image({PixelFormat::bgr, info_.desc.width, info_.desc.height});
  }
}

bool ClipReader::next() {
  frame_.reset();
  frame_ = pool_->acquire();
  if (!source_->read(*frame_)) return false;
  if (!converted_.empty()) {
    convert_to_rgb(frame_->image, converted_.view(), frame_->field_order);
  }
  return true;
}

}  // namespace equalux::cli
