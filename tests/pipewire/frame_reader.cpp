#include "tests/pipewire/frame_reader.h"

#include <array>
#include <stdexcept>

#include <spa/buffer/meta.h>
#include <spa/param/format.h>
#include <spa/param/param.h>

namespace equalux::test {
namespace {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string tight(const ConstImageView& image) {
  std::string bytes;
  for (int plane = 0; plane < traits(image.desc.format).planes; ++plane)
    for (int y = 0; y < plane_rows(image.desc, plane); ++y)
      bytes.append(reinterpret_cast<const char*>(image.row(plane, y)),
                   row_bytes(image.desc, plane));
  return bytes;
}

/// Whatever the camera has, or one format of it.
const spa_pod* wish(spa_pod_builder& builder, std::optional<PixelFormat> format,
                    std::uint32_t rate) {
  spa_pod_frame frame{};
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
  if (format) {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_format,
                        SPA_POD_Id(pipewire::spa_format_of(*format)), 0);
  }
  if (rate > 0) {
    const spa_fraction wanted{rate, 1};
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&wanted), 0);
  }
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

}  // namespace

FrameReader::FrameReader(const std::string& camera, std::optional<PixelFormat> format,
                         std::uint32_t rate, ReaderHabit habit)
    : habit_(habit) {
  const pipewire::Loop::Lock lock(loop_);
  connection_.emplace(loop_, "reader", nullptr);
  pw_properties* properties = pw_properties_new(nullptr, nullptr);
  pw_properties_set(properties, PW_KEY_MEDIA_TYPE, "Video");
  pw_properties_set(properties, PW_KEY_MEDIA_CATEGORY, "Capture");
  pw_properties_set(properties, PW_KEY_MEDIA_ROLE, "Camera");
  pw_properties_set(properties, "target.object", camera.c_str());
  stream_ = pw_stream_new(connection_->core(), "reader", properties);
  if (stream_ == nullptr) throw std::runtime_error("no stream");
  events_.version = PW_VERSION_STREAM_EVENTS;
  events_.param_changed = [](void* self, std::uint32_t id, const spa_pod* param) {
    if (id == SPA_PARAM_Format) static_cast<FrameReader*>(self)->on_format(param);
  };
  events_.state_changed = [](void* self, pw_stream_state, pw_stream_state state,
                             const char* error) {
    if (state != PW_STREAM_STATE_ERROR) return;
    auto& me = *static_cast<FrameReader*>(self);
    const std::lock_guard guard(me.mutex_);
    me.failure_ = error == nullptr ? "?" : error;
    me.changed_.notify_all();
  };
  events_.process = [](void* self) { static_cast<FrameReader*>(self)->take(); };
  pw_stream_add_listener(stream_, &listener_, &events_, this);
  std::array<std::uint8_t, 1024> memory{};
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
  const spa_pod* params = wish(builder, format, rate);
  pw_stream_connect(
      stream_, PW_DIRECTION_INPUT, PW_ID_ANY,
      static_cast<pw_stream_flags>(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS |
                                   PW_STREAM_FLAG_DONT_RECONNECT),
      &params, 1);
}

FrameReader::~FrameReader() {
  const pipewire::Loop::Lock lock(loop_);
  spa_hook_remove(&listener_);
  pw_stream_destroy(stream_);
  connection_.reset();
}

void FrameReader::on_format(const spa_pod* format) {
  if (format == nullptr) return;
  const std::lock_guard guard(mutex_);
  format_ = pipewire::parse_format(format, ImageDesc{});
  if (!format_) return;
  std::array<std::uint8_t, 1024> memory{};
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
  std::array<const spa_pod*, 2> params{pipewire::build_buffers(builder, format_->desc),
                                       pipewire::build_header(builder)};
  pw_stream_update_params(stream_, params.data(), static_cast<std::uint32_t>(params.size()));
}

void FrameReader::take() {
  while (pw_buffer* buffer = pw_stream_dequeue_buffer(stream_)) {
    const auto* header = static_cast<const spa_meta_header*>(
        spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(spa_meta_header)));
    const spa_data& data = buffer->buffer->datas[0];
    {
      const std::lock_guard guard(mutex_);
      if (header != nullptr) {
        if (count_ > 0 && header->seq > last_number_) missed_ += header->seq - last_number_ - 1;
        last_number_ = header->seq;
      }
      ++count_;
      if (habit_ == ReaderHabit::counts) {
        pw_stream_queue_buffer(stream_, buffer);
        continue;
      }
      const ImageLayout layout = pipewire::block_layout(format_->desc);
      ReadFrame frame;
      if (header != nullptr) {
        frame.number = header->seq;
        frame.time_ns = header->pts;
        frame.latency_ms = static_cast<double>(monotonic_ns() - header->pts) * 1e-6;
      }
      if (data.chunk->size >= layout.bytes) {
        frame.bytes = tight(layout.view(format_->desc, static_cast<std::uint8_t*>(data.data)));
      }
      frames_.push_back(std::move(frame));
      changed_.notify_all();
    }
    if (habit_ != ReaderHabit::holds) pw_stream_queue_buffer(stream_, buffer);
  }
}

std::vector<ReadFrame> FrameReader::frames(std::size_t count, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return frames_.size() >= count || !failure_.empty(); });
  return frames_;
}

std::uint64_t FrameReader::count() {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::uint64_t FrameReader::last_number() {
  const std::lock_guard lock(mutex_);
  return last_number_;
}

std::uint64_t FrameReader::missed() {
  const std::lock_guard lock(mutex_);
  return missed_;
}

std::optional<pipewire::VideoFormat> FrameReader::format() {
  const std::lock_guard guard(mutex_);
  return format_;
}

std::string FrameReader::failure() {
  const std::lock_guard guard(mutex_);
  return failure_;
}

}  // namespace equalux::test
