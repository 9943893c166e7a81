#include "pipelines/gstreamer/encode/file_sink.h"

#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pipelines/container/output/writer.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/gstreamer/encode/encode_bin.h"
#include "pipelines/gstreamer/encode/encoder_table.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/json_text.h"
#include "src/common/log.h"

namespace equalux {

namespace {

using namespace std::chrono_literals;

/// Time after which an encoder that should deliver and does not counts as stalled.
constexpr auto kStall = 20s;
/// Time after which it counts as stalled while the run is being stopped, and the limit for
/// stopping.
constexpr auto kStallWhenStopped = 4s;
constexpr auto kStopWhenStopped = 500ms;
/// Interval at which write() checks the encoder while it waits.
constexpr auto kLook = 2ms;

/// Returns where the file can store the encoder's transparency.
gst::AlphaForm kept_alpha(const gst::EncoderSpec& spec, const StreamInfo& info,
                          const std::string& path) {
  const gst::AlphaForm form = gst::alpha_form(spec, info);
  const bool fits = form != gst::AlphaForm::second_stream || is_matroska(path);
  return fits ? form : gst::AlphaForm::none;
}

/// Maps the packet of a sample during its lifetime.
class MappedPacket {
 public:
  MappedPacket(const gst::SamplePtr& sample, const std::string& path)
      : buffer_(gst_sample_get_buffer(sample.get())) {
    if (gst_buffer_map(buffer_, &mapped_, GST_MAP_READ) == FALSE) {
      throw Error(ExitCode::write_failed, path + ": an encoded picture cannot be read");
    }
  }
  ~MappedPacket() { gst_buffer_unmap(buffer_, &mapped_); }
  MappedPacket(const MappedPacket&) = delete;
  MappedPacket& operator=(const MappedPacket&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(mapped_.data), mapped_.size};
  }

 private:
  GstBuffer* buffer_;
  GstMapInfo mapped_{};
};

std::vector<std::byte> codec_data_of(const GstSample* sample) {
  const GstCaps* caps = gst_sample_get_caps(const_cast<GstSample*>(sample));
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const GValue* value = gst_structure_get_value(structure, "codec_data");
  if (value == nullptr) return {};
  GstBuffer* buffer = gst_value_get_buffer(value);
  std::vector<std::byte> data(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, data.data(), data.size());
  return data;
}

class FileSink final : public Sink {
 public:
  explicit FileSink(FileSinkOptions options) : options_(std::move(options)) {}
  ~FileSink() override {
    if (writer_) writer_->abandon();
  }

  void open(const StreamInfo& info) override;
  void write(Frame& frame) override;
  std::string checkpoint() override;
  void finish(Ending ending) override;
  void cancel() noexcept override {
    patience_.cancel();
    stop_.set();
  }
  std::optional<std::string> shortfall() const override { return shortfall_; }
  std::string name() const override { return options_.path; }
  std::string why_opaque(const StreamInfo& info) const override;
  /// A container takes over the orientation of the file whose streams it copies; webm has none.
  bool keeps_orientation(const StreamInfo& info) const override {
    return !info.container_path.empty() && !is_webm(options_.path);
  }

 private:
  bool write_next(std::chrono::milliseconds wait);
  void start_writer(std::vector<std::byte> codec_data);
  void check_codec_data(const GstSample* sample);
  void choose_encoder();
  void start_encoder();
  void start_first_encoder();
  void read_resume(std::uint64_t& packets, std::vector<std::byte>& codec_data) const;
  void drain();
  void suspend();
  void abandon();
  void check_patience(const char* what);

  FileSinkOptions options_;
  StreamInfo info_;
  const gst::EncoderSpec* spec_ = nullptr;
  ReadStop stop_;  // for the writer's reads
  std::unique_ptr<ContainerWriter> writer_;
  std::unique_ptr<gst::EncodeBin> encoder_;
  std::vector<std::byte> codec_data_;  // of the first segment
  GstVideoColorimetry encoded_color_{};
  bool encoded_gray_ = false;
  gst::Patience patience_;
  bool stalled_ = false;
  bool started_ = false;
  std::optional<std::string> shortfall_;  // of the finished file
  bool checked_ = false;  // this segment's codec data were compared with those of the first
};

void FileSink::open(const StreamInfo& info) {
  info_ = info;
  choose_encoder();
  ContainerWriterOptions container;
  container.output_path = options_.path;
  container.copy_from = info.container_path;
  container.part = info.container_part;
  container.stop = &stop_;
  container.drop_streams = options_.drop_streams;
  container.keep_partial = options_.keep_partial;
  container.journal = options_.journal;
  std::vector<std::byte> codec_data;
  if (!options_.resume.empty()) read_resume(container.resume_packets, codec_data);
  writer_ = make_container_writer(container);
  writer_->check(std::string(spec_->codec));
  for (const std::string& dropped : writer_->dropped_streams()) {
    logger().warn("{}: left out: {}", options_.path, dropped);
  }
  if (!options_.continues) {
    for (const std::string& video : writer_->copied_videos()) {
      logger().warn("{}: {} is copied without the filters, which take one video of a file",
                    options_.path, video);
    }
  }
  const bool hdr10 = !info_.mastering_display.empty() || !info_.content_light.empty();
  if (hdr10 && !options_.continues && spec_->name != "x265") {
    logger().warn(
        "{}: {} does not keep the HDR10 metadata (mastering display, light level) in its stream; "
        "--encoder x265 does{}",
        options_.path, spec_->name, is_webm(options_.path) ? ", in .mkv" : "");
  }
  start_first_encoder();
  const GstVideoFormatInfo* encoded = gst_video_format_get_info(encoder_->format());
  if (!options_.continues && traits(info_.desc.format).model == ColorModel::rgb &&
      GST_VIDEO_FORMAT_INFO_IS_YUV(encoded)) {
    logger().info("{}: RGB pictures are encoded as {}", options_.path,
                  gst::chroma_name(encoder_->format()));
  }
  if (!options_.resume.empty()) start_writer(std::move(codec_data));
}

std::string FileSink::why_opaque(const StreamInfo& info) const {
  if (!info.transparent && !has_alpha(info.desc.format)) return {};
  gst::start_up();
  const auto keeps = [&](const std::string& encoder, const std::string& path) {
    return kept_alpha(gst::encoder_spec(encoder), info, path) != gst::AlphaForm::none;
  };
  const std::string encoder =
      options_.encoder.empty() ? std::string(default_encoder(options_.path)) : options_.encoder;
  if (keeps(encoder, options_.path)) return {};
  std::string why = encoder + " does not keep it";
  if (keeps(encoder, "x.mkv")) why += " in this container";
  const bool webm = keeps("vp9", "x.webm");
  if (!keeps("ffv1", "x.mkv")) return why + (webm ? "; .webm does" : "");
  return why + "; --encoder ffv1 in .mkv does" + (webm ? ", and .webm" : "");
}

void FileSink::choose_encoder() {
  spec_ = nullptr;
  const std::string standard(default_encoder(options_.path));
  if (options_.prefers_gpu && standard == kDefaultEncoder && options_.encoder.empty() &&
      !options_.quality && !options_.lossless) {
    gst::start_up();
    spec_ = gst::gpu_encoder(info_);
  }
  if (spec_ != nullptr) return;
  const std::string name = options_.encoder.empty() ? standard : options_.encoder;
  check_encoder(name, options_.quality, options_.lossless);
  check_encoder_fits(name, options_.path);
  spec_ = &gst::encoder_spec(name);
}

/// Falls back to the CPU where the GPU was chosen automatically: some can encode only a few streams
/// at a time.
void FileSink::start_first_encoder() {
  const std::string name(spec_->name);
  if (!options_.encoder.empty() || name == default_encoder(options_.path)) {
    start_encoder();
    return;
  }
  try {
    start_encoder();
    logger().debug("{}: encoded by {}", options_.path, name);
  } catch (const Error& error) {
    logger().warn("{}; {} encodes {}", error.what(), kDefaultEncoder, options_.path);
    options_.prefers_gpu = false;
    choose_encoder();
    start_encoder();
  }
}

void FileSink::start_encoder() {
  try {
    encoder_ = std::make_unique<gst::EncodeBin>(
        *spec_, info_,
        gst::EncodeSettings{options_.path, options_.quality, options_.lossless,
                            kept_alpha(*spec_, info_, options_.path)});
  } catch (const Error& error) {
    if (!is_webm(options_.path) || error.code() != ExitCode::usage) throw;
    throw Error(error.code(), error.what() + std::string(", in .mkv; webm holds VP9 alone"));
  }
  encoded_color_ = encoder_->colorimetry();
  encoded_gray_ =
      GST_VIDEO_FORMAT_INFO_IS_GRAY(gst_video_format_get_info(encoder_->format())) != FALSE;
  checked_ = false;
}

void FileSink::read_resume(std::uint64_t& packets, std::vector<std::byte>& codec_data) const {
  try {
    const nlohmann::json from = parse_json(options_.resume);
    packets = from.at("packets").get<std::uint64_t>();
    for (const nlohmann::json& value : from.at("codec-data"))
      codec_data.push_back(static_cast<std::byte>(value.get<std::uint8_t>()));
  } catch (const nlohmann::json::exception& error) {
    logger().debug("{}: {}", options_.path, error.what());
    packets = 0;
  }
  if (packets > 0) return;
  throw CannotResume(options_.path + ": what was noted of its packets is damaged");
}

/// Checks that this segment's encoder has the codec data of the first, since one head describes all
/// packets of the file.
void FileSink::check_codec_data(const GstSample* sample) {
  if (std::exchange(checked_, true) || codec_data_of(sample) == codec_data_) return;
  const std::string what = options_.path + ": the encoder describes its stream in another way";
  if (!options_.resume.empty()) throw CannotResume(what);
  throw Error(ExitCode::write_failed, what + " than before; must run without segments");
}

void FileSink::start_writer(std::vector<std::byte> codec_data) {
  EncodedVideoFormat video;
  video.codec = spec_->codec;
  video.width = info_.desc.width;
  video.height = info_.desc.height;
  video.frame_rate = info_.frame_rate;
  video.pixel_aspect = info_.pixel_aspect;
  codec_data_ = std::move(codec_data);
  video.codec_data = codec_data_;
  video.matrix = info_.desc.matrix;
  video.range = !encoded_gray_ && encoded_color_.range == GST_VIDEO_COLOR_RANGE_0_255
                    ? ColorRange::full
                    : ColorRange::limited;
  video.colorimetry = info_.colorimetry;
  video.encoder_colorimetry = gst::colorimetry_text(encoded_color_);
  video.rgb = encoded_color_.matrix == GST_VIDEO_COLOR_MATRIX_RGB;
  // Samples of a file keep the tags that the file has. RGB was converted to YCbCr here, and the
  // matrix of a camera is known.
  video.says_matrix = info_.live || traits(info_.desc.format).model == ColorModel::rgb;
  video.field_order = info_.field_order;
  video.alpha_beside = kept_alpha(*spec_, info_, options_.path) == gst::AlphaForm::second_stream;
  writer_->start(video);
  started_ = true;
}

bool FileSink::write_next(std::chrono::milliseconds wait) {
  const std::optional<gst::EncodedPicture> picture = encoder_->pull(wait);
  if (!picture) return false;
  if (!started_) start_writer(codec_data_of(picture->sample.get()));
  check_codec_data(picture->sample.get());
  const MappedPacket mapped(picture->sample, options_.path);
  std::optional<MappedPacket> alpha;
  if (picture->alpha) alpha.emplace(picture->alpha, options_.path);
  EncodedPacket packet;
  packet.data = mapped.bytes();
  if (alpha) packet.alpha = alpha->bytes();
  packet.pts_ns = picture->pts_ns;
  packet.dts_ns = picture->dts_ns;
  packet.duration_ns = picture->duration_ns;
  packet.keyframe = picture->keyframe;
  writer_->write(packet);
  return true;
}

void FileSink::write(Frame& frame) {
  if (!encoder_) start_encoder();
  while (write_next(0ms)) {
  }
  patience_.renew();
  while (!encoder_->wants_frame()) {
    if (write_next(kLook)) patience_.renew();
    check_patience("the encoder has stalled");
  }
  encoder_->push(frame);
}

std::string FileSink::checkpoint() {
  if (options_.journal.empty()) return {};
  drain();
  encoder_.reset();
  const std::uint64_t packets = writer_->checkpoint();
  if (packets == 0) return {};
  nlohmann::json codec_data = nlohmann::json::array();
  for (const std::byte value : codec_data_)
    codec_data.push_back(std::to_integer<int>(value));
  return json_text(nlohmann::json{{"packets", packets}, {"codec-data", codec_data}});
}

/// Ends a wait for a stalled encoder; what it delivered before is playable and stays.
void FileSink::check_patience(const char* what) {
  if (!patience_.is_over(kStall, kStallWhenStopped)) return;
  stalled_ = true;
  if (patience_.is_cancelled()) encoder_->stop(kStopWhenStopped);
  throw Error(ExitCode::write_failed,
              options_.path + ": " + what +
                  (started_ && !options_.keep_partial
                       ? "; what it gave is left as " + partial_path(options_.path)
                       : ""));
}

void FileSink::drain() {
  if (!encoder_ || stalled_) return;
  encoder_->end();
  patience_.renew();
  while (!encoder_->drained()) {
    if (write_next(kLook)) {
      patience_.renew();
    } else {
      check_patience("the encoder does not end");
    }
  }
  if (encoder_->missing() > 0) {
    throw Error(ExitCode::write_failed, options_.path + ": the encoder lost " +
                                            std::to_string(encoder_->missing()) + " pictures");
  }
}

void FileSink::suspend() {
  try {
    drain();
  } catch (const Error& error) {
    logger().debug("{}", error.what());
  }
  encoder_.reset();
  writer_->suspend();
  writer_.reset();
}

void FileSink::finish(Ending ending) {
  if (!writer_) return;
  if (ending == Ending::suspended) {
    suspend();
    return;
  }
  if (stalled_) {
    abandon();
    return;
  }
  try {
    if (ending != Ending::failed && (encoder_ || started_)) {
      drain();
      encoder_.reset();
      if (started_) {
        writer_->finish(ending != Ending::complete);
        shortfall_ = writer_->shortfall();
        writer_.reset();
        return;
      }
      logger().warn("{}: not written, there was no frame", options_.path);
    }
  } catch (...) {
    abandon();
    throw;
  }
  abandon();
}

void FileSink::abandon() {
  encoder_.reset();
  if (stalled_ && started_) {
    writer_->suspend();
  } else {
    writer_->abandon();
  }
  writer_.reset();
}

}  // namespace

std::unique_ptr<Sink> make_file_sink(const FileSinkOptions& options) {
  return std::make_unique<FileSink>(options);
}

}  // namespace equalux
