// Tests requests to the page: one line for each part of an HTTP request, then the body.
#include <algorithm>
#include <initializer_list>

#include <nlohmann/json.hpp>
#include <strings.h>

#include "fuzz/some_steering.h"
#include "pipelines/control/page_requests.h"
#include "pipelines/control/serve_address.h"
#include "src/common/json_text.h"

namespace {

using namespace equalux;

constexpr const char* kToken = "correct-horse-battery";

PictureForms no_forms() {
  const auto never = [] { fuzz::require(false, "there is no picture to be shown"); };
  return {[never](const PicturePair&, const PictureForm&) {
            never();
            return std::vector<std::uint8_t>{};
          },
          [never](const PicturePair&) {
            never();
            return nlohmann::json{};
          }};
}

/// Adds the value of `key`, and after each & another argument.
void take_arguments(const char* key, std::string_view line, PageRequest& request) {
  const std::size_t end = std::min(line.find('&'), line.size());
  if (end > 0) request.arguments.emplace_back(key, line.substr(0, end));
  for (line.remove_prefix(end); !line.empty();) {
    line.remove_prefix(1);
    const std::string_view each = line.substr(0, line.find('&'));
    const std::size_t is = std::min(each.find('='), each.size());
    request.arguments.emplace_back(each.substr(0, is), each.substr(std::min(is + 1, each.size())));
    line.remove_prefix(each.size());
  }
}

/// Returns true for "Bearer TOKEN"; RFC 9110 lets the scheme stand in any case.
bool bears_token(const std::string& authorization) {
  constexpr std::size_t kScheme = 7;  // with the space
  return authorization.size() > kScheme &&
         strncasecmp(authorization.c_str(), "Bearer ", kScheme) == 0 &&
         authorization.substr(kScheme) == kToken;
}

/// Returns true for a Content-Type of JSON; RFC 9110 lets a media type stand in any case.
bool is_json(const std::string& content_type) {
  constexpr std::string_view kJson = "application/json";
  return strncasecmp(content_type.c_str(), kJson.data(), kJson.size()) == 0;
}

bool is_one_of(unsigned status, std::initializer_list<unsigned> all) {
  return std::find(all.begin(), all.end(), status) != all.end();
}

void ask(const std::string& token, const PageRequest& request) {
  fuzz::SteeredRun run;
  PageRequests requests(token, "<title>", {}, no_forms(), run.api, run.monitor);
  const nlohmann::ordered_json before = run.steering.state();
  const PageReply reply = requests.answer(request);
  fuzz::require(is_one_of(reply.status, {200, 400, 401, 403, 404, 405, 413, 415, 503}),
                "a status that is documented", std::to_string(reply.status));
  if (reply.type == "application/json") {
    fuzz::require(!json_or_discarded(reply.body).is_discarded(), "JSON is JSON", reply.body);
  }
  const bool known = request.token == kToken || bears_token(request.authorization);
  fuzz::require(requests.admits(request) == !is_one_of(reply.status, {401, 403}),
                "who is admitted is answered", reply.body);
  fuzz::require(reply.holds != Holds::guess || reply.status == 401, "only guesses are held as such",
                reply.body);
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site") {
    fuzz::require(reply.status == 403, "other sites' pages are refused", reply.body);
  } else if (!token.empty()) {
    fuzz::require((reply.status == 401) != known, "the token alone decides", reply.body);
  } else {
    fuzz::require((reply.status == 403) != names_loopback(request.host), "the host alone decides",
                  request.host);
  }
  if (run.steering.state() == before) return;
  fuzz::require(reply.status == 200 && request.method == "POST" && request.path == "/api/state" &&
                    is_json(request.content_type) && !request.too_long,
                "only a change in JSON changes anything", reply.body);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  PageRequest request;
  std::string view;
  std::string width;
  for (std::string* part :
       {&request.method, &request.path, &request.host, &request.authorization,
        &request.content_type, &request.token, &view, &width, &request.fetch_site})
    *part = fuzz::take_line(text);
  take_arguments("view", view, request);
  take_arguments("width", width, request);
  request.too_long = text.size() > kLongestRequest;
  if (!request.too_long) request.body = text;
  ask("", request);
  ask(kToken, request);

  ServeAddress address;
  const auto read = [&] { address = parse_serve_address(request.host); };
  if (!fuzz::accepted(ExitCode::usage, "--serve is '", read)) return 0;
  fuzz::require(address.loopback == names_loopback(address.host) ||
                    address.host.starts_with('['),  // of IPv6, a Host header may name [::1] only
                "an address is loopback where a browser's Host names it so", address.host);
  return 0;
}
