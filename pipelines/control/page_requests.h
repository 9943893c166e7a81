#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/control/control_api.h"

/// What the page answers, whoever carries the requests: without a server and without pictures'
/// encoders.
namespace equalux {

/// A request of HTTP, as far as the page reads it.
struct PageRequest {
  std::string method;
  std::string path;  ///< without arguments
  std::string host;  ///< headers; empty = none
  std::string authorization;
  std::string content_type;
  std::string fetch_site;  ///< Sec-Fetch-Site, which browsers send: whose page asks
  std::string token;       ///< arguments behind ?; empty = none
  std::string view;
  std::string width;
  std::string body;
  bool too_long = false;  ///< the body went on behind kLongestRequest
  bool has_nul = false;   ///< in what stands behind the method, where no name has one
};

/// What a reply waits for.
enum class Holds : std::uint8_t {
  nothing,
  picture,  ///< there is none yet: asking again soon may give one
  guess,    ///< a wrong token: the answer is to take its time
};

struct PageReply {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  Holds holds = Holds::nothing;
};

/// Makes what a browser shows of frames.
struct PictureForms {
  std::function<std::vector<std::uint8_t>(const PicturePair&, bool after, int width)> jpeg;
  std::function<nlohmann::json(const PicturePair&)> tones;
};

/// The presets that a change's key "preset" may name, each with a line.
using PresetLines = std::vector<std::pair<std::string, std::string>>;

/// Thread-safe as its parts, which must outlive it.
class PageRequests {
 public:
  /// Without a token only requests to this machine's loopback are answered.
  PageRequests(std::string token, std::string page, const PresetLines& presets, PictureForms forms,
               ControlApi& api, LiveMonitor& monitor);

  /// Whatever the request holds, there is an answer; one that is refused changes nothing.
  [[nodiscard]] PageReply answer(const PageRequest& request);
  /// True where its token, its host and the page that it comes from are right. Looks at no body.
  [[nodiscard]] bool admits(const PageRequest& request) const;

 private:
  [[nodiscard]] bool is_foreign(const PageRequest& request) const;
  [[nodiscard]] bool knows_token(const PageRequest& request) const;
  PageReply get(const PageRequest& request);
  PageReply post(const PageRequest& request);
  PageReply picture(const PageRequest& request);

  const std::string token_;
  const std::string page_;
  const std::string parameters_;
  const PictureForms forms_;
  ControlApi& api_;
  LiveMonitor& monitor_;
};

}  // namespace equalux
