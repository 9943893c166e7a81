#pragma once

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/test_images.h"

/// Filters on a GPU against the same on the CPU.
namespace equalux::test {

/// Where a filter's frames lie in device memory.
struct FilterLayout {
  DeviceLayout in;
  DeviceLayout out;
};

/// `frames` of one content through both filters: every byte of the results is the same, and the
/// input stays as it was. The content of the last is noise, so that something of a frame before it
/// that is left behind shows.
inline void expect_same_frames(Filter& cpu, Filter& cuda, const ImageDesc& desc, Content content,
                               const FilterLayout& layout = {}, int frames = 1,
                               FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
               std::to_string(desc.height) + " " + name_of(content) + " offsets " +
               std::to_string(layout.in.offset) + " " + std::to_string(layout.out.offset) +
               " padding " + std::to_string(layout.in.padding));
  const ImageDesc result = cpu.configure(desc);
  ASSERT_EQ(cuda.configure(desc), result);
  Image in(desc);
  Image expected(result);
  DeviceImage device_in(desc, layout.in);
  DeviceImage device_out(result, layout.out);
  for (int i = 0; i < frames; ++i) {
    fill(in.view(), i > 0 && i == frames - 1 ? Content::noise : content,
         7 + static_cast<std::uint32_t>(i));
    FrameContext context;
    context.field_order = order;
    cpu.submit(in.view(), expected.view(), context);
    device_in.upload(in.view());
    device_out.poison();
    cuda.submit(device_in.view(), device_out.view(), context);
    const Image got = device_out.download();
    ASSERT_EQ(count_differences(expected.view(), got.view()), 0U) << "frame " << i;
    ASSERT_EQ(count_differences(in.view(), device_in.download().view()), 0U) << "the input";
  }
}

/// Frames of changing content through one chain, twice out of place and once in place; every
/// byte is compared with the CPU backend.
template <typename Chain>
void expect_same_as_cpu(const EqualizeParams& params, const ImageDesc& desc, Content content,
                        const DeviceLayout& layout = {},
                        FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
               std::to_string(desc.height) + " " + name_of(content) + " offset " +
               std::to_string(layout.offset) + " padding " + std::to_string(layout.padding) +
               " bins " + std::to_string(params.bins) + " " +
               std::string(enum_name(params.scaler)));
  const auto cpu = make_cpu_filter(params, {1});
  cpu->configure(desc);
  Chain chain(params);
  chain.configure(desc);
  Image in(desc);
  Image expected(desc);
  DeviceImage device_in(desc, layout);
  DeviceImage device_out(desc, layout);
  for (std::uint32_t frame = 0; frame < 3; ++frame) {
    fill(in.view(), content, 7 + frame);
    FrameContext context;
    context.field_order = order;
    cpu->submit(in.view(), expected.view(), context);
    device_in.upload(in.view());
    device_out.poison();
    const bool in_place = frame == 2;
    DeviceImage& result = in_place ? device_in : device_out;
    chain.process(device_in.view(), result.view(), context);
    const Image got = result.download();
    ASSERT_EQ(count_differences(expected.view(), got.view()), 0U) << "frame " << frame;
  }
}

/// Tests of one chain, by expect_same_as_cpu().
template <typename Chain>
class DeviceChainTest : public DeviceTest {
 protected:
  static void expect_same_as_cpu(const EqualizeParams& params, const ImageDesc& desc,
                                 Content content, const DeviceLayout& layout = {},
                                 FieldOrder order = FieldOrder::progressive) {
    test::expect_same_as_cpu<Chain>(params, desc, content, layout, order);
  }
};

}  // namespace equalux::test
