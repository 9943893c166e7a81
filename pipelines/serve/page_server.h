#pragma once

#include <memory>
#include <string>

#include "../control_api.h"

/// `--serve`: a page to look on and to steer with, a JSON API, and metrics.
namespace equalux {

struct PageOptions {
  std::string address;  ///< see parse_serve_address()
  std::string token;    ///< what callers must know; empty = nobody needs one
};

/// Serves until it is destroyed, in a thread of its own.
///
///   GET  /                                    the page
///   GET  /api/state                           ControlApi's answer
///   POST /api/state                           a change, application/json; 400 with what is wrong
///   GET  /api/picture?view=before|after&width=16 to 1920   a JPEG; 503 before the first frame
///   GET  /api/tones                           histograms and curve, see tones_of(); 503 likewise
///   GET  /metrics                             Prometheus's text
///
/// With a token every request needs it, as "Authorization: Bearer TOKEN" or ?token=TOKEN, and gets
/// 401 otherwise. Without one the Host must be a loopback's, and gets 403 otherwise, so that no
/// page of another site reaches the run through a browser here.
class PageServer {
 public:
  virtual ~PageServer() = default;
  [[nodiscard]] virtual std::string url() const = 0;  ///< "http://127.0.0.1:8080/"
};

/// The least that a token has of characters.
inline constexpr std::size_t kShortestToken = 16;

/// Throws Error(usage) for an address that is none, one beyond loopback without a token, and a
/// short token; Error(cannot_create) where nothing can listen there. `api` and `monitor` must
/// outlive it.
[[nodiscard]] std::unique_ptr<PageServer> open_page_server(const PageOptions& options,
                                                           ControlApi& api, LiveMonitor& monitor);

}  // namespace equalux
