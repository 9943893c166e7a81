#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <equalux/error.h>

#include "pipelines/gstreamer/stream/packet_sender.h"
#include "pipelines/gstreamer/stream/packet_source.h"
#include "src/common/log.h"

namespace equalux::gst {
namespace {

using namespace std::chrono_literals;

/// Time that the other end may need until it takes packets, and the number of packets that proves
/// it.
constexpr auto kConnect = 10s;
constexpr std::uint64_t kTaken = 8;
/// Time after which a connection that takes no waiting packets counts as lost.
constexpr auto kPushStall = 10s;
constexpr auto kPushLook = 50ms;
constexpr auto kStopPush = 2s;
/// Time that the last packets may take.
constexpr auto kLastPush = 3s;
/// Wait between two attempts, doubled each time.
constexpr auto kFirstWait = std::chrono::milliseconds(500);
constexpr auto kMostWait = std::chrono::milliseconds(10'000);

const char* sink_of(PushProtocol protocol) {
  switch (protocol) {
    case PushProtocol::rtsp:
      return "rtspclientsink";
    case PushProtocol::rtmp:
      return "rtmp2sink";
    case PushProtocol::srt:
      break;
  }
  return "srtsink";
}

void require(const char* element, const char* package) {
  if (has_element(element)) return;
  throw Error(ExitCode::unavailable,
              std::string("GStreamer has no element ") + element + ": install " + package);
}

void require_elements(PushProtocol protocol) {
  constexpr const char* kBad = "gstreamer1.0-plugins-bad";
  require("h264parse", kBad);
  if (protocol == PushProtocol::rtsp) {
    require("rtspclientsink", "gstreamer1.0-rtsp");
    require("rtph264pay", "gstreamer1.0-plugins-good");
  } else if (protocol == PushProtocol::rtmp) {
    require("rtmp2sink", kBad);
    require("flvmux", "gstreamer1.0-plugins-good");
  } else {
    require("srtsink", kBad);
    require("mpegtsmux", kBad);
  }
}

class Pusher;

/// State that handlers of a pipeline's elements share; an element that does not stop may outlive
/// the pusher.
struct PushLink {
  std::mutex mutex;
  Pusher* pusher = nullptr;              // null once nothing more is to be reported
  std::atomic<std::uint64_t> taken = 0;  // packets
};
using SharedLink = std::shared_ptr<PushLink>;

class Pusher final : public PacketSender {
 public:
  Pusher(std::string name, PushedStream stream, Tracks tracks, PacketMaker& maker)
      : name_(std::move(name)), stream_(std::move(stream)), tracks_(tracks), maker_(&maker) {
    require_elements(stream_.protocol);
    thread_ = std::thread([this] { work(); });
    if (stream_.listens) wait_for_start();
  }

  ~Pusher() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void send(const EncodedPicture& picture) override {
    const std::lock_guard lock(mutex_);
    if (packets_ && !packets_->push(picture) && connected_) ++not_taken_;
  }

  void send_sound(const EncodedSound& sound) override {
    const std::lock_guard lock(mutex_);
    if (packets_ && sound_) sound_->push(sound, packets_->stamps());
  }

  void check() override {
    const std::lock_guard lock(mutex_);
    if (failure_) throw Error(*failure_);
  }

  void end() override {
    std::unique_lock lock(mutex_);
    ending_ = true;
    if (packets_) packets_->end();
    if (packets_ && sound_) sound_->end();
    changed_.wait_for(lock, kLastPush, [this] { return !packets_; });
    if (ever_ || delivered_) return;
    if (failure_) throw Error(*failure_);
    throw no_answer();
  }

  SenderCounts counts() const override {
    const std::lock_guard lock(mutex_);
    SenderCounts counts;
    if (stream_.listens) counts.viewers = viewers_;
    counts.reconnects = reconnects_;
    counts.not_taken = not_taken_;
    return counts;
  }

 private:
  void wait_for_start();
  void work();
  Error push_once();
  Error no_answer() const;
  Error first_failure(const Error& end) const;
  GstElement* build(Pipeline& pipeline);
  GstElement* make_sink(Pipeline& pipeline);
  GstElement* add_muxer(Pipeline& pipeline, GstElement* last) const;
  void count_taken(GstElement* source);
  void watch_callers(GstElement* sink);
  template <void (Pusher::*Tell)()>
  static void on_caller(GstElement*, gint, gpointer, gpointer data);
  void caller_came();
  void caller_left();
  void tell_wanted() const;
  void set_connected();
  bool pause(std::chrono::milliseconds wait);

  std::string name_;
  PushedStream stream_;
  Tracks tracks_;
  PacketMaker* maker_;
  SharedLink link_;  // of the current attempt

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<PacketSource> packets_;  // null while no connection is being made
  std::unique_ptr<SoundSource> sound_;     // null where there is no sound
  bool started_ = false;                   // the first attempt has succeeded or failed
  bool connected_ = false;
  bool ever_ = false;
  bool ending_ = false;
  bool delivered_ = false;  // up to the end
  bool stop_ = false;
  int callers_ = 0;
  std::uint64_t viewers_ = 0;
  std::uint64_t reconnects_ = 0;
  std::uint64_t not_taken_ = 0;
  std::optional<Error> failure_;
  std::thread thread_;
};

/// Waits for the first attempt; a listening one starts before there is a packet.
void Pusher::wait_for_start() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kConnect, [this] { return started_; });
  if (!failure_) return;
  stop_ = true;
  const Error failure = *failure_;
  lock.unlock();
  thread_.join();
  throw Error(failure);
}

GstElement* Pusher::make_sink(Pipeline& pipeline) {
  GstElement* sink = add_to(pipeline.get(), make_element(sink_of(stream_.protocol)));
  if (stream_.protocol == PushProtocol::rtsp) {
    g_object_set(sink, "location", stream_.url.c_str(), nullptr);
    gst_util_set_object_arg(G_OBJECT(sink), "protocols", "tcp");
    if (!stream_.user.empty()) {
      g_object_set(sink, "user-id", stream_.user.c_str(), "user-pw", stream_.password.c_str(),
                   nullptr);
    }
    return sink;
  }
  g_object_set(sink, "sync", FALSE, "async", FALSE, nullptr);
  if (stream_.protocol == PushProtocol::rtmp) {
    g_object_set(sink, "location", stream_.url.c_str(), nullptr);
    if (!stream_.user.empty()) {
      g_object_set(sink, "username", stream_.user.c_str(), "password", stream_.password.c_str(),
                   nullptr);
    }
    return sink;
  }
  g_object_set(sink, "uri", stream_.url.c_str(), "wait-for-connection", FALSE, "auto-reconnect",
               FALSE, nullptr);
  gst_util_set_object_arg(G_OBJECT(sink), "mode", stream_.listens ? "listener" : "caller");
  if (stream_.listens) {
    g_object_set(sink, "localaddress", stream_.host.c_str(), "localport",
                 static_cast<guint>(stream_.port), nullptr);
    watch_callers(sink);
  }
  if (stream_.latency_ms) g_object_set(sink, "latency", *stream_.latency_ms, nullptr);
  if (!stream_.passphrase.empty()) {
    g_object_set(sink, "passphrase", stream_.passphrase.c_str(), nullptr);
  }
  if (!stream_.stream_id.empty()) {
    g_object_set(sink, "streamid", stream_.stream_id.c_str(), nullptr);
  }
  return sink;
}

GstElement* Pusher::add_muxer(Pipeline& pipeline, GstElement* last) const {
  if (stream_.protocol == PushProtocol::rtsp) return last;
  const bool rtmp = stream_.protocol == PushProtocol::rtmp;
  GstElement* muxer = add_to(pipeline.get(), make_element(rtmp ? "flvmux" : "mpegtsmux"));
  // A datagram of SRT holds seven packets of a transport stream.
  if (rtmp) g_object_set(muxer, "streamable", TRUE, nullptr);
  if (!rtmp) g_object_set(muxer, "alignment", 7, nullptr);
  gst_element_link(last, muxer);
  return muxer;
}

GstElement* Pusher::build(Pipeline& pipeline) {
  GstElement* source = add_to(pipeline.get(), make_element("appsrc"));
  GstElement* parser = add_to(pipeline.get(), make_element("h264parse"));
  // Repeats the parameter sets, which later viewers need, too.
  g_object_set(parser, "config-interval", -1, nullptr);
  gst_element_link(source, parser);
  GstElement* sink = make_sink(pipeline);
  GstElement* last = add_muxer(pipeline, parser);
  gst_element_link(last, sink);
  if (tracks_ == Tracks::pictures_and_sound) {
    GstElement* sound = add_to(pipeline.get(), make_element("appsrc", "sound"));
    GstElement* sound_parser = add_to(pipeline.get(), make_element("aacparse"));
    gst_element_link_many(sound, sound_parser, last == parser ? sink : last, nullptr);
  }
  count_taken(source);
  return source;
}

void Pusher::count_taken(GstElement* source) {
  const PadPtr pad(gst_element_get_static_pad(source, "src"));
  gst_pad_add_probe(
      pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo*, gpointer link) {
        ++(*static_cast<SharedLink*>(link))->taken;
        return GST_PAD_PROBE_OK;
      },
      new SharedLink(link_), [](gpointer link) { delete static_cast<SharedLink*>(link); });
}

template <void (Pusher::*Tell)()>
void Pusher::on_caller(GstElement*, gint, gpointer, gpointer data) {
  const SharedLink& link = *static_cast<SharedLink*>(data);
  const std::lock_guard lock(link->mutex);
  if (link->pusher != nullptr) (link->pusher->*Tell)();
}

void Pusher::watch_callers(GstElement* sink) {
  connect(sink, "caller-added", G_CALLBACK(on_caller<&Pusher::caller_came>), link_);
  connect(sink, "caller-removed", G_CALLBACK(on_caller<&Pusher::caller_left>), link_);
}

void Pusher::caller_came() {
  const std::lock_guard lock(mutex_);
  ++callers_;
  ++viewers_;
  maker_->force_keyframe();
  tell_wanted();
}

void Pusher::caller_left() {
  const std::lock_guard lock(mutex_);
  callers_ = std::max(callers_ - 1, 0);
  tell_wanted();
}

void Pusher::tell_wanted() const {
  maker_->set_wanted(packets_ != nullptr && (!stream_.listens || callers_ > 0));
}

void Pusher::set_connected() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(connected_, true)) return;
  if (std::exchange(ever_, true)) {
    ++reconnects_;
    logger().info("{}: connected again", name_);
  } else if (stream_.listens) {
    logger().info("{}: waits for callers at {}{}", name_, stream_.url,
                  stream_.passphrase.empty() ? "; passphrase=TEXT behind a ? encrypts" : "");
  } else {
    logger().info("{}: connected", name_);
  }
}

Error Pusher::no_answer() const {
  return {ExitCode::cannot_create, name_ + ": " + stream_.host + " port " +
                                       std::to_string(stream_.port) + " does not answer"};
}

/// Returns the error of the first attempt, for the caller that started it.
Error Pusher::first_failure(const Error& end) const {
  return {ExitCode::cannot_create,
          end.what() + std::string(stream_.listens
                                       ? "; must be an address of this machine and a free port"
                                       : "; is the address right, and does its server take it?")};
}

/// Sends until the end, and returns what ended it.
Error Pusher::push_once() {
  Pipeline pipeline;
  Messages messages(pipeline.get());
  link_ = std::make_shared<PushLink>();
  link_->pusher = this;
  // To be set up before the pipeline starts.
  auto packets = std::make_unique<PacketSource>(build(pipeline));
  std::unique_ptr<SoundSource> sound;
  if (tracks_ == Tracks::pictures_and_sound) {
    sound = std::make_unique<SoundSource>(element_of(pipeline.get(), "sound"));
  }
  const bool started =
      gst_element_set_state(pipeline.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  messages.poll();
  std::unique_lock lock(mutex_);
  if (started && !messages.failed()) {
    packets_ = std::move(packets);
    sound_ = std::move(sound);
    maker_->force_keyframe();
    tell_wanted();
  }
  auto moved = Clock::now();
  std::uint64_t taken = 0;
  while (packets_ && !stop_ && !messages.failed() && !messages.ended()) {
    // rtspclientsink continues after its server has hung up, and sends to nobody.
    if (messages.warned_of_resource()) break;
    // At most one packet waits while all is well.
    const bool idle = packets_->waiting() < 2;
    lock.unlock();
    if (stream_.listens || link_->taken >= kTaken) set_connected();
    if (const std::uint64_t now = link_->taken; now != std::exchange(taken, now) || idle) {
      moved = Clock::now();
    }
    messages.poll(kPushLook);
    lock.lock();
    if (!started_ && connected_) {
      started_ = true;
      changed_.notify_all();
    }
    if (Clock::now() - moved > (connected_ ? kPushStall : kConnect)) break;
  }
  if (messages.ended()) delivered_ = true;
  packets_.reset();
  sound_.reset();
  const bool was_connected = std::exchange(connected_, false);
  tell_wanted();
  changed_.notify_all();
  lock.unlock();
  pipeline.stop(kStopPush);
  {
    const std::lock_guard told(link_->mutex);
    link_->pusher = nullptr;
  }
  callers_ = 0;
  if (messages.failed()) return messages.error(name_, Role::output);
  if (!was_connected) return no_answer();
  return {ExitCode::write_failed,
          name_ + ": " + stream_.host + " port " + std::to_string(stream_.port) + " takes no more"};
}

/// Waits; returns false once the end has come.
bool Pusher::pause(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, wait, [this] { return stop_; });
}

void Pusher::work() {
  std::chrono::milliseconds wait = kFirstWait;
  for (;;) {
    std::optional<Error> end;
    try {
      end = push_once();
    } catch (const Error& error) {
      end = error;
    }
    bool was_there = false;
    {
      const std::lock_guard lock(mutex_);
      if (stop_ || delivered_) return;
      was_there = ever_;
      started_ = true;
      if (ending_ || !ever_) {
        failure_.emplace(first_failure(*end));
        changed_.notify_all();
        return;
      }
    }
    if (link_->taken >= kTaken) wait = kFirstWait;
    if (was_there && wait == kFirstWait) {
      logger().warn("{}; it is tried again until it is back", end->what());
    }
    if (!pause(wait)) return;
    wait = std::min(2 * wait, kMostWait);
  }
}

}  // namespace

std::unique_ptr<PacketSender> make_pusher(const std::string& name, const PushedStream& stream,
                                          Tracks tracks, PacketMaker& maker) {
  return std::make_unique<Pusher>(name, stream, tracks, maker);
}

}  // namespace equalux::gst
