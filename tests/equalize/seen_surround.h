#pragma once

#include <cstdint>

#include <equalux/image.h>

#include "src/cpu/equalize/surround_tracker.h"
#include "src/equalize/deep_curve.h"
#include "src/equalize/surround.h"
#include "tests/support/media/surround_frames.h"
#include "tests/support/media/test_images.h"

/// What the tracker of surrounds makes of whole frames.
namespace equalux::test {

inline constexpr std::int64_t kFrameNs = 33'333'333;

inline YuvWeights weights_of(const ImageDesc& desc) {
  if (has_deep_samples(desc.format)) return deep_samples(desc).weights;
  if (traits(desc.format).model == ColorModel::yuv) return yuv_weights(desc.matrix, desc.range);
  return {0, 255, 0, 0, 0, 0};
}

/// A tracker that sees whole frames.
class Seen {
 public:
  explicit Seen(const ImageDesc& desc) : desc_(desc), weights_(weights_of(desc)) {
    tracker_.configure(desc.width, desc.height, weights_.luma_max, traits(desc.format).depth);
  }

  void see(const ConstImageView& frame) {
    tracker_.follow(pixel_values(frame, weights_, false), kFrameNs * frame_++);
  }
  [[nodiscard]] bool excludes(int x, int y, int v) const {
    const int side = tracker_.grid().side;
    return v <= surround::dark_level(weights_.luma_max) && tracker_.marks(y / side)[x / side] != 0;
  }
  /// Share of a frame's pixels that do not count.
  [[nodiscard]] double share(const ConstImageView& frame) const {
    const PixelValues values = pixel_values(frame, weights_, false);
    int excluded = 0;
    for (int y = 0; y < desc_.height; ++y) {
      for (int x = 0; x < desc_.width; ++x)
        excluded += excludes(x, y, values(x, y)) ? 1 : 0;
    }
    return excluded / static_cast<double>(desc_.width * desc_.height);
  }
  [[nodiscard]] bool any() const { return tracker_.marks_any(); }

 private:
  ImageDesc desc_;
  YuvWeights weights_;
  SurroundTracker tracker_;
  std::int64_t frame_ = 0;
};

/// A bright picture with texture, as natural as content gets here.
inline Image picture(const ImageDesc& desc, std::uint32_t seed) {
  Image image(desc);
  fill(image.view(), Content::natural, seed);
  if (traits(desc.format).model == ColorModel::yuv) return image;
  for (int y = 0; y < desc.height; ++y) {
    std::uint8_t* row = image.view().row(0, y);
    for (std::size_t i = 0; i < row_bytes(desc, 0); ++i)
      row[i] = static_cast<std::uint8_t>(30 + row[i] * 3 / 4);
  }
  return image;
}

inline double closed_share(Opening opening, const ImageDesc& desc) {
  int closed = 0;
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x)
      closed += is_open(opening, desc.width, desc.height, x, y) ? 0 : 1;
  }
  return closed / static_cast<double>(desc.width * desc.height);
}

}  // namespace equalux::test
