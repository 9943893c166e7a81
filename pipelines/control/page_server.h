#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "pipelines/control/control_api.h"
#include "pipelines/control/page_requests.h"

/// `--serve`: a page to look on and to steer with, a JSON API, and metrics.
namespace equalux {

/// How much of the page anybody may have, so that nobody keeps others from it. A connection that is
/// too slow is closed. Where there are too many, the one goes that has shown no token for longest,
/// or else the one that has been idle, or at its request, for longest.
struct PageLimits {
  unsigned connections = 128;
  unsigned viewers = 16;                         ///< of /stream.mjpeg, at a time
  unsigned connections_of_one = 24;              ///< of an address; of IPv6, of its first 64 bits
  std::chrono::milliseconds header{10'000};      ///< from connecting to a whole header
  std::chrono::milliseconds idle{30'000};        ///< from a reply to the next whole header
  std::chrono::milliseconds body{10'000};        ///< from a header to the end of its body
  std::chrono::milliseconds reply{30'000};       ///< for the caller to take a reply
  std::chrono::milliseconds wrong_token{1'000};  ///< before one is answered; it counts as there
  std::chrono::milliseconds picture{5'000};      ///< for the next frame, where there is no picture
  std::chrono::milliseconds back{3'000};         ///< for a page that is loaded again to come back
};

struct PageOptions {
  std::string address;  ///< see parse_serve_address()
  std::string token;    ///< what callers must know; empty = nobody needs one
  PresetLines presets;  ///< for /api/parameters
  PageLimits limits;
  std::string once = {};  ///< lets one browser in, see PageRequests; empty = none
};

/// Serves until it is destroyed, in a thread of its own.
///
///   GET  /                                    the page
///   GET  /api/state                           ControlApi's answer
///   POST /api/state                           a change, application/json; 400 with what is wrong
///   GET  /api/picture?view=before|after&width=16 to 8192   a JPEG of the newest frame, or of the
///                                             next one where nobody has looked; 503 without any
///   GET  /stream.mjpeg?view=&width=&quality=&rate=         multipart/x-mixed-replace of JPEGs, the
///                                             newest whenever the caller has taken the one before;
///                                             503 without any, or with too many viewers
///   GET  /snapshot.jpg?view=&width=&quality=  one of them
///   GET  /api/tones                           histograms and curve, see tones_of(); 503 likewise
///   GET  /api/parameters                      {"strength":"how far ...", ...,
///                                             "preset":{"fog":"..."}, "sliders":[{"key",...}]}
///   GET  /api/here                            answered when the run ends: the caller is there
///                                             until it hangs up
///   GET  /metrics                             Prometheus's text
///
/// With a token every request needs it, as "Authorization: Bearer TOKEN" or ?token=TOKEN, and gets
/// 401 otherwise, with the page itself for /, which asks for it. Without one the Host must be a
/// loopback's, and gets 403 otherwise. So do requests that a browser makes for another site's page.
class PageServer {
 public:
  virtual ~PageServer() = default;
  [[nodiscard]] virtual std::string url() const = 0;  ///< "http://127.0.0.1:8080/"
  /// Somebody has been at /api/here, and is still. Thread-safe, as the next.
  [[nodiscard]] virtual bool is_visited() const = 0;
  /// Somebody has been there, and has not come back within PageLimits::back.
  [[nodiscard]] virtual bool is_left() const = 0;
};

/// The least that a token has of characters.
inline constexpr std::size_t kShortestToken = 16;

/// Throws Error(usage) for what is no address, one beyond loopback without a token, and a
/// short token; Error(cannot_create) where nothing can listen there. `api` and `monitor` must
/// outlive it.
[[nodiscard]] std::unique_ptr<PageServer> open_page_server(const PageOptions& options,
                                                           ControlApi& api, LiveMonitor& monitor);

}  // namespace equalux
