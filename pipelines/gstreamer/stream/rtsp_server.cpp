#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gio/gio.h>
#include <gst/rtsp-server/rtsp-server.h>

#include "pipelines/gstreamer/stream/packet_sender.h"
#include "pipelines/gstreamer/stream/packet_source.h"
#include "src/common/log.h"

namespace equalux::gst {
namespace {

using namespace std::chrono_literals;

constexpr const char* kRole = "viewer";
constexpr const char* kSeen = "equalux-seen";
constexpr guint kMostSessions = 32;
constexpr guint kCleanUpSeconds = 2;
/// Time after which a client that takes nothing is disconnected.
constexpr auto kStuck = 5s;
/// Time that the end of the stream may need to reach the clients.
constexpr auto kLastPackets = 1s;
constexpr auto kGoodbye = 100ms;

/// State that the server's threads share; signal handlers keep it alive.
class Viewers {
 public:
  explicit Viewers(PacketMaker& maker) : maker_(&maker) {}

  void add(GstRTSPMedia* media) {
    const ElementPtr bin(gst_rtsp_media_get_element(media));
    const ElementPtr source(gst_bin_get_by_name(GST_BIN(bin.get()), "packets"));
    const ElementPtr sound(gst_bin_get_by_name(GST_BIN(bin.get()), "sound"));
    const std::lock_guard lock(mutex_);
    if (maker_ == nullptr) return;
    Viewed viewed{.media = media, .packets = std::make_unique<PacketSource>(source.get())};
    if (sound) viewed.sound = std::make_unique<SoundSource>(sound.get());
    pipelines_.push_back(std::move(viewed));
    // The answer to a client's DESCRIBE needs one key frame.
    maker_->force_keyframe();
    tell_wanted();
  }

  void remove(const GstRTSPMedia* media) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pipelines_, [&](const Viewed& each) { return each.media == media; });
    tell_wanted();
  }

  void play(const GstRTSPMedia* media, const GstRTSPClient* client, bool is_new) {
    const std::lock_guard lock(mutex_);
    viewers_ += is_new ? 1 : 0;
    if (maker_ == nullptr) return;
    for (Viewed& each : pipelines_) {
      if (each.media != media) continue;
      each.plays = true;
      each.client = client;
      each.taken = Clock::now();
    }
    maker_->force_keyframe();
    tell_wanted();
  }

  void send(const EncodedPicture& picture) {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (Viewed& each : pipelines_) {
      // Before a client plays, its pipeline takes only the first packet, a key frame.
      if (!each.plays && (each.has_first || !picture.keyframe)) continue;
      if (each.packets->push(picture)) {
        each.has_first = true;
        each.taken = now;
      } else if (each.has_first) {
        ++not_taken_;
      }
    }
    tell_wanted();
  }

  void send_sound(const EncodedSound& sound) {
    const std::lock_guard lock(mutex_);
    for (Viewed& each : pipelines_) {
      if (!each.plays && each.has_first_sound) continue;
      if (each.sound->push(sound, each.packets->stamps())) each.has_first_sound = true;
    }
    tell_wanted();
  }

  void end() {
    const std::lock_guard lock(mutex_);
    for (Viewed& each : pipelines_) {
      each.packets->end();
      if (each.sound) each.sound->end();
    }
  }

  /// Stops asking the maker for packets.
  void detach() {
    const std::lock_guard lock(mutex_);
    maker_ = nullptr;
    pipelines_.clear();
  }

  /// Returns true for a client that has taken nothing for a long time.
  [[nodiscard]] bool is_stuck(const GstRTSPClient* client) const {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    return std::any_of(pipelines_.begin(), pipelines_.end(), [&](const Viewed& each) {
      return each.plays && each.client == client && each.packets->is_full() &&
             now - each.taken > kStuck;
    });
  }

  [[nodiscard]] bool anybody() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(pipelines_.begin(), pipelines_.end(),
                       [](const Viewed& each) { return each.plays; });
  }
  [[nodiscard]] bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return std::all_of(pipelines_.begin(), pipelines_.end(),
                       [](const Viewed& each) { return each.packets->waiting() == 0; });
  }
  [[nodiscard]] SenderCounts counts() const {
    const std::lock_guard lock(mutex_);
    return {.viewers = viewers_, .reconnects = 0, .not_taken = not_taken_};
  }

 private:
  struct Viewed {
    const GstRTSPMedia* media;
    std::unique_ptr<PacketSource> packets;
    std::unique_ptr<SoundSource> sound{};  // null where the stream has none
    bool has_first = false;
    bool has_first_sound = false;
    bool plays = false;
    const GstRTSPClient* client = nullptr;  // the client that plays it; only compared
    Clock::time_point taken{};              // time of the last packet
  };

  void tell_wanted() {
    if (maker_ == nullptr) return;
    maker_->set_wanted(std::any_of(pipelines_.begin(), pipelines_.end(), [](const Viewed& each) {
      return each.plays || !each.has_first || (each.sound && !each.has_first_sound);
    }));
  }

  mutable std::mutex mutex_;
  PacketMaker* maker_;
  std::vector<Viewed> pipelines_;  // one for each client
  std::uint64_t viewers_ = 0;
  std::uint64_t not_taken_ = 0;
};

using SharedViewers = std::shared_ptr<Viewers>;

const SharedViewers& shared(gpointer data) {
  return *static_cast<SharedViewers*>(data);
}

void on_unprepared(GstRTSPMedia* media, gpointer data) {
  shared(data)->remove(media);
}

void on_media(GstRTSPMediaFactory*, GstRTSPMedia* media, gpointer data) {
  connect(media, "unprepared", G_CALLBACK(on_unprepared), shared(data));
  shared(data)->add(media);
}

void on_play(GstRTSPClient* client, GstRTSPContext* context, gpointer data) {
  const bool is_new = g_object_get_data(G_OBJECT(client), kSeen) == nullptr;
  g_object_set_data(G_OBJECT(client), kSeen, client);
  shared(data)->play(context->media, client, is_new);
}

/// Forgets a client that has hung up, before its session times out.
void on_closed(GstRTSPClient* client, gpointer) {
  gst_rtsp_client_session_filter(
      client, [](GstRTSPClient*, GstRTSPSession*, gpointer) { return GST_RTSP_FILTER_REMOVE; },
      nullptr);
}

void on_client(GstRTSPServer*, GstRTSPClient* client, gpointer data) {
  connect(client, "play-request", G_CALLBACK(on_play), shared(data));
  connect(client, "closed", G_CALLBACK(on_closed), shared(data));
}

struct UnrefContext {
  void operator()(GMainContext* context) const noexcept { g_main_context_unref(context); }
};
struct UnrefSource {
  void operator()(GSource* source) const noexcept {
    g_source_destroy(source);
    g_source_unref(source);
  }
};
/// Returns the address by which a client reaches a server at `port` through `listen`.
std::string client_address(const ServedStream& stream, int port) {
  std::string host = stream.listen;
  if (host == "0.0.0.0" || host == "::") host = g_get_host_name();
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "rtsp://" + host + ":" + std::to_string(port) + stream.path;
}

void tell_address(const std::string& name, const ServedStream& stream, int port) {
  const std::string address = client_address(stream, port);
  if (stream.listen.starts_with("127.") || stream.listen == "::1") {
    logger().info(
        "{}: served as {} to this machine alone; rtsp://USER:PASSWORD@:PORT/NAME serves the "
        "network",
        name, address);
  } else if (stream.user.empty()) {
    logger().warn(
        "{}: served as {} to everybody who reaches this machine; rtsp://USER:PASSWORD@:PORT/NAME "
        "asks who they are",
        name, address);
  } else {
    logger().info("{}: served as {} to who knows the password", name, address);
  }
}

template <typename T>
using ObjectPtr = std::unique_ptr<T, UnrefObject>;

class RtspServer final : public PacketSender {
 public:
  RtspServer(const std::string& name, const ServedStream& stream, Tracks tracks, PacketMaker& maker)
      : viewers_(std::make_shared<Viewers>(maker)),
        context_(g_main_context_new()),
        server_(gst_rtsp_server_new()) {
    if (!has_element("rtph264pay")) {
      throw Error(ExitCode::unavailable,
                  "GStreamer has no element rtph264pay: install gstreamer1.0-plugins-good");
    }
    gst_rtsp_server_set_address(server_.get(), stream.listen.c_str());
    gst_rtsp_server_set_service(server_.get(), std::to_string(stream.port).c_str());
    mount(stream, tracks);
    connect(server_.get(), "client-connected", G_CALLBACK(on_client), viewers_);
    listen(name, stream);
    thread_ = std::thread([this] { serve(); });
    tell_address(name, stream, gst_rtsp_server_get_bound_port(server_.get()));
  }

  ~RtspServer() override {
    viewers_->detach();
    gst_rtsp_server_client_filter(
        server_.get(),
        [](GstRTSPServer*, GstRTSPClient*, gpointer) { return GST_RTSP_FILTER_REMOVE; }, nullptr);
    stop_ = true;
    g_main_context_wakeup(context_.get());
    thread_.join();
  }

  void send(const EncodedPicture& picture) override { viewers_->send(picture); }
  void send_sound(const EncodedSound& sound) override { viewers_->send_sound(sound); }
  SenderCounts counts() const override { return viewers_->counts(); }

  void end() override {
    if (!viewers_->anybody()) return;
    viewers_->end();
    const auto until = Clock::now() + kLastPackets;
    while (!viewers_->is_empty() && Clock::now() < until)
      std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(kGoodbye);
  }

 private:
  void mount(const ServedStream& stream, Tracks tracks) {
    GstRTSPMediaFactory* factory = gst_rtsp_media_factory_new();
    gst_rtsp_media_factory_set_launch(
        factory, tracks == Tracks::pictures
                     ? "( appsrc name=packets ! rtph264pay name=pay0 pt=96 config-interval=-1 )"
                     : "( appsrc name=packets ! rtph264pay name=pay0 pt=96 config-interval=-1 "
                       "appsrc name=sound ! rtpmp4gpay name=pay1 pt=97 )");
    // Makes one pipeline for each client: a shared one would wait for a client that takes nothing.
    gst_rtsp_media_factory_set_shared(factory, FALSE);
    gst_rtsp_media_factory_set_protocols(
        factory,
        static_cast<GstRTSPLowerTrans>(GST_RTSP_LOWER_TRANS_UDP | GST_RTSP_LOWER_TRANS_TCP));
    connect(factory, "media-configure", G_CALLBACK(on_media), viewers_);
    if (!stream.user.empty()) {
      gst_rtsp_media_factory_add_role(factory, kRole, GST_RTSP_PERM_MEDIA_FACTORY_ACCESS,
                                      G_TYPE_BOOLEAN, TRUE, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT,
                                      G_TYPE_BOOLEAN, TRUE, nullptr);
      // Digest authentication only, since Basic sends the password itself over the network.
      const ObjectPtr<GstRTSPAuth> auth(gst_rtsp_auth_new());
      gst_rtsp_auth_set_supported_methods(auth.get(), GST_RTSP_AUTH_DIGEST);
      GstRTSPToken* token =
          gst_rtsp_token_new(GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, kRole, nullptr);
      gst_rtsp_auth_add_digest(auth.get(), stream.user.c_str(), stream.password.c_str(), token);
      gst_rtsp_token_unref(token);
      gst_rtsp_server_set_auth(server_.get(), auth.get());
    }
    const ObjectPtr<GstRTSPMountPoints> mounts(gst_rtsp_server_get_mount_points(server_.get()));
    gst_rtsp_mount_points_add_factory(mounts.get(), stream.path.c_str(), factory);
  }

  void listen(const std::string& name, const ServedStream& stream) {
    GError* raw = nullptr;
    listener_.reset(gst_rtsp_server_create_source(server_.get(), nullptr, &raw));
    const ErrorPtr error(raw);
    if (!listener_) {
      const bool taken = g_error_matches(raw, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE) != FALSE;
      const std::string port = std::to_string(stream.port);
      throw Error(ExitCode::cannot_create,
                  name + ": " +
                      (taken ? "port " + port + " is in use, must be another; 0 takes any"
                             : "cannot listen at " + stream.listen + " port " + port + ": " +
                                   (error ? error->message : "no reason given")));
    }
    g_source_attach(listener_.get(), context_.get());
    const ObjectPtr<GstRTSPSessionPool> sessions(gst_rtsp_server_get_session_pool(server_.get()));
    gst_rtsp_session_pool_set_max_sessions(sessions.get(), kMostSessions);
    clean_up_.reset(g_timeout_source_new_seconds(kCleanUpSeconds));
    g_source_set_callback(
        clean_up_.get(),
        [](gpointer self) -> gboolean {
          static_cast<RtspServer*>(self)->clean_up();
          return G_SOURCE_CONTINUE;
        },
        this, nullptr);
    g_source_attach(clean_up_.get(), context_.get());
  }

  void clean_up() {
    const ObjectPtr<GstRTSPSessionPool> sessions(gst_rtsp_server_get_session_pool(server_.get()));
    gst_rtsp_session_pool_cleanup(sessions.get());
    gst_rtsp_server_client_filter(
        server_.get(),
        [](GstRTSPServer*, GstRTSPClient* client, gpointer viewers) {
          return static_cast<Viewers*>(viewers)->is_stuck(client) ? GST_RTSP_FILTER_REMOVE
                                                                  : GST_RTSP_FILTER_KEEP;
        },
        viewers_.get());
  }

  void serve() {
    g_main_context_push_thread_default(context_.get());
    while (!stop_)
      g_main_context_iteration(context_.get(), TRUE);
    g_main_context_pop_thread_default(context_.get());
  }

  SharedViewers viewers_;
  std::unique_ptr<GMainContext, UnrefContext> context_;
  ObjectPtr<GstRTSPServer> server_;
  std::unique_ptr<GSource, UnrefSource> listener_;
  std::unique_ptr<GSource, UnrefSource> clean_up_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<PacketSender> make_rtsp_server(const std::string& name, const ServedStream& stream,
                                               Tracks tracks, PacketMaker& maker) {
  return std::make_unique<RtspServer>(name, stream, tracks, maker);
}

}  // namespace equalux::gst
