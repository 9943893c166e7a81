#include "pipelines/control/page_requests.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "pipelines/control/serve_address.h"
#include "src/common/json_text.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

constexpr int kLeastWidth = 16;
constexpr int kMostWidth = 8192;
constexpr int kUsualWidth = 960;
constexpr double kLeastRate = 0.1;  // pictures per second
constexpr double kMostRate = 120;

// Status codes of RFC 9110.
constexpr unsigned kBadRequest = 400;
constexpr unsigned kUnauthorized = 401;
constexpr unsigned kForbidden = 403;
constexpr unsigned kNotFound = 404;
constexpr unsigned kMethodNotAllowed = 405;
constexpr unsigned kContentTooLarge = 413;
constexpr unsigned kUnsupportedMediaType = 415;
constexpr unsigned kServiceUnavailable = 503;

constexpr const char* kHtml = "text/html; charset=utf-8";

PageReply refusal(unsigned status, const std::string& why) {
  return {status, "application/json", json_text(nlohmann::json{{"error", why}}) + "\n"};
}

PageReply no_picture() {
  PageReply reply = refusal(kServiceUnavailable, "there is no picture yet");
  reply.holds = Holds::picture;
  return reply;
}

/// Returns true for an option whose value 0 turns a filter off.
bool is_switch(const Option& option) {
  return option.zero_means == "off";
}

/// Describes an option for a slider of the page, beside the other options of its filter.
nlohmann::ordered_json slider_of(const Option& option, std::span<const Option> beside) {
  const bool has_zero =
      option.least > 0 || is_switch(option) || find_option(beside, option.zero_means) != nullptr;
  return {{"key", option.key},
          {"title", option.title},
          {"unit", option.unit},
          {"from", option.slider_least},
          {"to", option.slider_most},
          {"step", option.step},
          {"least", option.least},  // 0 is not in the range, but may have a meaning
          {"zero", has_zero ? option.zero_means : std::string_view()},
          {"off", is_switch(option)},
          {"word", option.word}};
}

/// Describes the sliders and lists of a filter, by its own keys.
nlohmann::ordered_json controls_of(const std::string& address, std::span<const Option> options) {
  nlohmann::ordered_json sliders = nlohmann::ordered_json::array();
  nlohmann::ordered_json choices = nlohmann::ordered_json::array();
  for (const Option& option : options) {
    if (option.step > 0) {
      sliders.push_back(slider_of(option, options));
      sliders.back()["help"] = option_help(option);
    } else if (option.type == OptionType::name) {
      choices.push_back({{"key", option.key},
                         {"title", option.title},
                         {"names", spellings(option.names)},
                         {"help", option_help(option)}});
    }
  }
  return {{"name", address}, {"sliders", std::move(sliders)}, {"choices", std::move(choices)}};
}

/// Formats the help of each option and preset, the sliders of the options that have one, and what
/// each filter has of both.
std::string parameters_text(const Steering& steering, const PresetLines& presets) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  nlohmann::ordered_json sliders = nlohmann::ordered_json::array();
  for (const Option& option : steering.options()) {
    json[std::string(option.key)] = option_help(option);
    if (option.step > 0) sliders.push_back(slider_of(option, steering.options()));
  }
  nlohmann::ordered_json& lines = json["preset"] = nlohmann::ordered_json::object();
  for (const auto& [name, line] : presets)
    lines[name] = line;
  json["sliders"] = std::move(sliders);
  nlohmann::ordered_json& filters = json["filters"] = nlohmann::ordered_json::array();
  for (std::size_t at = 0; at < steering.filters().size(); ++at)
    filters.push_back(controls_of(steering.addresses()[at], steering.filters()[at].own));
  return json_text(json);
}

/// Compares two texts in a time that depends only on their lengths, so that the time of answers to
/// wrong tokens does not tell where they begin to differ.
bool same(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^
                  (b.empty() ? 0U : static_cast<unsigned char>(b[i % b.size()]));
  return difference == 0;
}

/// Puts the token for an invited browser into the page, as text between double quotes.
std::string page_with(std::string page, const std::string& token) {
  constexpr std::string_view kPlace = "name=\"token\" content=\"";
  const std::size_t at = page.find(kPlace);
  if (at == std::string::npos) return page;
  std::string text;
  for (const char c : token)
    text += c == '"' ? "&quot;" : c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string{c};
  return page.insert(at + kPlace.size(), text);
}

/// Thrown with what is wrong about a request.
struct BadRequest {
  std::string why;
};

template <typename Number>
Number number_of(const std::string& key, const std::string& text, Number least, Number most) {
  const auto number = number_from<Number>(text);
  if (!number || !(*number >= least && *number <= most)) {
    std::ostringstream range;
    range << least << " to " << most;
    throw BadRequest{key + " is '" + text + "', must be " + range.str()};
  }
  return *number;
}

PictureView view_of(const std::string& text) {
  if (text == "before") return PictureView::before;
  if (text == "after") return PictureView::after;
  if (text == "both") return PictureView::both;
  throw BadRequest{"view is '" + text + "', must be before, after or both"};
}

constexpr std::string_view kPictureKeys = "view, width, quality";
constexpr std::string_view kStreamKeys = "view, width, quality, rate";

/// Parses the arguments of a picture's address: `keys`, each at most once, and the token.
StreamForm stream_form_of(const PageRequest& request, std::string_view keys) {
  StreamForm form;
  form.picture.width = kMostWidth;
  std::vector<std::string> seen;
  for (const auto& [key, value] : request.arguments) {
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw BadRequest{"'" + key + "' stands there twice, must stand there once"};
    }
    seen.push_back(key);
    if (key == "view") {
      form.picture.view = view_of(value);
    } else if (key == "width") {
      form.picture.width = number_of(key, value, kLeastWidth, kMostWidth);
    } else if (key == "quality") {
      form.picture.quality = number_of(key, value, 1, 100);
    } else if (key == "rate" && keys == kStreamKeys) {
      form.rate = number_of(key, value, kLeastRate, kMostRate);
    } else if (key != "token") {
      throw BadRequest{"'" + key + "' is unknown, must be " + std::string(keys) + " or token"};
    }
  }
  return form;
}

/// Parses the arguments of the page's own picture, which has always ignored other keys.
PictureForm page_picture_of(const PageRequest& request) {
  PictureForm form{PictureView::both, kUsualWidth};
  for (const auto& [key, value] : request.arguments) {
    if (key == "view" && (value == "before" || value == "after")) form.view = view_of(value);
    if (key == "width" && !value.empty()) form.width = number_from<int>(value).value_or(-1);
  }
  if (form.view == PictureView::both || form.width < kLeastWidth || form.width > kMostWidth) {
    throw BadRequest{"must be view=before or after, width=16 to 8192"};
  }
  return form;
}

}  // namespace

PageRequests::PageRequests(std::string token, std::string page, const PresetLines& presets,
                           PictureForms forms, ControlApi& api, LiveMonitor& monitor,
                           std::string once)
    : token_(std::move(token)),
      once_(std::move(once)),
      page_(std::move(page)),
      parameters_(parameters_text(api.steering(), presets)),
      forms_(std::move(forms)),
      jpegs_(forms_.jpeg),
      api_(api),
      monitor_(monitor) {}

PageReply PageRequests::answer(const PageRequest& request) {
  if (is_foreign(request)) {
    return refusal(kForbidden,
                   "the request comes from another site's page, must come from this one's own or "
                   "from the address bar");
  }
  if (token_.empty() && !names_loopback(request.host)) {
    return refusal(kForbidden, "the host must be 127.0.0.1, [::1] or localhost");
  }
  if (is_invited(request)) {
    once_.clear();
    return {200, kHtml, page_with(page_, token_)};
  }
  if (!token_.empty() && !knows_token(request)) {
    PageReply reply =
        refusal(kUnauthorized, "the token is missing or wrong, must be in ?token= or as a bearer");
    if (!request.token.empty() || !request.authorization.empty()) reply.holds = Holds::guess;
    // The page itself has no secret and asks for the token. After a reload the token is no longer
    // in the address; the page finds it in the browser's storage.
    if (request.method == "GET" && request.path == "/") {
      reply.type = kHtml;
      reply.body = page_;
    }
    return reply;
  }
  if (request.has_nul) return refusal(kBadRequest, "must have no %00 in its address");
  if (request.method == "POST") return post(request);
  if (request.method == "GET" || request.method == "HEAD") {
    try {
      return get(request);
    } catch (const BadRequest& bad) {
      return refusal(kBadRequest, bad.why);
    }
  }
  return refusal(kMethodNotAllowed, "must be GET or POST");
}

bool PageRequests::admits(const PageRequest& request) const {
  return !is_foreign(request) &&
         (token_.empty() ? names_loopback(request.host) : knows_token(request));
}

/// Returns true for a request from another site's page. "none" means that a person typed the
/// address, and programs other than browsers send nothing.
bool PageRequests::is_foreign(const PageRequest& request) const {
  return request.fetch_site == "cross-site" || request.fetch_site == "same-site";
}

bool PageRequests::knows_token(const PageRequest& request) const {
  // RFC 9110 has schemes in any case.
  const std::string prefix = "bearer ";
  if (lower_case(request.authorization.substr(0, prefix.size())) == prefix &&
      same(request.authorization.substr(prefix.size()), token_)) {
    return true;
  }
  return same(request.token, token_);
}

bool PageRequests::is_invited(const PageRequest& request) const {
  if (once_.empty() || request.method != "GET" || request.path != "/") return false;
  return std::any_of(request.arguments.begin(), request.arguments.end(),
                     [this](const auto& argument) {
                       return argument.first == "once" && same(argument.second, once_);
                     });
}

PageReply PageRequests::get(const PageRequest& request) {
  if (request.path == "/") return {200, kHtml, page_};
  if (request.path == "/api/state") return {200, "application/json", api_.handle("").json};
  if (request.path == "/api/picture") return picture(page_picture_of(request));
  if (request.path == "/snapshot.jpg")
    return picture(stream_form_of(request, kPictureKeys).picture);
  if (request.path == "/stream.mjpeg") return stream(request);
  if (request.path == "/api/tones") {
    const auto pair = monitor_.pictures();
    if (pair == nullptr) return no_picture();
    return {200, "application/json", json_text(forms_.tones(*pair))};
  }
  if (request.path == "/api/parameters") return {200, "application/json", parameters_};
  if (request.path == "/api/here") return {200, "application/json", "{}\n", Holds::presence};
  if (request.path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", monitor_.metrics()};
  }
  return refusal(kNotFound,
                 "must be /, /stream.mjpeg, /snapshot.jpg, /api/state, /api/picture, /api/tones, "
                 "/api/parameters, /api/here or /metrics");
}

PageReply PageRequests::post(const PageRequest& request) {
  if (request.path != "/api/state") return refusal(kNotFound, "changes go to /api/state");
  // A form on another site's page cannot send this type without a preflight request.
  const std::string type = lower_case(request.content_type);
  if (type.substr(0, std::min(type.find(';'), type.find(' '))) != "application/json") {
    return refusal(kUnsupportedMediaType, "must be application/json");
  }
  if (request.too_long) {
    return refusal(kContentTooLarge,
                   "must be at most " + std::to_string(kLongestRequest) + " bytes");
  }
  ControlAnswer answer = api_.handle(request.body);
  return {answer.ok ? 200 : kBadRequest, "application/json", std::move(answer.json)};
}

PageReply PageRequests::picture(const PictureForm& form) {
  const auto pair = monitor_.pictures();
  if (pair == nullptr) return no_picture();
  return {200, "image/jpeg", *jpegs_.jpeg(*pair, form)};
}

/// A HEAD request does not wait for a picture.
PageReply PageRequests::stream(const PageRequest& request) {
  const StreamForm form = stream_form_of(request, kStreamKeys);
  if (request.method != "HEAD" && monitor_.pictures() == nullptr) return no_picture();
  PageReply reply{200, "multipart/x-mixed-replace; boundary=" + std::string(kBoundary), ""};
  reply.stream = form;
  return reply;
}

JpegCache::Bytes JpegCache::jpeg(const PicturePair& pair, const PictureForm& form) {
  constexpr std::size_t kMost = 32;  // limit for a caller that asks for ever more forms of a frame
  if (pair.serial != serial_ || made_.size() >= kMost) made_.clear();
  serial_ = pair.serial;
  for (const auto& [of, bytes] : made_)
    if (of == form) return bytes;
  const std::vector<std::uint8_t> jpeg = make_(pair, form);
  return made_.emplace_back(form, std::make_shared<std::string>(jpeg.begin(), jpeg.end())).second;
}

}  // namespace equalux
