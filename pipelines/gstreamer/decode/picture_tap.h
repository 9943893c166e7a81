#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include <gst/app/gstappsink.h>

#include "pipelines/core/frame.h"
#include "pipelines/gstreamer/decode/sample_lease.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/gst_formats.h"

/// The end of a decoding pipeline: an appsink whose pictures are lent to frames.
namespace equalux::gst {

/// Sets an appsink up to hold few buffers, never wait for a clock, and let decoders pad strides.
/// With `drop` it holds only the newest buffer (live pipelines).
enum class WhenFull { wait, drop };
void set_up_appsink(GstElement* appsink, WhenFull when_full);

/// Takes pictures from an appsink. One thread at a time, except cancel(). Must be destroyed before
/// the pipeline.
class PictureTap {
 public:
  /// `name` starts every message; `mode` as in SampleLeases.
  PictureTap(std::string name, GstElement* pipeline, GstAppSink* sink, MapMode mode = {});

  /// Waits for the first picture and keeps it for the first next(). Throws the pipeline's error, or
  /// Error(bad_input) where nothing comes within `limit`, or the stream is empty.
  GstVideoInfo first(std::chrono::milliseconds limit);
  /// Returns a text field of the first picture's caps; empty where they have none of that name.
  [[nodiscard]] std::string text_of_caps(const char* field) const {
    const gchar* text = gst_structure_get_string(gst_caps_get_structure(caps_.get(), 0), field);
    return text == nullptr ? "" : text;
  }
  /// Field order of the first picture.
  [[nodiscard]] FieldOrder first_fields() const {
    return field_order_of(info_, gst_sample_get_buffer(first_.get()));
  }
  /// Time after which a file that gives nothing counts as stalled.
  static constexpr std::chrono::milliseconds kStall{30'000};
  /// Sets the size and format that frames must have from now on, and how long next() waits for one.
  void expect(const ImageDesc& desc, std::chrono::milliseconds stall = kStall) {
    desc_ = desc;
    stall_ = stall;
  }

  /// Fills image and field_order from the next picture; null at the end or after cancel(). The
  /// sample has the times. Throws where the pipeline failed or the picture's size changed.
  [[nodiscard]] SamplePtr next();
  void lend(GstSample* sample, Frame& frame);

  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] Messages& messages() { return messages_; }

 private:
  SamplePtr pull(std::chrono::milliseconds limit);
  void learn(GstSample* sample);
  void warn_of_colours(const GstVideoColorimetry& before);

  std::string name_;
  GstAppSink* sink_;
  Messages messages_;
  std::shared_ptr<SampleLeases> leases_;
  std::atomic<bool> cancelled_ = false;
  SamplePtr first_;
  CapsPtr caps_;
  GstVideoInfo info_{};
  ImageDesc desc_;
  std::uint64_t pictures_ = 0;
  bool warned_of_colours_ = false;
  std::chrono::milliseconds stall_ = kStall;
};

}  // namespace equalux::gst
