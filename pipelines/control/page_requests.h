#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  std::vector<std::pair<std::string, std::string>> arguments;  ///< all of them, in order
  std::string body;
  bool too_long = false;  ///< the body went on behind kLongestRequest
  bool has_nul = false;   ///< in what stands behind the method, where no name has one
};

/// What a reply waits for.
enum class Holds : std::uint8_t {
  nothing,
  picture,   ///< there is none yet: asking again soon may give one
  guess,     ///< a wrong token: the answer is to take its time
  presence,  ///< the caller only shows that it is there, for as long as it is
};

/// What a viewer of /stream.mjpeg wants.
struct StreamForm {
  PictureForm picture;
  std::optional<double> rate;  ///< pictures a second; empty = each frame
};

struct PageReply {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  Holds holds = Holds::nothing;
  std::optional<StreamForm> stream = std::nullopt;  ///< pictures follow, in place of the body
};

/// Makes what a browser shows of frames.
struct PictureForms {
  std::function<std::vector<std::uint8_t>(const PicturePair&, const PictureForm&)> jpeg;
  std::function<nlohmann::json(const PicturePair&)> tones;
};

/// The presets that a change's key "preset" may name, each with a line.
using PresetLines = std::vector<std::pair<std::string, std::string>>;

/// JPEGs of the newest pair, each made once for all who want it in the same form. For one thread.
class JpegCache {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  explicit JpegCache(decltype(PictureForms::jpeg) make) : make_(std::move(make)) {}
  [[nodiscard]] Bytes jpeg(const PicturePair& pair, const PictureForm& form);

 private:
  const decltype(PictureForms::jpeg) make_;
  std::uint64_t serial_ = 0;
  std::vector<std::pair<PictureForm, Bytes>> made_;  // of that pair
};

/// The line between the parts of /stream.mjpeg, without the hyphens before it.
inline constexpr std::string_view kBoundary = "equalux-picture";

/// For one thread; its parts, which must outlive it.
class PageRequests {
 public:
  /// Without a token only requests to this machine's loopback are answered.
  /// Where `once` is not empty, /?once=ONCE is answered without the token, a single time, by the
  /// page with the token in it: a browser's command line, which others here may read, holds no
  /// token.
  PageRequests(std::string token, std::string page, const PresetLines& presets, PictureForms forms,
               ControlApi& api, LiveMonitor& monitor, std::string once = {});

  /// Whatever the request holds, there is an answer; one that is refused changes nothing.
  [[nodiscard]] PageReply answer(const PageRequest& request);
  /// True where its token, its host and the page that it comes from are right. Looks at no body.
  [[nodiscard]] bool admits(const PageRequest& request) const;
  [[nodiscard]] JpegCache& jpegs() { return jpegs_; }

 private:
  [[nodiscard]] bool is_foreign(const PageRequest& request) const;
  [[nodiscard]] bool knows_token(const PageRequest& request) const;
  [[nodiscard]] bool is_invited(const PageRequest& request) const;
  PageReply get(const PageRequest& request);
  PageReply post(const PageRequest& request);
  PageReply picture(const PictureForm& form);
  PageReply stream(const PageRequest& request);

  const std::string token_;
  std::string once_;
  const std::string page_;
  const std::string parameters_;
  const PictureForms forms_;
  JpegCache jpegs_;
  ControlApi& api_;
  LiveMonitor& monitor_;
};

}  // namespace equalux
