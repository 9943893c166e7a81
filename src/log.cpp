#include "log.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <spdlog/sinks/stdout_color_sinks.h>

#include <equalux/error.h>

namespace equalux {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>(
        "equalux", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_pattern("%n: %v");
    return made;
  }();
  return *instance;
}

void set_up_logging(std::string_view level) {
  static constexpr std::array<std::string_view, 6> kNames{"trace", "debug", "info",
                                                          "warn",  "error", "off"};
  if (std::find(kNames.begin(), kNames.end(), level) == kNames.end()) {
    throw Error(ExitCode::usage, "--log-level is '" + std::string(level) +
                                     "', must be trace, debug, info, warn, error or off");
  }
  const auto parsed = spdlog::level::from_str(std::string(level));
  logger().set_level(parsed);
  // Times matter to whoever reads a debug log, and only there.
  logger().set_pattern(parsed <= spdlog::level::debug ? "%n %H:%M:%S.%e %t %l: %v" : "%n: %v");
}

}  // namespace equalux
