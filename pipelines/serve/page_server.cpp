#include "page_server.h"

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include <equalux/error.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>

#include "../opencv/live_picture.h"
#include "log.h"
#include "page_html.h"
#include "page_requests.h"
#include "serve_address.h"

namespace equalux {
namespace {

constexpr unsigned kMostConnections = 64;
constexpr unsigned kIdleSeconds = 30;

/// One request; its body grows as it comes.
struct Incoming {
  MHD_Connection* connection = nullptr;
  PageRequest request;

  [[nodiscard]] std::string value(MHD_ValueKind kind, const char* name) const {
    const char* text = MHD_lookup_connection_value(connection, kind, name);
    return text == nullptr ? std::string() : std::string(text);
  }
};

PictureForms forms() {
  return {[](const PicturePair& pair, bool after, int width) {
            return jpeg_of((after ? pair.after : pair.before).view(), pair.field_order, width);
          },
          tones_of};
}

class Server final : public PageServer {
 public:
  Server(const PageOptions& options, ControlApi& api, LiveMonitor& monitor)
      : requests_(options.token, kPageHtml, forms(), api, monitor) {
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
  ~Server() override { MHD_stop_daemon(daemon_); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string url() const override { return url_; }

 private:
  void start(const std::string& text, const ServeAddress& address) {
    const bool six = address.socket.ss_family == AF_INET6;
    const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | (six ? MHD_USE_IPv6 : MHD_NO_FLAG);
    errno = 0;
    daemon_ = MHD_start_daemon(
        flags, 0, nullptr, nullptr, &Server::on_access, this, MHD_OPTION_SOCK_ADDR,
        reinterpret_cast<const sockaddr*>(&address.socket), MHD_OPTION_CONNECTION_LIMIT,
        kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_NOTIFY_COMPLETED,
        &Server::on_completed, nullptr, MHD_OPTION_END);
    if (daemon_ == nullptr) {
      throw Error(ExitCode::cannot_create,
                  "--serve " + text + " cannot listen: " + std::generic_category().message(errno) +
                      ", must be an address of this machine and a port "
                      "that is free");
    }
    const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    url_ = "http://" + address.host + ":" + std::to_string(info == nullptr ? 0 : info->port) + "/";
  }

  static MHD_Result on_access(void* self, MHD_Connection* connection, const char* url,
                              const char* method, const char*, const char* upload,
                              std::size_t* upload_size, void** state) {
    if (*state == nullptr) {
      *state = new (std::nothrow) Incoming{connection, {}};
      return *state == nullptr ? MHD_NO : MHD_YES;
    }
    auto& incoming = *static_cast<Incoming*>(*state);
    PageRequest& request = incoming.request;
    try {
      if (*upload_size > 0) {
        request.too_long = request.too_long || request.body.size() + *upload_size > kLongestRequest;
        if (!request.too_long) request.body.append(upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
      }
      request.method = method;
      request.path = url;
      request.host = incoming.value(MHD_HEADER_KIND, "Host");
      request.authorization = incoming.value(MHD_HEADER_KIND, "Authorization");
      request.content_type = incoming.value(MHD_HEADER_KIND, "Content-Type");
      request.token = incoming.value(MHD_GET_ARGUMENT_KIND, "token");
      request.view = incoming.value(MHD_GET_ARGUMENT_KIND, "view");
      request.width = incoming.value(MHD_GET_ARGUMENT_KIND, "width");
      return send(connection, static_cast<Server*>(self)->requests_.answer(request));
    } catch (const std::exception& error) {
      logger().debug("page: {}", error.what());
      return MHD_NO;  // The connection is closed.
    }
  }

  static void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<Incoming*>(*state);
    *state = nullptr;
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
        {"Content-Security-Policy",
         "default-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; frame-ancestors 'none'"},
    };
    for (const auto& [name, value] : headers)
      MHD_add_response_header(response, name, value);
    const MHD_Result result = MHD_queue_response(connection, reply.status, response);
    MHD_destroy_response(response);
    return result;
  }

  PageRequests requests_;
  MHD_Daemon* daemon_ = nullptr;
  std::string url_;
};

}  // namespace

std::unique_ptr<PageServer> open_page_server(const PageOptions& options, ControlApi& api,
                                             LiveMonitor& monitor) {
  return std::make_unique<Server>(options, api, monitor);
}

}  // namespace equalux
