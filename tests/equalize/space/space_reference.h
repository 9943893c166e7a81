#pragma once

#include <random>

#include <equalux/curve.h>
#include <equalux/image.h>
#include <equalux/params.h>
#include <gtest/gtest.h>

#include "tests/support/media/test_images.h"

/// Equalization of luma and lightness of packed RGB and gray, pixel by pixel.
namespace equalux::test {

/// Writes the frame, equalized in params.space, to `out`, whose alpha it copies. Luma straight from
/// its definition; lightness by the functions of space.h that the backends share.
void reference_in_space(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out);

/// A curve that never falls, by steps of any size, steep or flat as a whole.
[[nodiscard]] ToneCurve random_curve(Space space, std::mt19937& random);

/// Expects a chain of `params` to make of a frame what reference_in_space() makes of it, into
/// another one of rows with so much padding, upside down where `negative`, and in place.
template <typename Chain>
void expect_in_space(Chain& chain, const EqualizeParams& params, const PaddedImage& in, int padding,
                     bool negative) {
  const ImageDesc desc = in.view().desc;
  SCOPED_TRACE(describe(desc, Content::noise));
  const PaddedImage out(desc, padding, negative, (padding + 3) % 5);
  const PaddedImage expected(desc);
  fill(out.view(), Content::noise, 99);
  reference_in_space(params, in.view(), expected.view());
  chain.configure(desc);
  chain.process(in.view(), out.view(), {});
  EXPECT_EQ(count_differences(expected.view(), out.view()), 0U);
  EXPECT_TRUE(out.padding_intact());
  chain.process(in.view(), in.view(), {});
  EXPECT_EQ(count_differences(expected.view(), in.view()), 0U) << "in place";
  EXPECT_TRUE(in.padding_intact());
}

}  // namespace equalux::test
