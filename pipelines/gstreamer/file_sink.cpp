#include "file_sink.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <log.h>

#include "../container/container.h"
#include "encode_bin.h"
#include "encoder_table.h"
#include "gst_formats.h"
#include "video_writer.h"

namespace equalux {

namespace {

using namespace std::chrono_literals;

/// An encoder that delivers nothing for so long, while it should, has stalled.
constexpr auto kStall = 20s;
/// How long write() waits for the encoder before it looks again.
constexpr auto kLook = 2ms;

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
  void finish(Ending ending) override;
  std::string name() const override { return options_.path; }

 private:
  bool write_next(std::chrono::milliseconds wait);
  void start_writer(const GstSample* sample);
  void drain();

  FileSinkOptions options_;
  StreamInfo info_;
  const gst::EncoderSpec* spec_ = nullptr;
  std::unique_ptr<ContainerWriter> writer_;
  std::unique_ptr<gst::EncodeBin> encoder_;
  bool started_ = false;
};

void FileSink::open(const StreamInfo& info) {
  info_ = info;
  check_encoder(options_.encoder, options_.quality, options_.lossless);
  spec_ = &gst::encoder_spec(options_.encoder);
  ContainerWriterOptions container;
  container.output_path = options_.path;
  if (options_.copy_streams) container.copy_from = info.container_path;
  container.drop_streams = options_.drop_streams;
  writer_ = gst::make_video_writer(container);
  writer_->check(std::string(spec_->codec));
  for (const std::string& dropped : writer_->dropped_streams()) {
    logger().warn("{}: left out: {}", options_.path, dropped);
  }
  encoder_ = std::make_unique<gst::EncodeBin>(
      *spec_, info, gst::EncodeSettings{options_.path, options_.quality, options_.lossless});
}

void FileSink::start_writer(const GstSample* sample) {
  EncodedVideoFormat video;
  video.codec = spec_->codec;
  video.width = info_.desc.width;
  video.height = info_.desc.height;
  video.frame_rate = info_.frame_rate;
  video.pixel_aspect = info_.pixel_aspect;
  video.codec_data = codec_data_of(sample);
  video.matrix = info_.desc.matrix;
  video.range = encoder_->colorimetry().range == GST_VIDEO_COLOR_RANGE_0_255 ? ColorRange::full
                                                                             : ColorRange::limited;
  video.colorimetry = info_.colorimetry;
  video.field_order = info_.field_order;
  writer_->start(video);
  started_ = true;
}

bool FileSink::write_next(std::chrono::milliseconds wait) {
  const std::optional<gst::EncodedPicture> picture = encoder_->pull(wait);
  if (!picture) return false;
  if (!started_) start_writer(picture->sample.get());
  GstBuffer* buffer = gst_sample_get_buffer(picture->sample.get());
  GstMapInfo mapped{};
  if (gst_buffer_map(buffer, &mapped, GST_MAP_READ) == FALSE) {
    throw Error(ExitCode::write_failed, options_.path + ": an encoded picture cannot be read");
  }
  struct Unmap {
    GstBuffer* buffer;
    GstMapInfo* mapped;
    ~Unmap() { gst_buffer_unmap(buffer, mapped); }
  } const unmap{buffer, &mapped};
  EncodedPacket packet;
  packet.data = {reinterpret_cast<const std::byte*>(mapped.data), mapped.size};
  packet.pts_ns = picture->pts_ns;
  packet.dts_ns = picture->dts_ns;
  packet.duration_ns = picture->duration_ns;
  packet.keyframe = picture->keyframe;
  writer_->write(packet);
  return true;
}

void FileSink::write(Frame& frame) {
  while (write_next(0ms)) {
  }
  const auto deadline = Clock::now() + kStall;
  while (!encoder_->wants_frame()) {
    write_next(kLook);
    if (Clock::now() > deadline) {
      throw Error(ExitCode::write_failed, options_.path + ": the encoder has stalled");
    }
  }
  encoder_->push(frame);
}

void FileSink::drain() {
  encoder_->end();
  auto deadline = Clock::now() + kStall;
  while (!encoder_->drained()) {
    if (write_next(kLook)) {
      deadline = Clock::now() + kStall;
    } else if (Clock::now() > deadline) {
      throw Error(ExitCode::write_failed, options_.path + ": the encoder does not end");
    }
  }
  if (encoder_->missing() > 0) {
    throw Error(ExitCode::write_failed, options_.path + ": the encoder lost " +
                                            std::to_string(encoder_->missing()) + " pictures");
  }
}

void FileSink::finish(Ending ending) {
  if (!writer_) return;
  try {
    if (ending != Ending::failed && encoder_) {
      drain();
      encoder_.reset();
      if (started_) {
        writer_->finish(ending != Ending::complete);
        writer_.reset();
        return;
      }
      logger().warn("{}: not written, there was no frame", options_.path);
    }
  } catch (...) {
    encoder_.reset();
    writer_->abandon();
    writer_.reset();
    throw;
  }
  encoder_.reset();
  writer_->abandon();
  writer_.reset();
}

}  // namespace

std::unique_ptr<Sink> make_file_sink(const FileSinkOptions& options) {
  return std::make_unique<FileSink>(options);
}

}  // namespace equalux
