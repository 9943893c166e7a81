#include "pipelines/pipewire/capture_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include <equalux/error.h>
#include <linux/dma-buf.h>
#include <spa/buffer/meta.h>
#include <spa/param/param.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/common/log.h"
#include "src/common/size_text.h"
#include "src/common/system_error.h"

namespace equalux::pipewire {
namespace {

/// Largest difference between a camera's time and now; beyond it the time is of another clock.
constexpr auto kOldest = std::chrono::seconds(5);
constexpr auto kNewest = std::chrono::seconds(1);
/// Largest distance of frame numbers that counts lost frames; beyond it the numbers are no count.
constexpr std::uint64_t kMostLost = 10'000;
constexpr std::size_t kBytesOfWish = 512;

pw_properties* reader_properties(const ListedCamera& camera) {
  pw_properties* properties = pw_properties_new(nullptr, nullptr);
  const auto set = [&](const char* key, const char* value) {
    pw_properties_set(properties, key, value);
  };
  set(PW_KEY_MEDIA_TYPE, "Video");
  set(PW_KEY_MEDIA_CATEGORY, "Capture");
  set(PW_KEY_MEDIA_ROLE, "Camera");
  // By serial, because two cameras may have the same name.
  set("target.object", camera.serial.empty() ? camera.name.c_str() : camera.serial.c_str());
  return properties;
}

const spa_meta_header* header_of(const pw_buffer& buffer) {
  return static_cast<const spa_meta_header*>(
      spa_buffer_find_meta_data(buffer.buffer, SPA_META_Header, sizeof(spa_meta_header)));
}

/// Returns when the camera captured the frame, if it tells that on our clock.
Clock::time_point time_of(const pw_buffer& buffer, Clock::time_point arrived) {
  const spa_meta_header* header = header_of(buffer);
  if (header == nullptr || header->pts <= 0) return arrived;
  const Clock::time_point taken{
      std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(header->pts))};
  return taken > arrived + kNewest || taken < arrived - kOldest ? arrived : taken;
}

std::string text_of(const VideoFormat& format) {
  return size_text(format.desc) + " " +
         (format.jpegs ? "JPEG" : std::string(to_string(format.desc.format)));
}

/// Holds read access to a device's memory during its lifetime.
class DeviceRead {
 public:
  explicit DeviceRead(const spa_data& data)
      : descriptor_(data.type == SPA_DATA_DmaBuf ? static_cast<int>(data.fd) : -1) {
    tell(DMA_BUF_SYNC_START);
  }
  ~DeviceRead() { tell(DMA_BUF_SYNC_END); }
  DeviceRead(const DeviceRead&) = delete;
  DeviceRead& operator=(const DeviceRead&) = delete;

 private:
  void tell(std::uint64_t what) const {
    dma_buf_sync sync{what | DMA_BUF_SYNC_READ};
    if (descriptor_ >= 0) ::ioctl(descriptor_, DMA_BUF_IOCTL_SYNC, &sync);
  }
  int descriptor_;
};

}  // namespace

CaptureStream::CaptureStream(const Connection& connection, const std::string& name,
                             const ListedCamera& camera, const std::vector<FormatWish>& wishes,
                             const ImageDesc& usual, std::function<void(const TakenFrame&)> taken,
                             std::function<void()> changed)
    : name_(name), usual_(usual), taken_(std::move(taken)), changed_(std::move(changed)) {
  stream_ = pw_stream_new(connection.core(), "equalux", reader_properties(camera));
  if (stream_ == nullptr) {
    throw Error(ExitCode::unavailable,
                name + ": PipeWire makes no stream: " + system_error_text(errno) +
                    "; equalux doctor says what is missing");
  }
  events_.version = PW_VERSION_STREAM_EVENTS;
  events_.state_changed = [](void* self, pw_stream_state /*old*/, pw_stream_state state,
                             const char* error) {
    static_cast<CaptureStream*>(self)->on_state(state, error);
  };
  events_.param_changed = [](void* self, std::uint32_t id, const spa_pod* param) {
    if (id == SPA_PARAM_Format) static_cast<CaptureStream*>(self)->on_format(param);
  };
  events_.add_buffer = [](void* self, pw_buffer* buffer) {
    static_cast<CaptureStream*>(self)->add_buffer(buffer);
  };
  events_.remove_buffer = [](void* self, pw_buffer* buffer) {
    static_cast<CaptureStream*>(self)->remove_buffer(buffer);
  };
  events_.process = [](void* self) { static_cast<CaptureStream*>(self)->process(); };
  pw_stream_add_listener(stream_, &listener_, &events_, this);

  std::vector<std::uint8_t> memory(kBytesOfWish * wishes.size());
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
  std::vector<const spa_pod*> formats;
  for (const FormatWish& wish : wishes)
    formats.push_back(build_wish(builder, wish));
  const int result = pw_stream_connect(
      stream_, PW_DIRECTION_INPUT, PW_ID_ANY,
      static_cast<pw_stream_flags>(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS |
                                   PW_STREAM_FLAG_DONT_RECONNECT),
      formats.data(), static_cast<std::uint32_t>(formats.size()));
  if (result < 0) failure_ = system_error_text(-result);
}

CaptureStream::~CaptureStream() {
  spa_hook_remove(&listener_);
  pw_stream_destroy(stream_);
  for (const auto& [data, mapping] : mappings_)
    ::munmap(mapping.start, mapping.bytes);
}

void CaptureStream::fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
  changed_();
}

void CaptureStream::on_state(pw_stream_state state, const char* error) {
  logger().debug("{}: {}", name_, pw_stream_state_as_string(state));
  if (state == PW_STREAM_STATE_ERROR) fail(error == nullptr ? "unknown error" : error);
  if (state == PW_STREAM_STATE_UNCONNECTED && agreed_) fail("was disconnected");
}

void CaptureStream::on_format(const spa_pod* format) {
  if (format == nullptr) return;  // The camera pauses, or is about to change.
  const std::optional<VideoFormat> parsed = parse_format(format, usual_);
  if (!parsed) {
    pw_stream_set_error(stream_, -EINVAL, "no format that is known here");
    return;
  }
  if (agreed_ && (agreed_->desc != parsed->desc || agreed_->jpegs != parsed->jpegs)) {
    fail("changed its frames from " + text_of(*agreed_) + " to " + text_of(*parsed));
    return;
  }
  std::array<std::uint8_t, 1024> memory{};
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
  std::array<const spa_pod*, 2> params{build_readers_buffers(builder), build_header(builder)};
  pw_stream_update_params(stream_, params.data(), static_cast<std::uint32_t>(params.size()));
  if (agreed_) return;
  agreed_ = parsed;
  logger().debug("{}: gives {} at {}/{} a second", name_, text_of(*agreed_), agreed_->rate.num,
                 agreed_->rate.den);
  changed_();
}

/// Maps a new buffer of device memory: libpipewire maps such memory only in newer versions, if
/// allowed to.
void CaptureStream::add_buffer(pw_buffer* buffer) {
  const spa_buffer& all = *buffer->buffer;
  for (std::uint32_t i = 0; i < all.n_datas; ++i) {
    const spa_data& data = all.datas[i];
    const bool is_mappable = data.type == SPA_DATA_DmaBuf || data.type == SPA_DATA_MemFd;
    if (data.data != nullptr || !is_mappable || data.fd < 0) continue;
    Mapping mapping;
    mapping.into = data.mapoffset % static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    mapping.bytes = data.maxsize + mapping.into;
    mapping.start = ::mmap(nullptr, mapping.bytes, PROT_READ, MAP_SHARED, static_cast<int>(data.fd),
                           static_cast<off_t>(data.mapoffset - mapping.into));
    if (mapping.start == MAP_FAILED) {
      trouble_ = "gives memory that cannot be read: " + system_error_text(errno);
      continue;
    }
    mappings_[&data] = mapping;
  }
}

void CaptureStream::remove_buffer(pw_buffer* buffer) {
  for (std::uint32_t i = 0; i < buffer->buffer->n_datas; ++i) {
    const auto at = mappings_.find(&buffer->buffer->datas[i]);
    if (at == mappings_.end()) continue;
    ::munmap(at->second.start, at->second.bytes);
    mappings_.erase(at);
  }
}

/// Takes out all waiting buffers at once and passes the newest on, because a camera has few
/// buffers.
void CaptureStream::process() {
  pw_buffer* newest = nullptr;
  while (pw_buffer* buffer = pw_stream_dequeue_buffer(stream_)) {
    note_gap(*buffer, Clock::now());
    if (newest != nullptr) {
      ++lost_;
      pw_stream_queue_buffer(stream_, newest);
    }
    newest = buffer;
  }
  if (newest == nullptr) return;
  if (failure_.empty() && agreed_ && !give(*newest)) ++lost_;
  pw_stream_queue_buffer(stream_, newest);
}

/// Counts frames that never arrived. Numbers alone do not tell, because a camera that was asked for
/// fewer frames skips some without losing any.
void CaptureStream::note_gap(const pw_buffer& buffer, Clock::time_point arrived) {
  const spa_meta_header* header = header_of(buffer);
  if (header == nullptr) return;
  const Clock::time_point taken = time_of(buffer, arrived);
  if (last_number_ && header->seq > *last_number_ + 1 && agreed_) {
    std::uint64_t missing = header->seq - *last_number_ - 1;
    if (agreed_->rate.num > 0) {
      const double periods =
          std::chrono::duration<double>(taken - last_taken_).count() * agreed_->rate.value();
      missing = std::min(missing, static_cast<std::uint64_t>(
                                      std::max<std::int64_t>(0, std::llround(periods) - 1)));
    }
    if (missing <= kMostLost) lost_ += missing;
  }
  last_number_ = header->seq;
  last_taken_ = taken;
}

std::span<const Block> CaptureStream::blocks_of(const pw_buffer& buffer,
                                                std::array<Block, kMaxPlanes>& blocks) const {
  const std::size_t count = std::min<std::size_t>(buffer.buffer->n_datas, blocks.size());
  for (std::size_t i = 0; i < count; ++i) {
    const spa_data& data = buffer.buffer->datas[i];
    const auto* first = static_cast<const std::uint8_t*>(data.data);
    if (const auto at = mappings_.find(&data); at != mappings_.end())
      first = static_cast<const std::uint8_t*>(at->second.start) + at->second.into;
    const std::size_t offset = std::min(data.chunk->offset, data.maxsize);
    const std::size_t bytes = std::min<std::size_t>(data.chunk->size, data.maxsize - offset);
    blocks[i] = first == nullptr ? Block{} : Block{first + offset, bytes, data.chunk->stride};
  }
  return {blocks.data(), count};
}

/// Passes a frame on; returns false where it cannot be used.
bool CaptureStream::give(const pw_buffer& buffer) {
  std::array<Block, kMaxPlanes> memory;
  const std::span<const Block> blocks = blocks_of(buffer, memory);
  if (blocks.empty()) return false;
  const spa_meta_header* header = header_of(buffer);
  const spa_data& data = buffer.buffer->datas[0];
  const bool is_corrupted =
      (data.chunk->flags & SPA_CHUNK_FLAG_CORRUPTED) != 0 ||
      (header != nullptr && (header->flags & SPA_META_HEADER_FLAG_CORRUPTED) != 0);
  if (is_corrupted || blocks[0].bytes == 0) {
    if (trouble_.empty()) trouble_ = "says that its frames are damaged";
    return false;
  }
  const DeviceRead reading(data);
  TakenFrame frame;
  if (agreed_->jpegs) {
    frame.jpeg = {blocks[0].first, blocks[0].bytes};
  } else if (const auto view = view_in(blocks, agreed_->desc)) {
    frame.image = *view;
  } else {
    trouble_ = "gives frames of " + std::to_string(blocks[0].bytes) + " bytes in rows of " +
               std::to_string(blocks[0].stride) + ", which are not " + text_of(*agreed_);
    return false;
  }
  frame.taken = time_of(buffer, Clock::now());
  frame.lost_before = std::exchange(lost_, 0);
  taken_(frame);
  return true;
}

}  // namespace equalux::pipewire
