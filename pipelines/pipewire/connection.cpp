#include "pipelines/pipewire/connection.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include <equalux/error.h>

#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux::pipewire {
namespace {

/// Sends libpipewire's messages to our log at debug level, since they are no news to users.
void log_text(const char* text, std::va_list arguments) {
  std::array<char, 1000> line{};
  std::vsnprintf(line.data(), line.size(), text, arguments);
  logger().debug("pipewire: {}", line.data());
}

void log_of_topic(void* /*object*/, spa_log_level /*level*/, const spa_log_topic* /*topic*/,
                  const char* /*file*/, int /*line*/, const char* /*function*/, const char* text,
                  ...) {
  std::va_list arguments;
  va_start(arguments, text);
  log_text(text, arguments);
  va_end(arguments);
}

void log_list_of_topic(void* /*object*/, spa_log_level /*level*/, const spa_log_topic* /*topic*/,
                       const char* /*file*/, int /*line*/, const char* /*function*/,
                       const char* text, std::va_list arguments) {
  log_text(text, arguments);
}

void log_plain(void* /*object*/, spa_log_level /*level*/, const char* /*file*/, int /*line*/,
               const char* /*function*/, const char* text, ...) {
  std::va_list arguments;
  va_start(arguments, text);
  log_text(text, arguments);
  va_end(arguments);
}

void log_list_plain(void* /*object*/, spa_log_level /*level*/, const char* /*file*/, int /*line*/,
                    const char* /*function*/, const char* text, std::va_list arguments) {
  log_text(text, arguments);
}

void start_up() {
  static const bool started = [] {
    static const spa_log_methods methods = [] {
      spa_log_methods all{};
      all.version = SPA_VERSION_LOG_METHODS;
      all.log = log_plain;
      all.logv = log_list_plain;
      all.logt = log_of_topic;
      all.logtv = log_list_of_topic;
      return all;
    }();
    static spa_log log{};
    log.iface.type = SPA_TYPE_INTERFACE_Log;
    log.iface.version = SPA_VERSION_LOG;
    log.iface.cb = {&methods, nullptr};
    log.level = SPA_LOG_LEVEL_WARN;
    pw_init(nullptr, nullptr);
    // Keeps libpipewire's own output for users who set PIPEWIRE_DEBUG.
    if (std::getenv("PIPEWIRE_DEBUG") == nullptr) pw_log_set(&log);
    return true;
  }();
  static_cast<void>(started);
}

/// Waits until the thread of a context's data loop has entered it, as long as a second. Requests to
/// a loop that no thread has entered yet are carried out by the caller (libpipewire 0.3.65): one
/// that stops the loop may then come between the thread's look at whether to go on and its sleep,
/// and the thread would be waited for without end.
void wait_for_data_loop(pw_context* context) {
  pw_data_loop* const loop = pw_context_get_data_loop(context);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (loop != nullptr && pw_data_loop_get_thread(loop) != nullptr) {
    std::thread::id caller;
    const auto note = [](spa_loop*, bool, std::uint32_t, const void*, std::size_t, void* into) {
      *static_cast<std::thread::id*>(into) = std::this_thread::get_id();
      return 0;
    };
    pw_data_loop_invoke(loop, note, 0, nullptr, 0, true, &caller);
    if (caller != std::this_thread::get_id() || std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Loop::Loop(const std::string& name) {
  start_up();
  loop_ = pw_thread_loop_new("equalux", nullptr);
  if (loop_ != nullptr) context_ = pw_context_new(pw_thread_loop_get_loop(loop_), nullptr, 0);
  if (context_ != nullptr && pw_thread_loop_start(loop_) == 0) return;
  const std::string reason = system_error_text(errno);
  if (context_ != nullptr) pw_context_destroy(context_);
  if (loop_ != nullptr) pw_thread_loop_destroy(loop_);
  throw Error(ExitCode::unavailable,
              name + ": libpipewire does not start: " + reason +
                  "; its plugins must be installed (libpipewire-0.3-modules)");
}

Loop::~Loop() {
  pw_thread_loop_stop(loop_);
  wait_for_data_loop(context_);
  pw_context_destroy(context_);
  pw_thread_loop_destroy(loop_);
}

bool Loop::wait_until(std::chrono::steady_clock::time_point deadline) const {
  const auto left = deadline - std::chrono::steady_clock::now();
  if (left <= left.zero()) return false;
  timespec until{};
  pw_thread_loop_get_time(loop_, &until,
                          std::chrono::duration_cast<std::chrono::nanoseconds>(left).count());
  return pw_thread_loop_timed_wait_full(loop_, &until) == 0 ||
         std::chrono::steady_clock::now() < deadline;
}

Connection::Connection(const Loop& loop, const std::string& name, std::function<void()> lost)
    : loop_(loop), lost_(std::move(lost)) {
  core_ = pw_context_connect(loop.context(), nullptr, 0);
  if (core_ == nullptr) {
    throw Error(ExitCode::unavailable,
                name + ": no PipeWire answers (" + system_error_text(errno) +
                    "), must run for this user; equalux doctor says what is missing");
  }
  events_.version = PW_VERSION_CORE_EVENTS;
  events_.info = [](void* self, const pw_core_info* info) {
    static_cast<Connection*>(self)->daemon_version_ = info->version;
  };
  events_.done = [](void* self, std::uint32_t id, int sequence) {
    auto& me = *static_cast<Connection*>(self);
    if (id != PW_ID_CORE) return;
    me.answered_ = sequence;
    me.loop_.wake();
  };
  events_.error = [](void* self, std::uint32_t id, int /*sequence*/, int result,
                     const char* message) {
    auto& me = *static_cast<Connection*>(self);
    logger().debug("pipewire: error of object {}: {}", id, message);
    if (id != PW_ID_CORE || result != -EPIPE || std::exchange(me.is_lost_, true)) return;
    me.loop_.wake();
    if (me.lost_) me.lost_();
  };
  pw_core_add_listener(core_, &listener_, &events_, this);
}

Connection::~Connection() {
  spa_hook_remove(&listener_);
  pw_core_disconnect(core_);
}

bool Connection::round_trip(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  asked_ = pw_core_sync(core_, PW_ID_CORE, asked_);
  while (answered_ != asked_ && !is_lost_) {
    if (!loop_.wait_until(deadline)) return false;
  }
  return !is_lost_;
}

}  // namespace equalux::pipewire
