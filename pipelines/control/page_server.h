#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "pipelines/control/control_api.h"
#include "pipelines/control/page_requests.h"

/// The HTTP server of `--serve`: a page to watch and to steer with, a JSON API, and metrics.
namespace equalux {

/// Limits on what callers may use, so that none of them keeps the others out. A connection that is
/// too slow is closed. Where there are too many, the server closes the one that has gone longest
/// without a valid token, or else the one that has been idle, or busy with a request, for longest.
struct PageLimits {
  unsigned connections = 128;
  unsigned viewers = 16;                     ///< of /stream.mjpeg, at a time
  unsigned connections_of_one = 24;          ///< from one address; for IPv6, from its first 64 bits
  std::chrono::milliseconds header{10'000};  ///< from connecting to a complete header
  std::chrono::milliseconds idle{30'000};    ///< from a reply to the next complete header
  std::chrono::milliseconds body{10'000};    ///< from a header to the end of its body
  std::chrono::milliseconds reply{30'000};   ///< for the caller to receive a reply
  std::chrono::milliseconds wrong_token{1'000};  ///< delay of the answer, within the limits
  std::chrono::milliseconds picture{5'000};      ///< for the next frame, where there is no picture
  std::chrono::milliseconds back{3'000};         ///< for a page that is being reloaded to return
};

struct PageOptions {
  std::string address;  ///< see parse_serve_address()
  std::string token;    ///< that callers must know; empty = none needed
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
///   GET  /api/tones                           histograms and curve, see tones_of(); 503
///                                             without any picture
///   GET  /api/parameters                      {"strength":"how far ...", ...,
///                                             "preset":{"fog":"..."}, "sliders":[{"key",...}],
///                                             "filters":[{"name","sliders","choices"}]}
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
  /// Returns true while some caller waits at /api/here. Thread-safe, as is_left().
  [[nodiscard]] virtual bool is_visited() const = 0;
  /// Returns true where a caller was there and has not returned within PageLimits::back.
  [[nodiscard]] virtual bool is_left() const = 0;
};

/// Least number of characters of a token.
inline constexpr std::size_t kShortestToken = 16;

/// Starts the server. Throws Error(usage) for an invalid address, one beyond loopback without a
/// token, and a short token; Error(cannot_create) where it cannot listen there. `api` and `monitor`
/// must outlive it.
[[nodiscard]] std::unique_ptr<PageServer> open_page_server(const PageOptions& options,
                                                           ControlApi& api, LiveMonitor& monitor);

}  // namespace equalux
