#include "page_server.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <equalux/error.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include "../opencv/live_picture.h"
#include "log.h"
#include "page_html.h"
#include "serve_address.h"

namespace equalux {
namespace {

constexpr unsigned kMostConnections = 64;
constexpr unsigned kIdleSeconds = 30;
constexpr int kLeastWidth = 16;
constexpr int kMostWidth = 1920;
constexpr int kUsualWidth = 960;

struct Reply {
  unsigned status = MHD_HTTP_OK;
  std::string type = "application/json";
  std::string body;
};

Reply refusal(unsigned status, const std::string& why) {
  return {status, "application/json", nlohmann::json{{"error", why}}.dump() + "\n"};
}

/// In a time that tells nothing of where they differ.
bool same(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^
                  (b.empty() ? 0U : static_cast<unsigned char>(b[i % b.size()]));
  return difference == 0;
}

/// One request; its body grows as it comes.
struct Request {
  MHD_Connection* connection = nullptr;
  std::string method;
  std::string path;
  std::string body;
  bool too_long = false;

  [[nodiscard]] std::string header(const char* name) const { return value(MHD_HEADER_KIND, name); }
  [[nodiscard]] std::string argument(const char* name) const {
    return value(MHD_GET_ARGUMENT_KIND, name);
  }

 private:
  [[nodiscard]] std::string value(MHD_ValueKind kind, const char* name) const {
    const char* text = MHD_lookup_connection_value(connection, kind, name);
    return text == nullptr ? std::string() : std::string(text);
  }
};

class Server final : public PageServer {
 public:
  Server(const PageOptions& options, ControlApi& api, LiveMonitor& monitor)
      : token_(options.token), api_(api), monitor_(monitor) {
    const ServeAddress address = parse_serve_address(options.address);
    if (!address.loopback && token_.empty()) {
      throw Error(ExitCode::usage, "--serve " + options.address +
                                       " is open to other machines, must have a --serve-token");
    }
    if (!token_.empty() && token_.size() < kShortestToken) {
      throw Error(ExitCode::usage, "--serve-token has " + std::to_string(token_.size()) +
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
      auto* request = new (std::nothrow) Request{connection, method, url, {}, false};
      *state = request;
      return request == nullptr ? MHD_NO : MHD_YES;
    }
    auto& request = *static_cast<Request*>(*state);
    try {
      if (*upload_size > 0) {
        request.too_long = request.too_long || request.body.size() + *upload_size > kLongestRequest;
        if (!request.too_long) request.body.append(upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
      }
      return send(connection, static_cast<Server*>(self)->answer(request));
    } catch (const std::exception& error) {
      logger().debug("page: {}", error.what());
      return MHD_NO;  // The connection is closed.
    }
  }

  static void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<Request*>(*state);
    *state = nullptr;
  }

  static MHD_Result send(MHD_Connection* connection, const Reply& reply) {
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

  Reply answer(const Request& request) {
    if (token_.empty() && !names_loopback(request.header("Host"))) {
      return refusal(MHD_HTTP_FORBIDDEN, "the host must be 127.0.0.1, [::1] or localhost");
    }
    if (!token_.empty() && !knows_token(request)) {
      return refusal(MHD_HTTP_UNAUTHORIZED,
                     "the token is missing or wrong, must be in ?token= or as a bearer");
    }
    if (request.method == "POST") return post(request);
    if (request.method != "GET" && request.method != "HEAD") {
      return refusal(MHD_HTTP_METHOD_NOT_ALLOWED, "must be GET or POST");
    }
    if (request.path == "/") return {MHD_HTTP_OK, "text/html; charset=utf-8", kPageHtml};
    if (request.path == "/api/state")
      return {MHD_HTTP_OK, "application/json", api_.handle("").json};
    if (request.path == "/api/picture") return picture(request);
    if (request.path == "/api/tones") return tones();
    if (request.path == "/metrics") {
      return {MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", monitor_.metrics()};
    }
    return refusal(MHD_HTTP_NOT_FOUND,
                   "must be /, /api/state, /api/picture, /api/tones or /metrics");
  }

  [[nodiscard]] bool knows_token(const Request& request) const {
    const std::string bearer = request.header("Authorization");
    const std::string prefix = "Bearer ";
    if (bearer.starts_with(prefix) && same(bearer.substr(prefix.size()), token_)) return true;
    return same(request.argument("token"), token_);
  }

  Reply post(const Request& request) {
    if (request.path != "/api/state") {
      return refusal(MHD_HTTP_NOT_FOUND, "changes go to /api/state");
    }
    // A form of another site's page cannot send this type without asking first.
    if (!request.header("Content-Type").starts_with("application/json")) {
      return refusal(MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "must be application/json");
    }
    if (request.too_long) {
      return refusal(MHD_HTTP_CONTENT_TOO_LARGE,
                     "must be at most " + std::to_string(kLongestRequest) + " bytes");
    }
    ControlAnswer answer = api_.handle(request.body);
    const unsigned status = answer.ok ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST;
    return {status, "application/json", std::move(answer.json)};
  }

  Reply picture(const Request& request) {
    const std::string view = request.argument("view");
    const std::string text = request.argument("width");
    int width = kUsualWidth;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if ((view != "before" && view != "after") ||
        (!text.empty() && (!whole || width < kLeastWidth || width > kMostWidth))) {
      return refusal(MHD_HTTP_BAD_REQUEST, "must be view=before or after, width=16 to 1920");
    }
    const auto pair = monitor_.pictures();
    if (pair == nullptr) return refusal(MHD_HTTP_SERVICE_UNAVAILABLE, "there is no picture yet");
    const Image& image = view == "before" ? pair->before : pair->after;
    const auto jpeg = jpeg_of(image.view(), pair->field_order, width);
    return {MHD_HTTP_OK, "image/jpeg", std::string(jpeg.begin(), jpeg.end())};
  }

  Reply tones() {
    const auto pair = monitor_.pictures();
    if (pair == nullptr) return refusal(MHD_HTTP_SERVICE_UNAVAILABLE, "there is no picture yet");
    return {MHD_HTTP_OK, "application/json", tones_of(*pair).dump()};
  }

  std::string token_;
  ControlApi& api_;
  LiveMonitor& monitor_;
  MHD_Daemon* daemon_ = nullptr;
  std::string url_;
};

}  // namespace

std::unique_ptr<PageServer> open_page_server(const PageOptions& options, ControlApi& api,
                                             LiveMonitor& monitor) {
  return std::make_unique<Server>(options, api, monitor);
}

}  // namespace equalux
