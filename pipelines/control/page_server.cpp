#include "pipelines/control/page_server.h"

#include <algorithm>
#include <array>
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
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pipelines/control/page_html.h"
#include "pipelines/control/page_requests.h"
#include "pipelines/control/serve_address.h"
#include "pipelines/opencv/display/live_picture.h"
#include "src/common/log.h"

namespace equalux {
namespace {

using Time = std::chrono::steady_clock::time_point;

/// MHD takes in ten at a time; what is to go is gone with the next turn.
constexpr unsigned kMostOnTop = 16;
constexpr std::chrono::milliseconds kLongestTurn{500};
constexpr std::chrono::milliseconds kNextLook{20};  ///< for a picture

/// Where a caller is: its address, or for IPv6 the 64 bits that one household has.
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

/// A connection, from its beginning to its end.
struct Link {
  MHD_Connection* connection = nullptr;
  int fd = -1;
  Origin origin{};
  Time since;     ///< when it came, or its last request began or ended
  Time deadline;  ///< for what it is at
  Time look_until;
  std::optional<Time> held_until;  ///< it is suspended
  bool proved = false;             ///< has made a request that was admitted
  bool busy = false;               ///< has made a request that is not answered to its end
  bool guessed = false;            ///< is held for a wrong token
  bool closing = false;
  bool has_nul = false;  ///< in the address of the request
};

/// One request; its body grows as it comes.
struct Incoming {
  MHD_Connection* connection = nullptr;
  PageRequest request;
  std::optional<PageReply> held;

  /// Whole: bytes behind a %00 count.
  [[nodiscard]] std::string value(MHD_ValueKind kind, std::string_view name) const {
    const char* text = nullptr;
    std::size_t size = 0;
    const MHD_Result found =
        MHD_lookup_connection_value_n(connection, kind, name.data(), name.size(), &text, &size);
    return found != MHD_YES || text == nullptr ? std::string() : std::string(text, size);
  }
};

PictureForms forms() {
  return {[](const PicturePair& pair, bool after, int width) {
            return jpeg_of((after ? pair.after : pair.before).view(), pair.field_order, width);
          },
          tones_of};
}

/// MHD works in this one's own thread, so that links need no lock, and a reply may wait without
/// keeping the others.
class Server final : public PageServer {
 public:
  Server(const PageOptions& options, ControlApi& api, LiveMonitor& monitor)
      : limits_(options.limits),
        requests_(options.token, kPageHtml, options.presets, forms(), api, monitor) {
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
    ::eventfd_write(wake_, 1);
    thread_.join();
    ::close(wake_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string url() const override { return url_; }

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
      throw Error(ExitCode::cannot_create,
                  "--serve " + text + " cannot listen: " + std::generic_category().message(errno) +
                      ", must be an address of this machine and a port "
                      "that is free");
    }
    const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    url_ = "http://" + address.host + ":" + std::to_string(info == nullptr ? 0 : info->port) + "/";
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    try {
      if (wake_ < 0) throw std::system_error(errno, std::generic_category());
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
      if (wake_ >= 0) ::close(wake_);
      MHD_stop_daemon(daemon_);
      throw Error(ExitCode::cannot_create,
                  "--serve " + text + " cannot start: " + error.code().message());
    }
  }

  void serve() noexcept {
    const int events = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    std::array<pollfd, 2> fds{{{.fd = events, .events = POLLIN, .revents = 0},
                               {.fd = wake_, .events = POLLIN, .revents = 0}}};
    while (fds[1].revents == 0) {
      MHD_run(daemon_);
      const int wait_ms = look_after_links(Clock::now());
      MHD_UNSIGNED_LONG_LONG pending_ms = 0;
      const bool pending = MHD_get_timeout(daemon_, &pending_ms) == MHD_YES;
      const int turn_ms = pending ? static_cast<int>(std::min<MHD_UNSIGNED_LONG_LONG>(
                                        pending_ms, static_cast<unsigned>(wait_ms)))
                                  : wait_ms;
      if (::poll(fds.data(), fds.size(), turn_ms) < 0) fds[1].revents = 0;
    }
    stopping_ = true;  // MHD must not end with suspended connections.
    for (Link& link : links_)
      release(link);
    MHD_run(daemon_);
    MHD_stop_daemon(daemon_);
  }

  /// Closes what is too slow and goes on with what has been held; returns the time to the next
  /// look.
  int look_after_links(Time now) {
    Time next = now + kLongestTurn;
    for (Link& link : links_) {
      if (link.held_until && now >= *link.held_until) {
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

  static void close(Link& link) {
    link.closing = true;
    ::shutdown(link.fd, SHUT_RDWR);  // MHD finds it at its end, and closes it.
  }

  static void hold(Link& link, Time until) {
    link.held_until = until;
    MHD_suspend_connection(link.connection);
  }

  static void release(Link& link) {
    if (!link.held_until) return;
    link.held_until.reset();
    link.guessed = false;
    MHD_resume_connection(link.connection);
  }

  /// Makes room for a link that has come. Whoever guesses tokens keeps its place until it is
  /// answered, so that it does not guess faster by hanging up, nor drives those out who know one.
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

  /// MHD hands the path on as text that ends at the first zero.
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
      return MHD_NO;  // The connection is closed.
    }
  }

  /// The header is there.
  void begin(Incoming& incoming, Link& link, const char* url, const char* method) {
    PageRequest& request = incoming.request;
    request.method = method;
    request.path = url;
    request.host = incoming.value(MHD_HEADER_KIND, "Host");
    request.authorization = incoming.value(MHD_HEADER_KIND, "Authorization");
    request.content_type = incoming.value(MHD_HEADER_KIND, "Content-Type");
    request.fetch_site = incoming.value(MHD_HEADER_KIND, "Sec-Fetch-Site");
    request.token = incoming.value(MHD_GET_ARGUMENT_KIND, "token");
    request.view = incoming.value(MHD_GET_ARGUMENT_KIND, "view");
    request.width = incoming.value(MHD_GET_ARGUMENT_KIND, "width");
    request.has_nul = link.has_nul;
    link.since = Clock::now();
    link.deadline = link.since + limits_.body;
    link.look_until = link.since + limits_.picture;
    link.busy = true;
    link.proved = link.proved || requests_.admits(request);
  }

  /// The request is whole, or its reply has been held long enough.
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
    }
    link.deadline = now + limits_.reply;
    return send(incoming.connection, *incoming.held);
  }

  static void on_completed(void* self, MHD_Connection* connection, void** state,
                           MHD_RequestTerminationCode) {
    delete static_cast<Incoming*>(*state);
    *state = nullptr;
    Link* link = link_of(connection);
    if (link == nullptr) return;
    link->busy = link->has_nul = false;
    link->since = Clock::now();
    link->deadline = link->since + static_cast<Server*>(self)->limits_.idle;
  }

  static MHD_Result send(MHD_Connection* connection, const PageReply& reply) {
    MHD_Response* response = MHD_create_response_from_buffer(
        reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
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
    const MHD_Result result = MHD_queue_response(connection, reply.status, response);
    MHD_destroy_response(response);
    return result;
  }

  const PageLimits limits_;
  PageRequests requests_;
  MHD_Daemon* daemon_ = nullptr;
  int wake_ = -1;
  std::string url_;
  std::list<Link> links_;  // serve()'s, as the next
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<PageServer> open_page_server(const PageOptions& options, ControlApi& api,
                                             LiveMonitor& monitor) {
  return std::make_unique<Server>(options, api, monitor);
}

}  // namespace equalux
