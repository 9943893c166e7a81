#include "pipelines/control/page_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <equalux/error.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pipelines/control/page_html.h"
#include "pipelines/control/page_requests.h"
#include "pipelines/control/serve_address.h"
#include "pipelines/files/descriptor_io.h"
#include "pipelines/opencv/display/live_picture.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

using Time = std::chrono::steady_clock::time_point;

/// Connections above the limit that MHD may accept: it accepts ten per turn, and the next turn
/// closes those that are too many.
constexpr unsigned kMostOnTop = 16;
constexpr std::chrono::milliseconds kLongestTurn{500};
constexpr std::chrono::milliseconds kNextLook{20};  ///< until the next look for a picture
/// Time for viewers to receive the end of their streams after the run has ended.
constexpr std::chrono::milliseconds kLongestEnd{500};
constexpr std::size_t kStreamBlock = 131'072;  ///< bytes per write of a viewer's stream
/// Bytes that may wait in the kernel for a slow viewer: what waits there cannot be replaced by a
/// newer picture.
constexpr int kMostUnsent = 65'536;
/// Age up to which an existing picture is sent to a new viewer at once.
constexpr std::chrono::milliseconds kFresh{200};

/// Origin of a caller: its address, or for IPv6 the first 64 bits, which one household shares.
using Origin = std::array<unsigned char, 16>;

Origin origin_of(const sockaddr* address) {
  Origin origin{};
  if (address->sa_family == AF_INET6) {
    std::memcpy(origin.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 8);
  } else if (address->sa_family == AF_INET) {
    std::memcpy(origin.data() + 12, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 4);
  }
  return origin;
}

class Server;
class Viewer;

/// A connection, from its beginning to its end.
struct Link {
  MHD_Connection* connection = nullptr;
  int fd = -1;
  Origin origin{};
  Time since;     ///< of connecting, or of the begin or end of the last request
  Time deadline;  ///< for its current state
  Time look_until;
  std::optional<Time> held_until;  ///< set while it is suspended
  bool present = false;            ///< waits at /api/here
  bool proved = false;             ///< has made a request that was admitted
  bool busy = false;               ///< has a request that is not answered completely
  bool guessed = false;            ///< is delayed for a wrong token
  bool closing = false;
  bool has_nul = false;      ///< in the address of the request
  Viewer* viewer = nullptr;  ///< set while it gets a stream of pictures; lives as long as the reply
};

/// A stream of pictures to a connection. It takes the newest picture whenever there is room for
/// one, so that pictures missed by a slow viewer do not queue. Each part ends with the next
/// boundary, because a browser shows a picture only when it has seen that.
class Viewer {
 public:
  Viewer(Server& server, Link& link, const StreamForm& form, LiveMonitor& monitor, JpegCache& jpegs)
      : server_(server),
        link_(link),
        form_(form),
        monitor_(monitor),
        jpegs_(jpegs),
        due_(Clock::now()) {
    head_ = "--" + std::string(kBoundary);
    monitor_.count_viewers([](ViewerCounts& counts) {
      ++counts.now;
      ++counts.came;
    });
  }
  ~Viewer() {
    monitor_.count_viewers([](ViewerCounts& counts) { --counts.now; });
  }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// Requests the next picture, and returns it once it is there.
  [[nodiscard]] std::shared_ptr<const PicturePair> next_picture() {
    const Time now = Clock::now();
    if (now >= due_) {
      auto pair = monitor_.newest();
      if (pair != nullptr && pair->serial != shown_ && pair->kept_at >= due_ - kFresh) return pair;
    }
    monitor_.ask_for_picture(due_);
    return nullptr;
  }
  /// Time of the next look if nothing happens before.
  [[nodiscard]] Time due() const { return due_; }

  /// Copies up to `most` bytes; 0 = nothing before the next picture.
  [[nodiscard]] std::size_t read(char* to, std::size_t most) {
    if (sent_ == size() && !ended_) {
      if (const auto pair = next_picture()) begin_part(*pair);
    }
    std::size_t got = 0;
    std::size_t begins = 0;
    for (const std::string_view part : parts()) {
      if (sent_ >= begins && sent_ < begins + part.size() && got < most) {
        const std::size_t count = part.copy(to + got, most - got, sent_ - begins);
        got += count;
        sent_ += count;
      }
      begins += part.size();
    }
    return got;
  }
  /// Ends the stream after the current picture.
  void end() {
    if (ended_ || sent_ < size()) return;
    ended_ = true;
    head_ = "--\r\n";
    jpeg_ = nullptr;
    tail_ = {};
    sent_ = 0;
  }
  [[nodiscard]] bool is_over() const { return ended_ && sent_ == size(); }
  [[nodiscard]] Server& server() const { return server_; }
  /// The connection, which exists until the reply ends.
  [[nodiscard]] Link& link() const { return link_; }

 private:
  [[nodiscard]] std::array<std::string_view, 3> parts() const {
    return {head_, jpeg_ == nullptr ? std::string_view() : *jpeg_, tail_};
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t size = 0;
    for (const std::string_view part : parts())
      size += part.size();
    return size;
  }
  void begin_part(const PicturePair& pair) {
    jpeg_ = jpegs_.jpeg(pair, form_.picture);
    head_ = "\r\nContent-Type: image/jpeg\r\nContent-Length: " + std::to_string(jpeg_->size()) +
            "\r\n\r\n";
    tail_ = kTail;
    sent_ = 0;
    shown_ = pair.serial;
    const Time now = Clock::now();
    if (form_.rate) {
      // Counts from the time at which the picture was due, so that delays do not lower the rate.
      const auto period = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / *form_.rate));
      due_ = std::max(due_ + period, now - period);
    } else {
      due_ = now;
    }
    monitor_.count_viewers([](ViewerCounts& counts) { ++counts.pictures; });
  }

  static constexpr std::string_view kTail = "\r\n--equalux-picture";
  static_assert(kTail.ends_with(kBoundary));

  Server& server_;
  Link& link_;
  const StreamForm form_;
  LiveMonitor& monitor_;
  JpegCache& jpegs_;
  Time due_;  // of the next picture
  std::uint64_t shown_ = 0;
  std::string head_;
  JpegCache::Bytes jpeg_;
  std::string_view tail_;
  std::size_t sent_ = 0;  // bytes of head, JPEG and tail
  bool ended_ = false;
};

/// A request, whose body arrives in pieces.
struct Incoming {
  MHD_Connection* connection = nullptr;
  PageRequest request;
  std::optional<PageReply> held;

  /// Returns a value with its full length, including bytes after a %00.
  [[nodiscard]] std::string value(MHD_ValueKind kind, std::string_view name) const {
    const char* text = nullptr;
    std::size_t size = 0;
    const MHD_Result found =
        MHD_lookup_connection_value_n(connection, kind, name.data(), name.size(), &text, &size);
    return found != MHD_YES || text == nullptr ? std::string() : std::string(text, size);
  }
};

/// Asks the system why an address cannot be listened on. The errno that MHD leaves is, in newer
/// versions, that of a socket which it has closed by then.
int why_not_listening(const ServeAddress& address, int otherwise) {
  const Descriptor socket(::socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int probe = socket.get();
  if (probe < 0) return errno;
  const int on = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.socket.ss_family == AF_INET6) {
    ::setsockopt(probe, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const bool listens =
      ::bind(probe, reinterpret_cast<const sockaddr*>(&address.socket), address.length) == 0 &&
      ::listen(probe, 1) == 0;
  return listens ? otherwise : errno;
}

PictureForms forms() {
  return {jpeg_of, tones_of};
}

/// Runs MHD in a thread of its own, so that connections need no lock, and a reply may wait without
/// delaying the others.
class Server final : public PageServer {
 public:
  Server(const PageOptions& options, ControlApi& api, LiveMonitor& monitor)
      : limits_(options.limits),
        monitor_(monitor),
        requests_(options.token, kPageHtml, options.presets, forms(), api, monitor, options.once) {
    const ServeAddress address = parse_serve_address(options.address);
    if (!address.loopback && options.token.empty()) {
      throw Error(ExitCode::usage, "--serve " + options.address +
                                       " is open to other machines, must have a --serve-token");
    }
    if (!options.token.empty() && options.token.size() < kShortestToken) {
      throw Error(ExitCode::usage, "--serve-token has " + std::to_string(options.token.size()) +
                                       " characters, must be " + std::to_string(kShortestToken) +
                                       " or more");
    }
    start(options.address, address);
  }
  ~Server() override {
    monitor_.watch_pictures(nullptr);
    stop_ = true;
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string url() const override { return url_; }
  [[nodiscard]] bool is_visited() const override { return present_ > 0; }
  [[nodiscard]] bool is_left() const override {
    return present_ == 0 && left_.load() != Time() && Clock::now() - left_.load() >= limits_.back;
  }

 private:
  void start(const std::string& text, const ServeAddress& address) {
    const bool six = address.socket.ss_family == AF_INET6;
    const unsigned flags =
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (six ? MHD_USE_IPv6 : MHD_NO_FLAG);
    errno = 0;
    daemon_ = MHD_start_daemon(
        flags, 0, nullptr, nullptr, &Server::on_access, this, MHD_OPTION_SOCK_ADDR,
        reinterpret_cast<const sockaddr*>(&address.socket), MHD_OPTION_CONNECTION_LIMIT,
        limits_.connections + kMostOnTop, MHD_OPTION_NOTIFY_COMPLETED, &Server::on_completed, this,
        MHD_OPTION_NOTIFY_CONNECTION, &Server::on_connection, this, MHD_OPTION_URI_LOG_CALLBACK,
        &Server::on_address, this, MHD_OPTION_END);
    if (daemon_ == nullptr) {
      const int reason = why_not_listening(address, errno);
      throw Error(ExitCode::cannot_create, "--serve " + text +
                                               " cannot listen: " + system_error_text(reason) +
                                               ", must be an address of this machine and a port "
                                               "that is free");
    }
    const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    url_ = "http://" + address.host + ":" + std::to_string(info == nullptr ? 0 : info->port) + "/";
    try {
      wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      if (wake_.get() < 0) throw std::system_error(errno, std::generic_category());
      monitor_.watch_pictures([wake = wake_.get()] { ::eventfd_write(wake, 1); });
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
      monitor_.watch_pictures(nullptr);
      MHD_stop_daemon(daemon_);
      throw Error(ExitCode::cannot_create,
                  "--serve " + text + " cannot start: " + error.code().message());
    }
  }

  void serve() noexcept {
    const int events = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    std::array<pollfd, 2> fds{{{.fd = events, .events = POLLIN, .revents = 0},
                               {.fd = wake_.get(), .events = POLLIN, .revents = 0}}};
    const auto turn = [&](int wait_ms) {
      MHD_run(daemon_);
      MHD_UNSIGNED_LONG_LONG pending_ms = 0;
      const bool pending = MHD_get_timeout(daemon_, &pending_ms) == MHD_YES;
      const int turn_ms = pending ? static_cast<int>(std::min<MHD_UNSIGNED_LONG_LONG>(
                                        pending_ms, static_cast<unsigned>(wait_ms)))
                                  : wait_ms;
      eventfd_t heard = 0;
      if (::poll(fds.data(), fds.size(), turn_ms) > 0 && fds[1].revents != 0) {
        ::eventfd_read(wake_.get(), &heard);
      }
    };
    while (!stop_)
      turn(look_after_links(Clock::now()));
    stopping_ = true;  // MHD must not be stopped while connections are suspended.
    for (Link& link : links_)
      release(link);
    MHD_run(daemon_);
    const Time end = Clock::now() + kLongestEnd;
    while (viewers_ > 0 && Clock::now() < end)
      turn(static_cast<int>(kNextLook.count()));
    MHD_stop_daemon(daemon_);
  }

  /// Closes connections that are too slow and resumes those whose wait is over; returns the time
  /// until the next look.
  int look_after_links(Time now) {
    Time next = now + kLongestTurn;
    for (Link& link : links_) {
      if (link.viewer != nullptr && link.held_until) {
        if (!link.closing && is_gone(link)) close(link);
        if (link.closing || link.viewer->next_picture() != nullptr) {
          release(link);
          next = now;
        } else if (link.viewer->due() > now) {
          next = std::min(next, link.viewer->due());
        }
        continue;
      }
      if (link.present && !link.closing && is_gone(link)) close(link);
      if (link.held_until && (now >= *link.held_until || (link.present && link.closing))) {
        release(link);
        next = now;
      } else if (!link.held_until && !link.closing && now >= link.deadline) {
        close(link);
      }
      if (!link.closing) next = std::min(next, link.held_until.value_or(link.deadline));
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    return std::max(0, static_cast<int>(wait.count()));
  }

  /// Returns true where the peer of a suspended connection is gone; MHD does not watch those.
  static bool is_gone(const Link& link) {
    pollfd end{.fd = link.fd, .events = POLLRDHUP, .revents = 0};
    return ::poll(&end, 1, 0) > 0;
  }

  static void close(Link& link) {
    link.closing = true;
    ::shutdown(link.fd, SHUT_RDWR);  // MHD finds its end and closes it.
  }

  static void hold(Link& link, Time until) {
    link.held_until = until;
    MHD_suspend_connection(link.connection);
  }

  void release(Link& link) {
    if (!link.held_until) return;
    link.held_until.reset();
    link.guessed = false;
    if (std::exchange(link.present, false) && --present_ == 0) left_ = Clock::now();
    MHD_resume_connection(link.connection);
  }

  /// Makes room for a new connection. A caller with a wrong token keeps its place until it is
  /// answered, so that hanging up does not let it guess faster, nor drive out callers with the
  /// right one.
  void admit(Link& fresh) {
    const auto make_room = [&](unsigned most, auto&& counts) {
      unsigned there = 0;
      bool guessed = false;
      Link* least = nullptr;
      const auto rank = [](const Link& link) {
        return std::pair((link.proved ? 1 : 0) + (link.proved && link.busy ? 1 : 0), link.since);
      };
      for (Link& link : links_) {
        if (link.closing || !counts(link)) continue;
        ++there;
        guessed = guessed || link.guessed;
        if (&link == &fresh || link.guessed) continue;
        if (least == nullptr || rank(link) < rank(*least)) least = &link;
      }
      const bool none = least == nullptr || (guessed && least->proved);
      if (there > most) close(none ? fresh : *least);
    };
    make_room(limits_.connections_of_one,
              [&](const Link& link) { return link.origin == fresh.origin; });
    make_room(limits_.connections, [](const Link&) { return true; });
  }

  static void on_connection(void* self, MHD_Connection* connection, void** state,
                            MHD_ConnectionNotificationCode code) {
    auto& server = *static_cast<Server*>(self);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      const auto* link = static_cast<Link*>(*state);
      server.links_.remove_if([link](const Link& each) { return &each == link; });
      return;
    }
    const int fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    try {
      Link& link = server.links_.emplace_back();
      *state = &link;
      link.connection = connection;
      link.fd = fd;
      link.origin = origin_of(
          MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
      link.since = Clock::now();
      link.deadline = link.since + server.limits_.header;
      server.admit(link);
    } catch (const std::bad_alloc&) {
      ::shutdown(fd, SHUT_RDWR);
    }
  }

  static Link* link_of(MHD_Connection* connection) {
    return static_cast<Link*>(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
  }

  /// Looks for zero bytes, since MHD passes the path on as a C string.
  static void* on_address(void*, const char* address, MHD_Connection* connection) {
    Link* link = link_of(connection);
    if (link != nullptr) link->has_nul = std::strstr(address, "%00") != nullptr;
    return nullptr;
  }

  static MHD_Result on_access(void* self, MHD_Connection* connection, const char* url,
                              const char* method, const char*, const char* upload,
                              std::size_t* upload_size, void** state) {
    auto& server = *static_cast<Server*>(self);
    Link* link = link_of(connection);
    if (link == nullptr) return MHD_NO;
    try {
      if (*state == nullptr) {
        auto fresh = std::make_unique<Incoming>(Incoming{connection, {}, {}});
        server.begin(*fresh, *link, url, method);
        *state = fresh.release();
        return MHD_YES;
      }
      auto& incoming = *static_cast<Incoming*>(*state);
      PageRequest& request = incoming.request;
      if (*upload_size > 0) {
        request.too_long = request.too_long || request.body.size() + *upload_size > kLongestRequest;
        if (!request.too_long) request.body.append(upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
      }
      return server.reply(incoming, *link);
    } catch (const std::exception& error) {
      logger().debug("page: {}", error.what());
      return MHD_NO;  // Closes the connection.
    }
  }

  static MHD_Result on_argument(void* arguments, MHD_ValueKind, const char* key,
                                std::size_t key_size, const char* value, std::size_t value_size) {
    static_cast<decltype(PageRequest::arguments)*>(arguments)->emplace_back(
        std::string(key, key_size), value == nullptr ? "" : std::string(value, value_size));
    return MHD_YES;
  }

  /// Called when the header is complete.
  void begin(Incoming& incoming, Link& link, const char* url, const char* method) {
    PageRequest& request = incoming.request;
    request.method = method;
    request.path = url;
    request.host = incoming.value(MHD_HEADER_KIND, "Host");
    request.authorization = incoming.value(MHD_HEADER_KIND, "Authorization");
    request.content_type = incoming.value(MHD_HEADER_KIND, "Content-Type");
    request.fetch_site = incoming.value(MHD_HEADER_KIND, "Sec-Fetch-Site");
    request.token = incoming.value(MHD_GET_ARGUMENT_KIND, "token");
    MHD_get_connection_values_n(incoming.connection, MHD_GET_ARGUMENT_KIND, &Server::on_argument,
                                &request.arguments);
    request.has_nul = link.has_nul;
    link.since = Clock::now();
    link.deadline = link.since + limits_.body;
    link.look_until = link.since + limits_.picture;
    link.busy = true;
    link.proved = link.proved || requests_.admits(request);
  }

  /// Called when the request is complete, or its reply has waited long enough.
  MHD_Result reply(Incoming& incoming, Link& link) {
    const Time now = Clock::now();
    if (!incoming.held || incoming.held->holds == Holds::picture) {
      incoming.held = requests_.answer(incoming.request);
      if (incoming.held->holds == Holds::picture && now < link.look_until && !stopping_) {
        hold(link, now + kNextLook);
        return MHD_YES;
      }
      if (incoming.held->holds == Holds::guess && !stopping_) {
        link.guessed = true;
        hold(link, now + limits_.wrong_token);
        return MHD_YES;
      }
      if (incoming.held->holds == Holds::presence && !stopping_) {
        link.present = true;
        ++present_;
        hold(link, Time::max());
        return MHD_YES;
      }
    }
    link.deadline = now + limits_.reply;
    if (incoming.held->stream && incoming.request.method != "HEAD") {
      if (viewers_ >= limits_.viewers) {
        monitor_.count_viewers([](ViewerCounts& counts) { ++counts.refused; });
        return send(incoming.connection, {MHD_HTTP_SERVICE_UNAVAILABLE, "application/json",
                                          "{\"error\":\"" + std::to_string(limits_.viewers) +
                                              " viewers are there, which is the limit\"}\n"});
      }
      link.viewer = new Viewer(*this, link, *incoming.held->stream, monitor_, requests_.jpegs());
      ++viewers_;
      ::setsockopt(link.fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMostUnsent, sizeof kMostUnsent);
    }
    return send(incoming.connection, *incoming.held, link.viewer);
  }

  /// Supplies more of a viewer's stream.
  static ssize_t on_stream(void* stream, std::uint64_t, char* to, std::size_t most) {
    auto& viewer = *static_cast<Viewer*>(stream);
    Link& link = viewer.link();
    const Server& server = viewer.server();
    if (link.closing) return MHD_CONTENT_READER_END_WITH_ERROR;
    try {
      if (server.stopping_) viewer.end();
      if (viewer.is_over()) return MHD_CONTENT_READER_END_OF_STREAM;
      const std::size_t got = viewer.read(to, most);
      link.deadline = Clock::now() + server.limits_.reply;
      if (got == 0) hold(link, link.deadline);
      return static_cast<ssize_t>(got);
    } catch (const std::exception& error) {
      logger().debug("page: {}", error.what());
      return MHD_CONTENT_READER_END_WITH_ERROR;
    }
  }

  static void on_stream_end(void* stream) {
    auto* viewer = static_cast<Viewer*>(stream);
    --viewer->server().viewers_;
    delete viewer;
  }

  static void on_completed(void* self, MHD_Connection* connection, void** state,
                           MHD_RequestTerminationCode) {
    delete static_cast<Incoming*>(*state);
    *state = nullptr;
    Link* link = link_of(connection);
    if (link == nullptr) return;
    link->busy = link->has_nul = false;
    link->viewer = nullptr;
    link->since = Clock::now();
    link->deadline = link->since + static_cast<Server*>(self)->limits_.idle;
  }

  /// Sends a reply. `viewer` is null except for a stream, and belongs to the reply.
  static MHD_Result send(MHD_Connection* connection, const PageReply& reply,
                         Viewer* viewer = nullptr) {
    MHD_Response* response =
        viewer != nullptr
            ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kStreamBlock, &Server::on_stream,
                                                viewer, &Server::on_stream_end)
            : MHD_create_response_from_buffer(
                  reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) {
      if (viewer != nullptr) {
        viewer->link().viewer = nullptr;
        on_stream_end(viewer);
      }
      return MHD_NO;
    }
    // Simple clients do not know chunked encoding, and a stream's connection serves nothing else.
    if (reply.stream) {
      MHD_add_response_header(response, "Connection", "close");
      MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    }
    if (reply.status == MHD_HTTP_SERVICE_UNAVAILABLE) {
      MHD_add_response_header(response, "Retry-After", "1");
    }
    const std::pair<const char*, const char*> headers[] = {
        {"Content-Type", reply.type.c_str()},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Content-Security-Policy",
         "default-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; frame-ancestors 'none'"},
    };
    for (const auto& [name, value] : headers)
      MHD_add_response_header(response, name, value);
    if (reply.status == MHD_HTTP_UNAUTHORIZED) {
      MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    }
    if (reply.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
      MHD_add_response_header(response, "Allow", "GET, HEAD, POST");
    }
    const MHD_Result result = MHD_queue_response(connection, reply.status, response);
    MHD_destroy_response(response);
    return result;
  }

  const PageLimits limits_;
  LiveMonitor& monitor_;
  PageRequests requests_;
  MHD_Daemon* daemon_ = nullptr;
  Descriptor wake_;
  std::string url_;
  // Used by the server's thread only.
  std::list<Link> links_;
  unsigned viewers_ = 0;
  bool stopping_ = false;

  std::atomic<unsigned> present_{0};  // callers at /api/here
  std::atomic<Time> left_{Time()};    // time at which the last of them went
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<PageServer> open_page_server(const PageOptions& options, ControlApi& api,
                                             LiveMonitor& monitor) {
  return std::make_unique<Server>(options, api, monitor);
}

}  // namespace equalux
