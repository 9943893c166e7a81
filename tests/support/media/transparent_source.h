#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <equalux/image.h>

#include "pipelines/core/source.h"
#include "pipelines/picture/alpha_plane.h"
#include "tests/support/media/test_images.h"

/// Frames with transparency beside them, as decoders lend them.
namespace equalux::test {

/// Noise of YCbCr, 40 ms apart, called "clip"; alpha lies bottom up in padded rows. `opaque` gives
/// the same pictures without it.
class TransparentSource final : public Source {
 public:
  TransparentSource(const ImageDesc& desc, int frames, bool opaque = false)
      : desc_(desc), frames_(frames), opaque_(opaque) {}

  /// The tight bytes of a frame's alpha.
  static std::vector<std::uint8_t> alpha_of(const ImageDesc& desc, int number) {
    return tight_copy(alpha_image(desc, number).view());
  }

  StreamInfo open(const FormatPredicate& /*accepts*/) override {
    StreamInfo info;
    info.name = "clip";
    info.desc = desc_;
    info.frame_rate = {25, 1};
    info.transparent = !opaque_;
    info.orientation = orientation;
    return info;
  }
  bool lends_buffers() const override { return true; }
  bool read(Frame& frame) override {
    if (next_ == frames_) return false;
    auto* lent = new Lent{PaddedImage(desc_, 7), alpha_image(desc_, next_)};
    fill(lent->picture.view(), Content::noise, static_cast<std::uint32_t>(next_ + 1));
    frame.image = lent->picture.view();
    if (!opaque_) frame.alpha = lent->alpha.view();
    frame.lease = lent;
    frame.release = [](void* lease) { delete static_cast<Lent*>(lease); };
    frame.pts_ns = std::int64_t{next_++} * 40'000'000;
    frame.duration_ns = 40'000'000;
    return true;
  }

  Orientation orientation = Orientation::upright;

 private:
  struct Lent {
    PaddedImage picture;
    PaddedImage alpha;
  };
  static PaddedImage alpha_image(const ImageDesc& desc, int number) {
    PaddedImage image(alpha_desc(desc), 3, true);
    fill(image.view(), Content::noise, static_cast<std::uint32_t>(100 + number));
    return image;
  }

  ImageDesc desc_;
  int frames_;
  bool opaque_;
  int next_ = 0;
};

}  // namespace equalux::test
