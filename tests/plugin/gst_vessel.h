#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <equalux/hessian.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_elements.h"

/// What tests of the element equaluxvessel share.
namespace equalux::test {

/// The element's defaults, and options over them.
inline VesselParams with(std::initializer_list<std::pair<const char*, const char*>> options) {
  VesselParams params;
  params.output = VesselOutput::overlay;
  for (const auto& [key, value] : options)
    set_option(params, key, value);
  return params;
}

/// Frames as they come out for a kind of output.
inline Stream output_of(const Stream& stream, VesselOutput output) {
  const PixelFormat format = output == VesselOutput::overlay ? stream.desc.format
                             : output == VesselOutput::mask  ? PixelFormat::gray8
                                                             : PixelFormat::bgr;
  return stream_of(format, stream.desc.width, stream.desc.height);
}

inline void expect_filtered(Harness& harness, const Stream& stream, gst::BufferPtr buffer,
                            const VesselParams& params) {
  const auto filter = make_cpu_filter(params, {1});
  const auto expected = filtered(buffer.get(), stream, *filter);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const gst::BufferPtr out = harness.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(samples_of(out.get(), output_of(stream, params.output)), expected);
}

inline void set(const Harness& harness, const char* property, const char* value) {
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), property, value);
}

}  // namespace equalux::test
