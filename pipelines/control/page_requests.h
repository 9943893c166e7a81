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

/// The answers to the page's requests, independent of an HTTP server and of JPEG encoders.
namespace equalux {

/// An HTTP request, as far as it is read.
struct PageRequest {
  std::string method;
  std::string path;  ///< without arguments
  // Headers; empty = none.
  std::string host;
  std::string authorization;
  std::string content_type;
  std::string fetch_site;  ///< Sec-Fetch-Site, by which browsers tell whose page asks

  std::string token;  ///< an argument after ?; empty = none
  std::vector<std::pair<std::string, std::string>> arguments;  ///< all of them, in order
  std::string body;
  bool too_long = false;  ///< the body was longer than kLongestRequest
  bool has_nul = false;   ///< in the path or the arguments, where no name has one
};

/// Event that a reply waits for.
enum class Holds : std::uint8_t {
  nothing,
  picture,   ///< there is none yet; asking again soon may give one
  guess,     ///< a wrong token; the answer is delayed
  presence,  ///< the caller only shows that it is there, for as long as the request is open
};

/// Form of /stream.mjpeg that a viewer asks for.
struct StreamForm {
  PictureForm picture;
  std::optional<double> rate;  ///< pictures per second; empty = each frame
};

struct PageReply {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  Holds holds = Holds::nothing;
  std::optional<StreamForm> stream = std::nullopt;  ///< pictures follow in place of the body
};

/// Functions that make what a browser shows of frames.
struct PictureForms {
  std::function<std::vector<std::uint8_t>(const PicturePair&, const PictureForm&)> jpeg;
  std::function<nlohmann::json(const PicturePair&)> tones;
};

/// Presets that the key "preset" of a change may name, each with a line of help.
using PresetLines = std::vector<std::pair<std::string, std::string>>;

/// Cache of JPEGs of the newest pair of frames: each form is encoded once for all callers. For one
/// thread.
class JpegCache {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  explicit JpegCache(decltype(PictureForms::jpeg) make) : make_(std::move(make)) {}
  [[nodiscard]] Bytes jpeg(const PicturePair& pair, const PictureForm& form);

 private:
  const decltype(PictureForms::jpeg) make_;
  std::uint64_t serial_ = 0;
  std::vector<std::pair<PictureForm, Bytes>> made_;  // of the newest pair
};

/// The multipart boundary of /stream.mjpeg, without the hyphens before it.
inline constexpr std::string_view kBoundary = "equalux-picture";

/// Answers requests. For one thread; its parts must outlive it.
class PageRequests {
 public:
  /// Without a token, answers only requests to this machine's loopback address. If `once` is not
  /// empty, /?once=ONCE is answered a single time without the token, by the page with the token in
  /// it. So a browser's command line, which other users may read, does not contain the token.
  PageRequests(std::string token, std::string page, const PresetLines& presets, PictureForms forms,
               ControlApi& api, LiveMonitor& monitor, std::string once = {});

  /// Answers every request, whatever it contains; a refused one changes nothing.
  [[nodiscard]] PageReply answer(const PageRequest& request);
  /// Returns true where token, host and origin of the request are right. Does not look at its body.
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
