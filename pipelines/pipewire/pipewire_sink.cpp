#include "pipelines/pipewire/pipewire_sink.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include <equalux/error.h>

#include "pipelines/core/pace.h"
#include "pipelines/picture/alpha_plane.h"
#include "pipelines/pipewire/camera_node.h"
#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/registry.h"
#include "src/common/log.h"

namespace equalux {
namespace {

using namespace std::chrono_literals;
using pipewire::CameraNode;
using pipewire::Connection;
using pipewire::Loop;
using pipewire::Object;
using pipewire::Registry;

constexpr auto kAnswer = 5000ms;  ///< then a silent daemon counts as stalled
constexpr timespec kRetryPeriod{0, 500'000'000};

class PipewireSink final : public Sink {
 public:
  explicit PipewireSink(PipewireSinkOptions options)
      : options_(std::move(options)), name_("pipewire:" + options_.camera) {}
  ~PipewireSink() override { close(); }

  void open(const StreamInfo& info) override;
  void write(Frame& frame) override;
  void finish(Ending /*ending*/) override { close(); }
  void cancel() noexcept override { pace_.cancel(); }
  bool wants_frames() const override { return is_read_; }
  std::string why_opaque(const StreamInfo& info) const override {
    return info.transparent || has_alpha(info.desc.format) ? "a camera has opaque pictures alone"
                                                           : "";
  }
  std::string name() const override { return name_; }
  std::string summary() const override { return summary_; }

 private:
  void look_around();
  void await_node();
  void make_node();
  void lose();
  void retry();
  void come_back();
  void watch_timer(bool on);
  void close();

  PipewireSinkOptions options_;
  std::string name_;
  bool live_ = false;
  Pace pace_;
  pipewire::VideoFormat format_;
  pipewire::ReaderCounts counts_;
  std::uint64_t came_back_ = 0;
  std::string summary_;
  std::atomic<bool> is_read_{false};

  std::optional<Loop> loop_;
  // Used with the loop's lock held from here on.
  std::optional<Connection> connection_;
  std::optional<CameraNode> node_;
  spa_source* timer_ = nullptr;
  bool is_lost_ = false;
  Clock::time_point lost_at_;
};

void PipewireSink::open(const StreamInfo& info) {
  if (pipewire::offered_formats(info.desc).empty()) {
    throw Error(ExitCode::usage, name_ + ": takes pictures, not " +
                                     std::string(to_string(info.desc.format)) +
                                     "; must be the output of filters that give some");
  }
  live_ = info.live;
  format_ = {info.desc, info.frame_rate};
  loop_.emplace(name_);
  try {
    const Loop::Lock lock(*loop_);
    connection_.emplace(*loop_, name_, [this] { lose(); });
    look_around();
    make_node();
    await_node();
  } catch (...) {
    close();
    throw;
  }
  logger().info("{}: a camera of {}x{}; programs list it as {}", name_, info.desc.width,
                info.desc.height, options_.camera);
}

/// Checks what other cameras the daemon has.
void PipewireSink::look_around() {
  bool has_manager = false;
  bool is_taken = false;
  const Registry registry(*connection_, [&](const Object& object) {
    has_manager = has_manager || pipewire::is_session_manager(object);
    is_taken = is_taken || (pipewire::is_camera(object) &&
                            object.property(PW_KEY_NODE_NAME) == options_.camera);
  });
  if (!connection_->round_trip(kAnswer)) {
    throw Error(ExitCode::unavailable, name_ +
                                           ": PipeWire does not answer; must be restarted "
                                           "(systemctl --user restart pipewire)");
  }
  if (is_taken) {
    throw Error(ExitCode::cannot_create,
                name_ + ": there is a camera of that name, must be another one");
  }
  if (!has_manager) {
    logger().warn(
        "{}: no session manager runs that connects programs with cameras, must "
        "(WirePlumber)",
        name_);
  }
}

void PipewireSink::make_node() {
  node_.emplace(*loop_, *connection_, options_.camera, format_, counts_, is_read_, [this] {
    if (is_lost_) come_back();
  });
}

void PipewireSink::await_node() {
  const auto deadline = Clock::now() + kAnswer;
  while (!node_->is_there() && node_->failure().empty() && !connection_->is_lost()) {
    if (!loop_->wait_until(deadline)) break;
  }
  if (node_->is_there()) return;
  throw Error(ExitCode::unavailable,
              name_ + ": PipeWire makes no camera: " +
                  (node_->failure().empty() ? "it does not answer" : node_->failure()) +
                  "; equalux doctor says what is missing");
}

void PipewireSink::write(Frame& frame) {
  if (!live_) pace_.wait_for(frame);
  if (frame.unseen) return;
  const Clock::time_point taken =
      live_ && frame.captured != Clock::time_point{} ? frame.captured : Clock::now();
  const Loop::Lock lock(*loop_);
  if (node_) {
    node_->give(
        frame,
        std::chrono::duration_cast<std::chrono::nanoseconds>(taken.time_since_epoch()).count());
  }
}

/// Called in the loop's thread. Objects that call from there must not be destroyed here.
void PipewireSink::lose() {
  is_read_ = false;
  // Before the node exists, open() reports the error; and a daemon may go while it comes.
  if (!node_ || is_lost_) return;
  logger().warn("{}: PipeWire has gone; waiting for it to come back", name_);
  is_lost_ = true;
  lost_at_ = Clock::now();
  watch_timer(true);
}

void PipewireSink::watch_timer(bool on) {
  if (timer_ == nullptr) {
    timer_ = pw_loop_add_timer(
        loop_->events(),
        [](void* self, std::uint64_t) { static_cast<PipewireSink*>(self)->retry(); }, this);
  }
  timespec first = on ? kRetryPeriod : timespec{};
  timespec period = first;
  pw_loop_update_timer(loop_->events(), timer_, &first, &period, false);
}

/// Called every half second, until the camera is there again.
void PipewireSink::retry() {
  // Requested, and not there yet.
  if (node_ && node_->failure().empty() && !connection_->is_lost()) return;
  node_.reset();
  connection_.reset();
  try {
    connection_.emplace(*loop_, name_, [this] { lose(); });
    make_node();
  } catch (const Error& error) {
    logger().debug("not back yet: {}", error.what());
  }
}

void PipewireSink::come_back() {
  watch_timer(false);
  is_lost_ = false;
  ++came_back_;
  logger().warn("{}: back after {:.1f} s", name_, milliseconds(Clock::now() - lost_at_) / 1000);
}

void PipewireSink::close() {
  if (!loop_) return;
  {
    const Loop::Lock lock(*loop_);
    if (timer_ != nullptr) pw_loop_destroy_source(loop_->events(), timer_);
    timer_ = nullptr;
    node_.reset();
    connection_.reset();
  }
  loop_.reset();
  is_read_ = false;
  summary_ = name_ + ": " + counted(counts_.readers, "reader") + ", " +
             counted(counts_.frames, "frame") + " given";
  if (counts_.not_taken > 0) {
    summary_ += ", " + std::to_string(counts_.not_taken) + " not taken by slow readers";
  }
  if (came_back_ > 0) summary_ += "; " + std::to_string(came_back_) + " reconnected";
}

}  // namespace

std::unique_ptr<Sink> make_pipewire_sink(const PipewireSinkOptions& options) {
  return std::make_unique<PipewireSink>(options);
}

}  // namespace equalux
