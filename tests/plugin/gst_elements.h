#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <equalux/image.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "tests/support/media/test_images.h"

/// The plugin of this build tree, fed and read by tests.
namespace equalux::test {

/// Initialises GStreamer and loads the plugin that lies beside this program, in
/// ../lib/gstreamer-1.0; or the one that EQUALUX_GST_PLUGIN names.
void load_plugin();
[[nodiscard]] std::string plugin_folder();

/// Frames of a format, and the core's description of them, as the element reads their caps.
struct Stream {
  GstVideoInfo info;
  ImageDesc desc;
  gst::CapsPtr caps;
};
[[nodiscard]] Stream stream_of(PixelFormat format, int width, int height,
                               const std::string& more_caps = "");

/// How the planes of a buffer lie in its memory.
enum class Layout { usual, padded };

/// A buffer with a picture in it, one 25th of a second long.
[[nodiscard]] gst::BufferPtr picture(const Stream& stream, std::uint32_t seed,
                                     Layout layout = Layout::usual,
                                     Content content = Content::natural);
/// The samples in a buffer, planes one after another without padding.
[[nodiscard]] std::vector<std::uint8_t> samples_of(GstBuffer* buffer, const Stream& stream);
/// What the core's `equalize` makes of a buffer's samples.
[[nodiscard]] std::vector<std::uint8_t> filtered(GstBuffer* buffer, const Stream& stream,
                                                 const EqualizeParams& params = {},
                                                 FieldOrder field_order = FieldOrder::progressive);

/// What any filter makes of a buffer's samples; it is configured for the stream.
[[nodiscard]] std::vector<std::uint8_t> filtered(GstBuffer* buffer, const Stream& stream,
                                                 Filter& filter,
                                                 FieldOrder field_order = FieldOrder::progressive);

/// A bin of elements between two test pads.
class Harness {
 public:
  explicit Harness(const std::string& launch);
  ~Harness() {
    gst_harness_teardown(harness_);
    // Messages that nobody read hold the elements, which hold the bus.
    gst_bus_set_flushing(bus_.get(), TRUE);
  }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  void set_caps(const Stream& stream);
  GstFlowReturn push(gst::BufferPtr buffer) { return gst_harness_push(harness_, buffer.release()); }
  bool push_event(GstEvent* event) { return gst_harness_push_event(harness_, event) != FALSE; }
  /// The next buffer that came out; null where there is none.
  [[nodiscard]] gst::BufferPtr pull() { return gst::BufferPtr(gst_harness_try_pull(harness_)); }
  [[nodiscard]] GstHarness* get() const { return harness_; }
  /// The first of our elements in it; the harness owns it.
  [[nodiscard]] GstElement* equalux() const;
  /// What that element says it runs on.
  [[nodiscard]] std::string device_used() const;
  /// The first error or warning on the bus, as its text; empty where there is none.
  [[nodiscard]] std::string message(GstMessageType type);

 private:
  GstHarness* harness_;
  gst::BusPtr bus_;
};

/// How a pipeline ended.
struct PipelineEnd {
  bool eos = false;
  std::string error;
};
/// Runs a launch line until its end or `limit_s`, calling `meanwhile` with the pipeline once it
/// plays.
[[nodiscard]] PipelineEnd run_pipeline(const std::string& launch,
                                       const std::function<void(GstElement*)>& meanwhile = {},
                                       int limit_s = 60);

}  // namespace equalux::test
