#include "pipelines/gstreamer/decode/file_source.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "pipelines/container/input/matroska_file.h"
#include "pipelines/container/input/open_input.h"
#include "pipelines/container/input/probe.h"
#include "pipelines/container/input/shortfall.h"
#include "pipelines/gstreamer/decode/decode_bin.h"
#include "pipelines/gstreamer/decode/packet_feed.h"
#include "pipelines/gstreamer/decode/picture_tap.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/formatting.h"
#include "src/common/log.h"
#include "src/format/layout.h"

namespace equalux {

namespace {

using namespace std::chrono_literals;

/// Limit from starting a decoder to its first picture; only a machine that is busy elsewhere comes
/// close.
constexpr auto kFirstPicture = 30s;

class FileSource final : public Source {
 public:
  FileSource(std::string path, const FileSourceOptions& options)
      : path_(std::move(path)), options_(options) {}
  ~FileSource() override { stop_.set(); }

  void offer_device(int device) override { device_ = device; }
  StreamInfo open(const FormatPredicate& accepts) override;
  bool lends_buffers() const override { return true; }
  bool read(Frame& frame) override;
  void skip_towards(std::int64_t pts_ns) override;
  void cancel() noexcept override {
    const std::lock_guard lock(tap_mutex_);
    cancelled_ = true;
    stop_.set();
    if (tap_) tap_->cancel();
  }
  std::optional<std::string> shortfall() const override;

 private:
  void probe();
  GstVideoInfo decode_by(std::unique_ptr<gst::PictureDecoder> decoder,
                         std::unique_ptr<gst::PacketFeed> feed = nullptr);
  GstVideoInfo decode_on_cpu(std::unique_ptr<gst::PacketFeed> feed = nullptr);
  std::optional<GstVideoInfo> decode_with_alpha();
  std::unique_ptr<gst::PacketFeed> make_feed();
  void set_tap(std::unique_ptr<gst::PictureTap> tap);
  std::optional<GstVideoInfo> decode_on_device(const FormatPredicate& accepts);
  gst::SamplePtr next_sample();
  gst::SamplePtr next_visible(Frame& frame);
  void peek();
  void tell_restarts();
  void set_times(GstSample* sample, Frame& frame);
  bool is_hidden(GstSample* sample, Frame& frame);
  std::int64_t missing_end_ns() const;
  std::int64_t frame_ns() const;
  std::int64_t tolerance_ns() const;
  void leave_out_wild_aspect();
  void leave_out_edges();
  std::optional<MatroskaSurvey> survey() const;
  std::uint64_t lost_frames(const std::optional<MatroskaSurvey>& survey) const;

  std::string path_;
  FileSourceOptions options_;
  int device_ = -1;
  FormatPredicate accepts_;
  bool on_device_ = false;   // pictures are decoded on the device
  ImageDesc decoded_;        // the pictures before any edge is left out
  std::string gpu_refusal_;  // why the device does not decode, if that was tried
  StreamInfo info_;
  gst::StreamHint hint_;
  int video_stream_ = -1;
  std::optional<Rational> aspect_;        // of a pixel, from the container
  std::optional<Rational> shown_aspect_;  // of the shown part of the pictures
  PictureEdges crop_;
  bool elementary_ = false;      // the stream has no container
  bool alpha_beside_ = false;    // as ContainerInfo
  bool with_alpha_ = false;      // packets of transparency are decoded, too
  gst::SamplePtr first_sample_;  // read by open(); its times are in first_
  Frame first_;
  std::optional<Rational> rate_;           // of such a stream, if the user gave one
  std::optional<std::int64_t> start_ns_;   // of the video stream, from the container
  std::optional<std::int64_t> offset_ns_;  // from GStreamer's stream time to the container's
  std::atomic<bool> cancelled_ = false;
  ReadStop stop_;
  std::uint64_t frames_ = 0;
  std::int64_t end_ns_ = 0;  // end of the last of them
  bool told_restarts_ = false;
  bool skipped_ = false;                 // frames just before the next one were skipped on purpose
  bool is_matroska_ = false;             // a local Matroska file
  bool pictures_by_themselves_ = false;  // each packet is a picture by itself
  bool has_gaps_ = false;                // between its frames, or before the first
  InputContext opened_;                  // by probe(), for the first feed
  std::unique_ptr<gst::PacketFeed> feed_;
  // Destroyed in reverse order: the pipeline uses the feed, and the tap uses the pipeline.
  std::unique_ptr<gst::PictureDecoder> decoder_;
  std::unique_ptr<gst::PictureTap> tap_;
  std::mutex tap_mutex_;  // cancel() comes from other threads, also while decoders are exchanged
};

void FileSource::probe() {
  info_.name = path_;
  info_.container_path = path_;
  opened_ = open_input(path_, &stop_);
  const ContainerInfo container = describe_container(*opened_, path_);
  video_stream_ = container.video_stream;
  hint_ = {container.video_codec, container.pixel_format};
  alpha_beside_ = container.alpha_beside;
  info_.other_streams = container.other_streams;
  info_.frames = container.video_frames;
  info_.duration_ns = container.duration_ns;
  start_ns_ = container.video_start_ns;
  aspect_ = container.pixel_aspect;
  info_.orientation = container.orientation.value_or(Orientation::upright);
  if (!container.orientation) {
    logger().warn("{}: is turned by no multiple of 90 degrees; only mp4, mov and mkv keep that",
                  path_);
  }
  crop_ = container.crop;
  shown_aspect_ = container.shown_aspect;
  if (!container.clean_aperture.empty()) {
    logger().info("{}: its clean aperture of {} pixels is not applied; its pictures are whole",
                  path_, container.clean_aperture);
  }
  if (container.average_frame_rate.num > 0) info_.frame_rate = container.average_frame_rate;
  is_matroska_ = container.format.starts_with("matroska") && !is_web_address(path_);
  pictures_by_themselves_ = container.intra_only;
  elementary_ = !container.has_times;
  if (elementary_) {
    rate_ = options_.rate;
    if (rate_) info_.frame_rate = *rate_;
  }
  if (options_.rate && !rate_) {
    logger().warn("{}: has times of its own, --fps changes nothing", path_);
  }
}

void FileSource::set_tap(std::unique_ptr<gst::PictureTap> tap) {
  const std::lock_guard lock(tap_mutex_);
  tap_ = std::move(tap);
  if (tap_ && cancelled_) tap_->cancel();
}

std::unique_ptr<gst::PacketFeed> FileSource::make_feed() {
  return gst::make_packet_feed(path_, video_stream_, {rate_, with_alpha_}, &stop_,
                               std::move(opened_));
}

/// Starts this decoder, at the start of the file or at the position of `feed`, and waits for its
/// first picture.
GstVideoInfo FileSource::decode_by(std::unique_ptr<gst::PictureDecoder> decoder,
                                   std::unique_ptr<gst::PacketFeed> feed) {
  set_tap(nullptr);
  decoder_.reset();
  feed_ = feed ? std::move(feed) : make_feed();
  decoder_ = std::move(decoder);
  if (feed_) {
    decoder_->decode_packets(*feed_);
  } else if (is_web_address(path_)) {
    throw Error(ExitCode::bad_input,
                path_ + ": its video is of a kind that only a file is read of");
  } else {
    decoder_->decode_file();
  }
  set_tap(std::make_unique<gst::PictureTap>(path_, decoder_->pipeline(), decoder_->sink(),
                                            decoder_->map_mode()));
  decoder_->start();
  try {
    return tap_->first(kFirstPicture);
  } catch (const Error&) {
    decoder_->rethrow_refusal();
    throw;
  }
}

GstVideoInfo FileSource::decode_on_cpu(std::unique_ptr<gst::PacketFeed> feed) {
  return decode_by(std::make_unique<gst::DecodeBin>(path_, hint_, accepts_, options_.threads),
                   std::move(feed));
}

/// Decodes the packets of transparency, too, which decoders on a GPU ignore. Returns nothing where
/// there are none, or they cannot be decoded.
std::optional<GstVideoInfo> FileSource::decode_with_alpha() {
  if (!alpha_beside_) return std::nullopt;
  const std::string element = hint_.codec + "alphadecodebin";
  std::string why;
  if (options_.decoder == DecoderChoice::gpu) {
    why = "decoder gpu passes over it; software does not";
  } else if (!gst::has_element(element.c_str())) {
    why = "GStreamer's " + element + " is not here";
  } else if (hint_.pixel_format != "yuv420p") {
    why = "GStreamer takes it beside yuv420p pictures, these are " + hint_.pixel_format;
  } else {
    try {
      with_alpha_ = true;
      const GstVideoInfo video = decode_on_cpu();
      if (GST_VIDEO_INFO_HAS_ALPHA(&video)) return video;
    } catch (const Error& error) {
      if (cancelled_) throw;
      logger().debug("{}", error.what());
    }
    why = "it cannot be decoded";
  }
  with_alpha_ = false;
  logger().warn("{}: its transparency is lost, {}", path_, why);
  return std::nullopt;
}

std::optional<GstVideoInfo> FileSource::decode_on_device(const FormatPredicate& accepts) {
  const bool wanted = options_.decoder == DecoderChoice::gpu;
  if (options_.decoder == DecoderChoice::software) return std::nullopt;
  if (crop_ != PictureEdges{}) {
    if (!wanted) return std::nullopt;
    throw Error(ExitCode::unavailable,
                "decoder gpu takes no video that its file wants cropped; must be auto or software");
  }
  if (device_ < 0 || !accepts(PixelFormat::nv12)) {
    if (!wanted) return std::nullopt;
    throw Error(ExitCode::unavailable,
                "decoder gpu needs filters on a GPU that take NV12, and an output that does not "
                "show originals");
  }
  std::unique_ptr<gst::PictureDecoder> decoder = gst::make_gpu_decoder(path_, device_, accepts);
  if (!decoder) {
    if (!wanted) return std::nullopt;
    throw Error(ExitCode::unavailable,
                "decoder gpu needs GStreamer's NVIDIA decoders, which are not here; must be auto "
                "or software");
  }
  try {
    return decode_by(std::move(decoder));
  } catch (const Error& error) {
    if (cancelled_) throw;
    if (wanted) {
      throw Error(ExitCode::unavailable, std::string("decoder gpu: ") + error.what());
    }
    gpu_refusal_ = error.what();
    return std::nullopt;
  }
}

StreamInfo FileSource::open(const FormatPredicate& accepts) {
  check_readable(path_);
  gst::start_up();
  info_ = StreamInfo{};
  gpu_refusal_.clear();
  with_alpha_ = on_device_ = false;
  first_sample_.reset();
  probe();
  accepts_ = accepts;
  std::optional<GstVideoInfo> video = decode_with_alpha();
  if (!video) {
    video = decode_on_device(accepts);
    on_device_ = video.has_value();
  }
  if (!video) video = decode_on_cpu();
  // Logged only if the CPU succeeds; otherwise its error is the one to report.
  if (!gpu_refusal_.empty()) logger().info("the CPU decodes, not the GPU: {}", gpu_refusal_);
  if (feed_) info_.colorimetry = feed_->colorimetry();
  const Rational rate = info_.frame_rate;
  const bool rate_known = start_ns_.has_value();
  gst::read_video_info(*video, info_);
  if (feed_ && info_.colorimetry.empty() && traits(info_.desc.format).model == ColorModel::yuv) {
    logger().debug("{}: says nothing of its colours; taken for {}, {} range", path_,
                   to_string(info_.desc.matrix), to_string(info_.desc.range));
  }
  info_.field_order = tap_->first_fields();
  info_.mastering_display = tap_->text_of_caps("mastering-display-info");
  info_.content_light = tap_->text_of_caps("content-light-level");
  if (rate_known) info_.frame_rate = rate;
  // Decoders read the aspect from the bitstream; the container's takes precedence.
  if (aspect_) info_.pixel_aspect = *aspect_;
  leave_out_wild_aspect();
  if (feed_) info_.chroma_site = feed_->chroma_site();
  decoded_ = info_.desc;
  tap_->expect(decoded_);
  leave_out_edges();
  peek();
  return info_;
}

/// Takes pixels for square whose shape can only be damage: containers refuse to write it.
void FileSource::leave_out_wild_aspect() {
  constexpr double kMost = 100;  // the widest pixels of real formats are 4:1
  Rational& aspect = info_.pixel_aspect;
  const double ratio = aspect.value();
  if (ratio <= kMost && ratio >= 1 / kMost) return;
  logger().warn("{}: its pixels are said to be {}:{}; they are taken for square", path_, aspect.num,
                aspect.den);
  aspect = {1, 1};
}

/// Leaves out edges as players do where the container asks for it, so that borders do not count in
/// filters. Never cuts through a chroma sample, and keeps the order of fields.
void FileSource::leave_out_edges() {
  if (crop_ == PictureEdges{}) return;
  const FormatTraits& format = traits(info_.desc.format);
  const int across = 1 << format.chroma_shift_x;
  const int down =
      (1 << format.chroma_shift_y) * (info_.field_order == FieldOrder::progressive ? 1 : 2);
  const PictureEdges asked = crop_;
  // The rest ends at a chroma sample, or at the end of the picture.
  const auto behind = [](int side, int edge, int step) {
    return side - std::min(side, (side - edge + step - 1) / step * step);
  };
  crop_ = {asked.left / across * across, asked.top / down * down,
           behind(info_.desc.width, asked.right, across),
           behind(info_.desc.height, asked.bottom, down)};
  const int width = info_.desc.width - crop_.left - crop_.right;
  const int height = info_.desc.height - crop_.top - crop_.bottom;
  if (width <= 0 || height <= 0) {
    logger().warn("{}: asks for a crop larger than its pictures; they are whole", path_);
    crop_ = {};
    return;
  }
  info_.desc.width = width;
  info_.desc.height = height;
  if (shown_aspect_) info_.pixel_aspect = {shown_aspect_->num * height, shown_aspect_->den * width};
  logger().info("{}: {} pixels left, {} top, {} right and {} bottom are left out, as it asks{}",
                path_, crop_.left, crop_.top, crop_.right, crop_.bottom,
                crop_ == asked ? "" : ", to whole chroma samples");
}

void FileSource::set_times(GstSample* sample, Frame& frame) {
  const GstBuffer* buffer = gst_sample_get_buffer(sample);
  const GstSegment* segment = gst_sample_get_segment(sample);
  auto stream_time = static_cast<std::int64_t>(
      gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer)));
  if (stream_time < 0) stream_time = 0;  // GST_CLOCK_TIME_NONE
  // Demuxers shift the times of some containers (transport streams) by a constant.
  if (!offset_ns_) offset_ns_ = start_ns_.value_or(stream_time) - stream_time;
  frame.pts_ns = stream_time + *offset_ns_;
  if (GST_BUFFER_DURATION_IS_VALID(buffer)) {
    frame.duration_ns = static_cast<std::int64_t>(GST_BUFFER_DURATION(buffer));
  }
}

bool FileSource::is_hidden(GstSample* sample, Frame& frame) {
  if (!feed_) {
    set_times(sample, frame);
    return false;
  }
  const gst::Stamp stamp = feed_->stamp(GST_BUFFER_PTS(gst_sample_get_buffer(sample)));
  frame.pts_ns = stamp.pts_ns;
  frame.duration_ns = stamp.duration_ns;
  return stamp.hidden;
}

/// Returns how far the last frame ends before the stream's end. Without our packet feed only the
/// declared duration is known, which edit lists may shorten; it counts where frames are missing as
/// well.
std::int64_t FileSource::missing_end_ns() const {
  if (feed_) return feed_->missing_end_ns();
  if (!start_ns_ || !info_.duration_ns || !info_.frames || frames_ >= *info_.frames) return 0;
  return *start_ns_ + *info_.duration_ns - end_ns_;
}

/// Returns the duration of a frame; 0 where no rate is known.
std::int64_t FileSource::frame_ns() const {
  const double rate = info_.frame_rate.value();
  return rate > 0 ? std::llround(1e9 / rate) : 0;
}

/// Returns the tolerance that is also used for containers: half a second and two frames.
std::int64_t FileSource::tolerance_ns() const {
  return std::max<std::int64_t>(500'000'000, 2 * frame_ns());
}

/// Surveys a Matroska file, because demuxers skip damage silently. Not needed where our packets
/// reach the declared end without a gap: then the file need not be read again.
std::optional<MatroskaSurvey> FileSource::survey() const {
  if (!is_matroska_) return std::nullopt;
  const std::int64_t declared = start_ns_.value_or(0) + info_.duration_ns.value_or(end_ns_);
  if (feed_ && !has_gaps_ && declared <= end_ns_ + 2 * frame_ns()) return std::nullopt;
  return survey_matroska(path_);
}

std::uint64_t FileSource::lost_frames(const std::optional<MatroskaSurvey>& survey) const {
  // Interlaced streams may have one packet for each field.
  if (feed_) return info_.field_order == FieldOrder::progressive ? feed_->lost() : 0;
  if (!survey || !pictures_by_themselves_ || survey->video_blocks < frames_) return 0;
  return survey->video_blocks - frames_;
}

gst::SamplePtr FileSource::next_sample() {
  try {
    return tap_->next();
  } catch (const Error&) {
    decoder_->rethrow_refusal();
    throw;
  }
}

gst::SamplePtr FileSource::next_visible(Frame& frame) {
  gst::SamplePtr sample;
  do {
    if (cancelled_) return nullptr;
    sample = next_sample();
    if (!sample) return nullptr;
  } while (is_hidden(sample.get(), frame));
  return sample;
}

/// Reads the first picture to find the shift of times. No container can store a time before 0,
/// which some inputs have, so then all times are shifted. Elementary streams start at 0, too: the
/// decoding delay that MPEG counts only matters in containers.
void FileSource::peek() {
  first_sample_ = next_visible(first_);
  const bool shifted = first_sample_ && (elementary_ || first_.pts_ns < 0);
  info_.container_part.shift_ns = shifted ? -first_.pts_ns : 0;
}

/// Logs once, at the end, where the file's clock restarted.
void FileSource::tell_restarts() {
  if (cancelled_ || !feed_ || feed_->restarts_ns().empty() || std::exchange(told_restarts_, true)) {
    return;
  }
  constexpr std::size_t kMost = 3;
  const std::vector<std::int64_t>& times = feed_->restarts_ns();
  std::string text;
  for (std::size_t i = 0; i < std::min(times.size(), kMost); ++i) {
    text += fmt::format("{}{:.2f} s", i == 0 ? "" : ", ",
                        static_cast<double>(times[i] + info_.container_part.shift_ns) / 1e9);
  }
  if (times.size() > kMost) text += " and " + counted(times.size() - kMost, "time") + " more";
  logger().warn("{}: its clock restarts at {}; each part follows the one before it", path_, text);
}

bool FileSource::read(Frame& frame) {
  if (cancelled_) return false;
  gst::SamplePtr sample = std::move(first_sample_);
  if (sample) {
    frame.pts_ns = first_.pts_ns;
    frame.duration_ns = first_.duration_ns;
  } else {
    sample = next_visible(frame);
  }
  if (!sample) {
    tell_restarts();
    return false;
  }
  tap_->lend(sample.get(), frame);
  if (crop_ != PictureEdges{}) {
    const auto shown = [this](const ConstImageView& whole) {
      return part_of(whole, crop_.left, crop_.top, info_.desc.width, info_.desc.height);
    };
    frame.image = shown(frame.image);
    if (frame.has_alpha_plane()) frame.alpha = shown(frame.alpha);
  }
  const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  frame.discontinuity = frames_ > 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  const bool gap = frame.pts_ns > end_ns_ + frame_ns() / 2;
  has_gaps_ = has_gaps_ || (gap && !std::exchange(skipped_, false));
  ++frames_;
  end_ns_ = frame.pts_ns + frame.duration_ns;
  frame.pts_ns += info_.container_part.shift_ns;
  return true;
}

/// Continues with a second decoder that begins at the packet to enter at; where that fails it
/// begins at the start of the file, so that nothing is missing.
void FileSource::skip_towards(std::int64_t pts_ns) {
  constexpr std::int64_t kWorthwhile = 1'000'000'000;
  if (!feed_ || on_device_ || elementary_ || is_web_address(path_)) return;
  std::unique_ptr<gst::PacketFeed> feed = make_feed();
  const std::int64_t target = pts_ns - info_.container_part.shift_ns;
  if (!feed || !feed->enter_before(target, end_ns_ + kWorthwhile)) return;
  first_sample_.reset();
  try {
    decode_on_cpu(std::move(feed));
    logger().debug("{}: is entered before {:.3f} s", path_, static_cast<double>(target) / 1e9);
  } catch (const Error& error) {
    if (cancelled_) throw;
    logger().debug("{}: is read from its start: {}", path_, error.what());
    decode_on_cpu();
  }
  tap_->expect(decoded_);
  frames_ = 0;
  skipped_ = true;
}

std::optional<std::string> FileSource::shortfall() const {
  std::string text;
  const auto add = [&](const std::string& reason) { text += (text.empty() ? "" : "; ") + reason; };
  if (feed_ && !feed_->read_error().empty()) add("reading stopped: " + feed_->read_error());
  const std::optional<MatroskaSurvey> found = survey();
  if (const std::uint64_t lost = lost_frames(found); lost > 0) {
    add(counted(lost, "frame") + " could not be decoded");
  } else if (const std::int64_t missing = missing_end_ns(); missing > tolerance_ns()) {
    add(fmt::format("its last {:.2f} s could not be decoded", static_cast<double>(missing) / 1e9));
  }
  // Nothing is read twice over a network, where an interrupted connection is a read error.
  if (!is_web_address(path_)) {
    if (const auto missing = container_shortfall(path_)) {
      add(*missing);
    } else if (found && !found->damage.empty()) {
      add(found->damage);
    }
  }
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

std::unique_ptr<Source> make_file_source(const std::string& path,
                                         const FileSourceOptions& options) {
  return std::make_unique<FileSource>(path, options);
}

}  // namespace equalux
