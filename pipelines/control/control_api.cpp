#include "pipelines/control/control_api.h"

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"

namespace equalux {
namespace {

ControlAnswer refusal(const std::string& why) {
  return {false, json_text(nlohmann::json{{"error", why}})};
}

}  // namespace

ControlAnswer ControlApi::handle(std::string_view request) {
  if (request.size() > kLongestRequest) {
    return refusal("the request has " + std::to_string(request.size()) +
                   " bytes, must be at most " + std::to_string(kLongestRequest));
  }
  try {
    if (request.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      const nlohmann::json wanted = json_or_discarded(request);
      if (wanted.is_discarded())
        return refusal("not JSON, must be an object as {\"strength\":0.5}");
      if (!wanted.is_object() || !wanted.empty()) steering_.change(wanted);
    }
  } catch (const Error& error) {
    return refusal(error.what());
  } catch (const std::exception& error) {  // from JSON, a preset's folder, or memory
    return refusal(error.what());
  }
  nlohmann::ordered_json answer{{"state", steering_.state()},
                                {"changed", steering_.changed()},
                                {"counters", monitor_.counters()},
                                {"presets", steering_.presets()}};
  return {true, json_text(answer)};
}

}  // namespace equalux
