#pragma once

#include <memory>
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

/// What tests of clahe ask of it at every depth.
namespace equalux::test {

inline ClaheParams with_tiles(int x, int y) {
  ClaheParams params;
  params.tiles_x = x;
  params.tiles_y = y;
  return params;
}

inline std::string describe(const ClaheParams& params, const ImageDesc& desc, Content content) {
  return describe(desc, content) + " tiles " + std::to_string(params.tiles_x) + "," +
         std::to_string(params.tiles_y);
}

/// One frame through a new chain, compared with what `reference(in, out, interlaced)` makes of it;
/// then in place. `negative` strides go with fields.
template <typename Chain, typename Reference>
void expect_defined(Chain&& chain, const ImageDesc& desc, Content content, int padding,
                    bool negative, const Reference& reference) {
  const bool interlaced = negative;
  PaddedImage in(desc, padding, negative, padding % 7);
  PaddedImage out(desc, padding, negative, (padding + 3) % 5);
  Image expected(desc);
  fill(in.view(), content, 7);
  fill(out.view(), Content::noise, 99);
  reference(in.view(), expected.view(), interlaced);
  chain.configure(desc);
  FrameContext context;
  context.field_order = interlaced ? FieldOrder::top_first : FieldOrder::progressive;
  chain.process(in.view(), out.view(), context);
  EXPECT_EQ(count_differences(expected.view(), out.view()), 0U);
  EXPECT_TRUE(in.padding_intact());
  EXPECT_TRUE(out.padding_intact());
  chain.process(in.view(), in.view(), context);
  EXPECT_EQ(count_differences(expected.view(), in.view()), 0U) << "in place";
  EXPECT_TRUE(in.padding_intact());
}

/// One frame through a filter of its own.
inline Image filtered(const ClaheParams& params, const ConstImageView& in) {
  Image out(in.desc);
  const auto filter = make_cpu_filter(params, {1});
  filter->configure(in.desc);
  FrameContext context;
  filter->submit(in, out.view(), context);
  return out;
}

/// A stream that is saved and resumed again and again, and reset once, has the frames of one that
/// is left alone, and ends in the same state.
inline void expect_goes_on_from_saved_state(const ClaheParams& params, const ImageDesc& desc) {
  const auto whole = make_cpu_filter(params, {2});
  whole->configure(desc);
  std::unique_ptr<Filter> parts = make_cpu_filter(params, {1});
  parts->configure(desc);
  Image in(desc);
  Image expected(desc);
  Image got(desc);
  for (int i = 0; i < 60; ++i) {
    if (i % 17 == 9) {
      const std::string state = parts->save();
      parts = make_cpu_filter(params, {1});
      parts->configure(desc);
      parts->load(state);
    }
    if (i == 40) {
      whole->reset();
      parts->reset();
    }
    fill_moving(in.view(), i + 20);
    FrameContext context = moving_context(i);
    whole->submit(in.view(), expected.view(), context);
    parts->submit(in.view(), got.view(), context);
    ASSERT_EQ(count_differences(expected.view(), got.view()), 0U) << "frame " << i;
  }
  EXPECT_EQ(whole->save(), parts->save());
  EXPECT_GT(whole->save().size(), 1000U);
}

}  // namespace equalux::test
