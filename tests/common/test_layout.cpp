#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "src/format/layout.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

/// Every format with its name as the trace of what fails.
template <typename Use>
void for_each_format(const Use& use) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    SCOPED_TRACE(std::string(to_string(format)));
    use(format);
  }
}

/// Components beside alpha; gray has one, and a pair of float planes no names for its two.
int components_of(PixelFormat format) {
  const ColorModel model = traits(format).model;
  return model == ColorModel::rgb || model == ColorModel::yuv ? 3 : traits(format).planes;
}

TEST(Layout, SamplesAndAlphaAreAllOfAFramesBytes) {
  for_each_format([](PixelFormat format) {
    Image image({format, 6, 4});
    const ImageView view = image.view();
    const int bytes = sample_bytes(format);
    std::set<const std::uint8_t*> seen;
    const auto see = [&](const std::uint8_t* sample) {
      for (int b = 0; b < bytes; ++b)
        EXPECT_TRUE(seen.insert(sample + b).second);
    };
    for (int c = 0; c < components_of(format); ++c) {
      const Samples<std::uint8_t> samples = samples_of(view, c);
      for (int y = 0; y < samples.rows; ++y) {
        for (int x = 0; x < samples.columns; ++x)
          see(samples.at(x, y));
      }
    }
    const RgbLayout at = rgb_layout(format);
    for (int i = 0; at.alpha >= 0 && i < 6 * 4; ++i)
      see(view.row(0, i / 6) + i % 6 * at.step + at.alpha);
    EXPECT_EQ(seen.size(), tight_bytes(view.desc));
  });
}

TEST(Layout, APartHasTheSamplesOfTheWhole) {
  for_each_format([](PixelFormat format) {
    const FormatTraits& t = traits(format);
    const test::PaddedImage image({format, 15, 11}, 5, true);
    const ImageView part = part_of(image.view(), 4, 6, 9, 5);
    EXPECT_EQ(part.desc, (ImageDesc{format, 9, 5}));
    for (int c = 0; c < components_of(format); ++c) {
      const int x = c > 0 ? 4 >> t.chroma_shift_x : 4;
      const int y = c > 0 ? 6 >> t.chroma_shift_y : 6;
      EXPECT_EQ(samples_of(part, c).at(1, 2), samples_of(image.view(), c).at(x + 1, y + 2));
    }
  });
}

TEST(Layout, FormatsOfAnotherColourOrderAreOne) {
  using enum PixelFormat;
  for (const auto& [first, formats] :
       {std::pair{rgb, std::set{rgb, bgr}}, std::pair{rgbx, std::set{rgbx, bgrx, rgba, bgra}},
        std::pair{xrgb, std::set{xrgb, xbgr, argb, abgr}},
        std::pair{rgb48_le, std::set{rgb48_le, bgr48_le}},
        std::pair{rgba64_le, std::set{rgba64_le, bgra64_le}},
        std::pair{argb64_le, std::set{argb64_le, abgr64_le}}}) {
    for (const PixelFormat format : formats)
      EXPECT_EQ(any_colour_order(format), first) << to_string(format);
  }
  for_each_format([](PixelFormat format) {
    if (traits(format).model != ColorModel::rgb) {
      EXPECT_EQ(any_colour_order(format), format);
    }
  });
}

TEST(Layout, ARowOfChromaBelongsToTheLumaThatItCovers) {
  for (int height = 1; height < 30; ++height) {
    for (const bool interlaced : {false, true}) {
      SCOPED_TRACE(std::to_string(height) + (interlaced ? " interlaced" : ""));
      const int rows = (height + 1) / 2;
      std::set<int> covered;
      for (int row = 0; row < rows; ++row) {
        const LumaRows luma = luma_rows_of(Sampling::s420, row, height, interlaced);
        for (const int y : {luma.first, luma.second}) {
          EXPECT_EQ(chroma_row_of(y, 1, rows, interlaced), row) << y;
          covered.insert(y);
        }
      }
      EXPECT_EQ(covered.size(), static_cast<std::size_t>(height));
      EXPECT_EQ(*covered.rbegin(), height - 1);
    }
  }
}

}  // namespace
}  // namespace equalux
