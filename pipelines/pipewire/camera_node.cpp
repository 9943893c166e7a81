#include "pipelines/pipewire/camera_node.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <equalux/error.h>
#include <spa/buffer/meta.h>
#include <spa/param/param.h>

#include "pipelines/picture/convert_picture.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux::pipewire {
namespace {

constexpr std::size_t kMostBuffersTried = 16;
/// Session priority of the node, below those of the kernel's cameras, so that a real camera is the
/// default if there is one.
constexpr const char* kSessionPriority = "100";

pw_properties* node_properties(const std::string& name) {
  pw_properties* properties = pw_properties_new(nullptr, nullptr);
  const auto set = [&](const char* key, const char* value) {
    pw_properties_set(properties, key, value);
  };
  set(PW_KEY_MEDIA_CLASS, "Video/Source");
  // Portals offer nodes of this role to browsers.
  set(PW_KEY_MEDIA_ROLE, "Camera");
  set(PW_KEY_MEDIA_TYPE, "Video");
  set(PW_KEY_MEDIA_CATEGORY, "Capture");
  set(PW_KEY_NODE_NAME, name.c_str());
  set(PW_KEY_NODE_DESCRIPTION, name.c_str());
  set(PW_KEY_NODE_VIRTUAL, "true");
  set(PW_KEY_PRIORITY_SESSION, kSessionPriority);
  return properties;
}

}  // namespace

CameraNode::CameraNode(const Loop& loop, const Connection& connection, const std::string& name,
                       const VideoFormat& format, ReaderCounts& counts, std::atomic<bool>& is_read,
                       std::function<void()> there)
    : loop_(loop),
      name_(name),
      format_(format),
      counts_(counts),
      is_read_(is_read),
      there_(std::move(there)) {
  stream_ = pw_stream_new(connection.core(), name.c_str(), node_properties(name));
  if (stream_ == nullptr) {
    throw Error(ExitCode::unavailable,
                name + ": PipeWire makes no camera: " + system_error_text(errno) +
                    "; equalux doctor says what is missing");
  }
  events_.version = PW_VERSION_STREAM_EVENTS;
  events_.state_changed = [](void* self, pw_stream_state /*old*/, pw_stream_state state,
                             const char* error) {
    static_cast<CameraNode*>(self)->on_state(state, error);
  };
  events_.param_changed = [](void* self, std::uint32_t id, const spa_pod* param) {
    if (id == SPA_PARAM_Format) static_cast<CameraNode*>(self)->on_format(param);
  };
  pw_stream_add_listener(stream_, &listener_, &events_, this);

  std::array<std::uint8_t, 8192> memory{};
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
  std::vector<const spa_pod*> formats;
  for (const ImageDesc& desc : offered_formats(format.desc))
    formats.push_back(build_format(builder, SPA_PARAM_EnumFormat, {desc, format.rate}));
  const int result = pw_stream_connect(
      stream_, PW_DIRECTION_OUTPUT, PW_ID_ANY,
      static_cast<pw_stream_flags>(PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS),
      formats.data(), static_cast<std::uint32_t>(formats.size()));
  if (result < 0) failure_ = system_error_text(-result);
  registry_.emplace(
      connection, [this](const Object& object) { on_object(object); },
      [this](std::uint32_t id) {
        if (links_.erase(id) > 0)
          logger().debug("{}: a reader has gone, {} are left", name_, links_.size());
      });
}

CameraNode::~CameraNode() {
  spa_hook_remove(&listener_);
  pw_stream_destroy(stream_);
}

void CameraNode::on_state(pw_stream_state state, const char* error) {
  logger().debug("{}: {}", name_, pw_stream_state_as_string(state));
  const bool was_there = is_there_;
  is_there_ = state == PW_STREAM_STATE_PAUSED || state == PW_STREAM_STATE_STREAMING;
  is_read_ = state == PW_STREAM_STATE_STREAMING;
  due_ns_.reset();
  if (state == PW_STREAM_STATE_ERROR) failure_ = error == nullptr ? "unknown error" : error;
  if (is_there_ && !was_there) there_();
  loop_.wake();
}

void CameraNode::on_format(const spa_pod* format) {
  agreed_.reset();
  if (format == nullptr) return;  // The last reader has gone.
  agreed_ = parse_format(format, format_.desc);
  if (!agreed_) {
    pw_stream_set_error(stream_, -EINVAL, "no format of this camera");
    return;
  }
  // The offered formats have the same size, each with a matrix and range of its own.
  agreed_->desc = converted_desc(format_.desc, agreed_->desc.format);
  std::array<std::uint8_t, 1024> memory{};
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
  std::array<const spa_pod*, 2> params{build_buffers(builder, agreed_->desc),
                                       build_header(builder)};
  pw_stream_update_params(stream_, params.data(), static_cast<std::uint32_t>(params.size()));
  logger().debug("{}: readers take {}", name_, to_string(agreed_->desc.format));
}

void CameraNode::on_object(const Object& object) {
  if (object.type != PW_TYPE_INTERFACE_Link) return;
  const std::string node = object.property(PW_KEY_LINK_OUTPUT_NODE);
  if (node.empty() || node != std::to_string(pw_stream_get_node_id(stream_))) return;
  if (!links_.insert(object.id).second) return;
  ++counts_.readers;
  logger().debug("{}: a reader has come, there are {}", name_, links_.size());
}

/// Returns true where a frame is due for readers that asked for fewer frames: they get one in so
/// many, whose time may be half a period off.
bool CameraNode::is_due(std::int64_t time_ns) {
  const double rate = agreed_->rate.value();
  if (rate <= 0 || (format_.rate.num > 0 && rate >= format_.rate.value())) return true;
  const auto period_ns = static_cast<std::int64_t>(1e9 / rate);
  if (due_ns_ && time_ns < *due_ns_ - period_ns / 2 && *due_ns_ - time_ns < 2 * period_ns) {
    return false;
  }
  const bool on_time = due_ns_ && std::abs(time_ns - *due_ns_) < period_ns;
  due_ns_ = (on_time ? *due_ns_ : time_ns) + period_ns;
  return true;
}

/// Returns a buffer that no reader uses; null where there is none.
pw_buffer* CameraNode::free_buffer() {
  for (std::size_t i = 0; i < kMostBuffersTried; ++i) {
    pw_buffer* buffer = pw_stream_dequeue_buffer(stream_);
    if (buffer != nullptr) return buffer;
    if (errno != EBUSY) return nullptr;
  }
  return nullptr;
}

void CameraNode::give(const Frame& frame, std::int64_t time_ns) {
  if (!is_read_ || !agreed_ || !is_due(time_ns)) return;
  pw_buffer* buffer = free_buffer();
  if (buffer == nullptr) {
    ++counts_.not_taken;
    return;
  }
  const ImageLayout layout = block_layout(agreed_->desc);
  spa_data& data = buffer->buffer->datas[0];
  const bool fits = data.data != nullptr && data.maxsize >= layout.bytes;
  data.chunk->offset = 0;
  data.chunk->size = fits ? static_cast<std::uint32_t>(layout.bytes) : 0;
  data.chunk->stride = static_cast<std::int32_t>(layout.stride[0]);
  data.chunk->flags = fits ? 0 : SPA_CHUNK_FLAG_CORRUPTED;
  if (fits) {
    convert_picture(frame.image, layout.view(agreed_->desc, static_cast<std::uint8_t*>(data.data)),
                    frame.field_order);
  }
  if (auto* header = static_cast<spa_meta_header*>(
          spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(spa_meta_header)))) {
    header->flags = frame.discontinuity ? SPA_META_HEADER_FLAG_DISCONT : 0;
    header->offset = 0;
    header->pts = time_ns;
    header->dts_offset = 0;
    header->seq = frame.index;
  }
  pw_stream_queue_buffer(stream_, buffer);
  if (pw_stream_is_driving(stream_)) pw_stream_trigger_process(stream_);
  ++(fits ? counts_.frames : counts_.not_taken);
}

}  // namespace equalux::pipewire
