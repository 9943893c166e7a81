#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <gst/app/gstappsink.h>

#include "pipelines/core/frame.h"
#include "pipelines/core/source.h"
#include "pipelines/gstreamer/encode/encoder_table.h"
#include "pipelines/gstreamer/frame_feed.h"
#include "pipelines/gstreamer/gst_common.h"

/// A pipeline that encodes frames, and restores the exact times of each packet's frame.
namespace equalux::gst {

/// Settings of an EncodeBin.
struct EncodeSettings {
  std::string name;  ///< starts messages: the output's path
  std::optional<int> quality;
  bool lossless = false;
  AlphaForm alpha = AlphaForm::none;  ///< alpha_form(), if the container can store that
  /// True for a stream that is watched while it is made: choose_streamed_format(), and no packet
  /// waits for a later frame.
  bool streamed = false;
};

/// One encoded picture; its memory belongs to the sample.
struct EncodedPicture {
  SamplePtr sample;
  SamplePtr alpha;  ///< for AlphaForm::second_stream; else null
  std::int64_t pts_ns = 0;
  std::int64_t dts_ns = 0;
  std::int64_t duration_ns = 0;
  bool keyframe = false;
};

/// Encodes frames. One thread at a time.
class EncodeBin {
 public:
  /// Throws Error(usage, unavailable) where such frames cannot be encoded in this way.
  EncodeBin(const EncoderSpec& spec, const StreamInfo& info, const EncodeSettings& settings);

  /// Copies a frame and passes it to the encoder. To be called only while wants_frame().
  void push(const Frame& frame);
  [[nodiscard]] bool wants_frame() const {
    return feed_->wants_frame() && (!alpha_ || alpha_->wants_frame());
  }
  /// Makes the next frame that is pushed a key frame.
  void force_keyframe();
  /// Stops the encoder early; one that hangs is abandoned after `limit`. Only the destructor may
  /// follow.
  void stop(std::chrono::milliseconds limit) noexcept {
    if (alpha_) alpha_->stop(limit);
    pipeline_.stop(limit);
  }
  /// Ends the stream: no frame follows.
  void end() {
    feed_->end();
    if (alpha_) alpha_->end();
  }

  /// Returns the next packet, in decoding order; waits up to `wait`. Throws Error(write_failed,
  /// unavailable) where the encoder failed.
  [[nodiscard]] std::optional<EncodedPicture> pull(std::chrono::milliseconds wait);
  /// Returns true once every packet has come out.
  [[nodiscard]] bool drained() const {
    return gst_app_sink_is_eos(sink_) != FALSE && !picture_ && (!alpha_ || alpha_->drained());
  }
  /// Number of frames that were pushed and have not come out; once drained(), those are lost.
  [[nodiscard]] std::size_t missing() const {
    return waiting_.size() + (alpha_ ? alpha_->missing() : 0);
  }
  /// Colours of the encoded stream.
  [[nodiscard]] const GstVideoColorimetry& colorimetry() const { return encoded_color_; }
  /// Pixel layout of the encoded stream.
  [[nodiscard]] GstVideoFormat format() const { return encoded_format_; }

 private:
  struct Fed {
    std::int64_t fed_ns = 0;  // the time that GStreamer was given
    std::int64_t pts_ns = 0;
    std::int64_t duration_ns = 0;
  };
  void build(const EncoderSpec& spec, const StreamInfo& info, const EncodeSettings& settings);
  GstElement* add_conversion(const StreamInfo& info, GstVideoFormat format);
  std::int64_t stamp_for(const Frame& frame);
  EncodedPicture restore(SamplePtr sample);
  std::optional<EncodedPicture> pull_one(std::chrono::milliseconds wait);
  void add_alpha_encoder(const EncoderSpec& spec, const StreamInfo& info,
                         const EncodeSettings& settings);
  void push_alpha(const Frame& frame);

  std::string name_;
  Pipeline pipeline_;
  GstAppSink* sink_ = nullptr;
  Messages messages_;
  std::optional<FrameFeed> feed_;
  GstVideoColorimetry encoded_color_{};
  GstVideoFormat encoded_format_ = GST_VIDEO_FORMAT_UNKNOWN;
  bool even_stamps_ = false;
  std::int64_t period_ns_ = 0;  // duration of a frame, by the stream's rate
  std::deque<Fed> waiting_;     // fed and not yet encoded; by time
  std::uint64_t count_ = 0;
  std::int64_t first_pts_ns_ = 0;
  std::int64_t last_fed_ns_ = -1;
  std::optional<std::int64_t> shift_ns_;  // that the encoder adds to all times
  // For transparency as a second stream.
  std::unique_ptr<EncodeBin> alpha_;
  Image alpha_plane_;                      // of packed RGB
  std::optional<EncodedPicture> picture_;  // whose transparency has not come yet
};

}  // namespace equalux::gst
