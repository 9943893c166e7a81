// A camera of PipeWire for the tests, as unlike ours as real ones are: gaps between and behind
// rows, planes apart, memory of a device, JPEGs, a form that changes while it runs.
//
// fake_camera key=value...: name, format, size=WxH, fps, gap (bytes behind each row), offset (bytes
// before the frame), apart=1 (each plane in memory of its own), device=1 (memory that its reader
// must map itself), jpeg=FILE (each frame is that file), damaged=N (each Nth frame says that it
// is), lost=N (each Nth frame never comes), later=WxH (the size from SIGUSR1 on), count=FILE (at
// SIGTERM, how many frames it had since somebody read, given or not). SIGUSR2 stops the frames.
// Ends with its parent.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <equalux/image.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/format.h>
#include <spa/param/param.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/formats.h"
#include "tests/pipewire/fake_picture.h"

namespace equalux::test {
namespace {

std::atomic<bool> g_change{false};
std::atomic<bool> g_stall{false};
std::atomic<bool> g_end{false};

struct Plan {
  std::string name = "fake";
  ImageDesc desc;
  ImageDesc later;
  int fps = 30;
  std::size_t gap = 0;
  std::size_t offset = 0;
  bool apart = false;
  bool device = false;
  std::uint64_t damaged = 0;
  std::uint64_t lost = 0;
  std::string jpeg;  // bytes
  std::string count;
};

class FakeCamera {
 public:
  explicit FakeCamera(Plan plan) : plan_(std::move(plan)), desc_(plan_.desc) {
    const pipewire::Loop::Lock lock(loop_);
    connection_.emplace(loop_, "fake camera", nullptr);
    pw_properties* properties =
        pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera",
                          PW_KEY_NODE_NAME, plan_.name.c_str(), PW_KEY_NODE_DESCRIPTION,
                          (plan_.name + " of the tests").c_str(), nullptr);
    stream_ = pw_stream_new(connection_->core(), plan_.name.c_str(), properties);
    if (stream_ == nullptr) throw std::runtime_error("no stream");
    events_.version = PW_VERSION_STREAM_EVENTS;
    events_.param_changed = [](void* self, std::uint32_t id, const spa_pod* param) {
      if (id == SPA_PARAM_Format && param != nullptr) static_cast<FakeCamera*>(self)->on_format();
    };
    events_.add_buffer = [](void* self, pw_buffer* buffer) {
      static_cast<FakeCamera*>(self)->add_buffer(*buffer);
    };
    pw_stream_add_listener(stream_, &listener_, &events_, this);
    std::array<std::uint8_t, 4096> memory{};
    spa_pod_builder builder = builder_of(memory);
    const spa_pod* format = build_format(builder);
    if (pw_stream_connect(
            stream_, PW_DIRECTION_OUTPUT, PW_ID_ANY,
            static_cast<pw_stream_flags>(PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS),
            &format, 1) < 0) {
      throw std::runtime_error("not connected");
    }
  }

  void run() {
    auto due = std::chrono::steady_clock::now();
    for (std::uint64_t number = 0; !g_end; ++number) {
      due += std::chrono::microseconds(1'000'000 / plan_.fps);
      std::this_thread::sleep_until(due);
      const pipewire::Loop::Lock lock(loop_);
      if (connection_->is_lost()) return;
      if (g_change.exchange(false)) change();
      if (!g_stall) give(number, due);
    }
    if (!plan_.count.empty()) std::ofstream(plan_.count) << had_ << "\n";
  }

 private:
  template <typename Memory>
  static spa_pod_builder builder_of(Memory& memory) {
    spa_pod_builder builder{};
    spa_pod_builder_init(&builder, memory.data(), static_cast<std::uint32_t>(memory.size()));
    return builder;
  }

  const spa_pod* build_format(spa_pod_builder& builder) const {
    if (plan_.jpeg.empty()) {
      return pipewire::build_format(builder, SPA_PARAM_EnumFormat, {desc_, {plan_.fps, 1}});
    }
    return pipewire::build_wish(builder, {.format = std::nullopt,
                                          .width = desc_.width,
                                          .height = desc_.height,
                                          .any_size = false,
                                          .rate = {plan_.fps, 1},
                                          .any_rate = true});
  }

  void change() {
    desc_ = plan_.later;
    std::array<std::uint8_t, 4096> memory{};
    spa_pod_builder builder = builder_of(memory);
    const spa_pod* format = build_format(builder);
    pw_stream_update_params(stream_, &format, 1);
  }

  [[nodiscard]] int planes() const { return plan_.apart ? traits(desc_.format).planes : 1; }
  [[nodiscard]] std::size_t stride(int plane) const {
    const auto usual = pipewire::block_layout(desc_).stride[static_cast<std::size_t>(plane)];
    // Of planes in one block the pitch of the first tells that of the others.
    const int shift =
        !plan_.apart && plane > 0 && traits(desc_.format).planes == 3 ? desc_is_halved() : 0;
    return plan_.gap == 0 ? static_cast<std::size_t>(usual)
                          : (row_bytes(desc_, 0) + plan_.gap) >> shift;
  }
  [[nodiscard]] int desc_is_halved() const { return traits(desc_.format).chroma_shift_x; }
  [[nodiscard]] std::size_t plane_bytes(int plane) const {
    return stride(plane) * static_cast<std::size_t>(plane_rows(desc_, plane));
  }
  [[nodiscard]] std::size_t block_bytes(int block) const {
    if (!plan_.jpeg.empty()) return plan_.jpeg.size() + plan_.offset;
    std::size_t bytes = plan_.offset;
    if (plan_.apart) return bytes + plane_bytes(block);
    if (plan_.gap == 0) return bytes + pipewire::block_layout(desc_).bytes;
    for (int plane = 0; plane < traits(desc_.format).planes; ++plane)
      bytes += plane_bytes(plane);
    return bytes;
  }

  void on_format() {
    std::array<std::uint8_t, 1024> memory{};
    spa_pod_builder builder = builder_of(memory);
    const int type = plan_.device ? 1 << SPA_DATA_DmaBuf : 1 << SPA_DATA_MemFd;
    std::array<const spa_pod*, 2> params{
        static_cast<const spa_pod*>(spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
            SPA_POD_CHOICE_RANGE_Int(6, 4, 8), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(planes()),
            SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(type))),
        pipewire::build_header(builder)};
    pw_stream_update_params(stream_, params.data(), static_cast<std::uint32_t>(params.size()));
  }

  void add_buffer(const pw_buffer& buffer) {
    for (std::uint32_t i = 0; i < buffer.buffer->n_datas; ++i) {
      spa_data& data = buffer.buffer->datas[i];
      const std::size_t bytes = block_bytes(static_cast<int>(i));
      const int file = ::memfd_create("fake camera", MFD_CLOEXEC);
      if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) std::abort();
      data.type = plan_.device ? SPA_DATA_DmaBuf : SPA_DATA_MemFd;
      data.flags = SPA_DATA_FLAG_READWRITE;
      data.fd = file;
      data.mapoffset = 0;
      data.maxsize = static_cast<std::uint32_t>(bytes);
      data.data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (data.data == MAP_FAILED) std::abort();
    }
  }

  void fill(const pw_buffer& buffer, std::uint64_t number) {
    const auto bytes_of = [&](std::uint32_t block) {
      return static_cast<std::uint8_t*>(buffer.buffer->datas[block].data) + plan_.offset;
    };
    if (!plan_.jpeg.empty()) {
      std::copy(plan_.jpeg.begin(), plan_.jpeg.end(), bytes_of(0));
    } else {
      const Image picture = fake_picture(desc_, number);
      const ImageLayout usual = pipewire::block_layout(desc_);
      std::size_t behind = 0;
      for (int plane = 0; plane < traits(desc_.format).planes; ++plane) {
        const auto p = static_cast<std::size_t>(plane);
        const std::size_t from = plan_.apart ? 0 : (plan_.gap == 0 ? usual.offset[p] : behind);
        for (int y = 0; y < plane_rows(desc_, plane); ++y) {
          std::copy_n(picture.view().row(plane, y), row_bytes(desc_, plane),
                      bytes_of(plan_.apart ? static_cast<std::uint32_t>(plane) : 0) + from +
                          stride(plane) * static_cast<std::size_t>(y));
        }
        behind += plane_bytes(plane);
      }
    }
    for (std::uint32_t i = 0; i < buffer.buffer->n_datas; ++i) {
      spa_chunk& chunk = *buffer.buffer->datas[i].chunk;
      chunk.offset = static_cast<std::uint32_t>(plan_.offset);
      chunk.size = static_cast<std::uint32_t>(block_bytes(static_cast<int>(i)) - plan_.offset);
      chunk.stride =
          plan_.jpeg.empty() ? static_cast<std::int32_t>(stride(static_cast<int>(i))) : 0;
      const bool is_damaged = plan_.damaged > 0 && number % plan_.damaged == 0;
      chunk.flags = is_damaged ? SPA_CHUNK_FLAG_CORRUPTED : 0;
    }
  }

  /// `taken` is when the picture was due: a real camera's time has no jitter of this machine's.
  void give(std::uint64_t number, std::chrono::steady_clock::time_point taken) {
    if (pw_stream_get_state(stream_, nullptr) != PW_STREAM_STATE_STREAMING) return;
    ++had_;
    if (plan_.lost > 0 && number % plan_.lost == 0) return;
    pw_buffer* buffer = pw_stream_dequeue_buffer(stream_);
    if (buffer == nullptr) return;
    fill(*buffer, number);
    if (auto* header = static_cast<spa_meta_header*>(
            spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(spa_meta_header)))) {
      header->flags = 0;
      header->seq = number;
      header->pts =
          std::chrono::duration_cast<std::chrono::nanoseconds>(taken.time_since_epoch()).count();
    }
    pw_stream_queue_buffer(stream_, buffer);
    if (pw_stream_is_driving(stream_)) pw_stream_trigger_process(stream_);
  }

  pipewire::Loop loop_{"fake camera"};
  const Plan plan_;
  ImageDesc desc_;
  std::uint64_t had_ = 0;
  std::optional<pipewire::Connection> connection_;
  pw_stream* stream_ = nullptr;
  spa_hook listener_{};
  pw_stream_events events_{};
};

void read_size(const std::string& text, ImageDesc& desc) {
  if (std::sscanf(text.c_str(), "%dx%d", &desc.width, &desc.height) != 2)
    throw std::runtime_error("size " + text);
}

Plan read_plan(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> values{{"format", "i420"}, {"size", "64x48"}};
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    values[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  Plan plan;
  plan.desc.matrix = ColorMatrix::bt709;
  plan.desc.range = ColorRange::full;
  for (const auto& [key, value] : values) {
    const auto number = static_cast<std::size_t>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "name") plan.name = value;
    if (key == "count") plan.count = value;
    if (key == "format") plan.desc.format = pixel_format_from(value).value();
    if (key == "size") read_size(value, plan.desc);
    if (key == "fps") plan.fps = static_cast<int>(number);
    if (key == "gap") plan.gap = number;
    if (key == "offset") plan.offset = number;
    if (key == "apart") plan.apart = number > 0;
    if (key == "device") plan.device = number > 0;
    if (key == "damaged") plan.damaged = number;
    if (key == "lost") plan.lost = number;
    if (key == "jpeg") {
      std::ifstream file(value, std::ios::binary);
      plan.jpeg = {std::istreambuf_iterator<char>(file), {}};
      if (plan.jpeg.empty()) throw std::runtime_error(value);
    }
  }
  plan.later = plan.desc;
  if (values.contains("later")) read_size(values["later"], plan.later);
  return plan;
}

}  // namespace
}  // namespace equalux::test

int main(int count, char** arguments) {
  using namespace equalux::test;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGUSR1, [](int) { g_change = true; });
  std::signal(SIGTERM, [](int) { g_end = true; });
  std::signal(SIGUSR2, [](int) { g_stall = true; });
  try {
    FakeCamera camera(read_plan({arguments + 1, arguments + count}));
    camera.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fake_camera: %s\n", error.what());
    return 1;
  }
}
