#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pipelines/live/live_monitor.h"
#include "pipelines/live/steering.h"

/// What is said to a run and what it answers, whoever carries it: the control socket and the page.
namespace equalux {

inline constexpr std::size_t kLongestRequest = 4096;  ///< bytes

struct ControlAnswer {
  bool ok = true;
  std::string
      json;  ///< {"state","changed","counters","presets"}, or {"error"} where not ok; one line
};

/// Thread-safe as its parts, which must outlive it.
class ControlApi {
 public:
  ControlApi(Steering& steering, const LiveMonitor& monitor)
      : steering_(steering), monitor_(monitor) {}

  /// What a change may have beside the keys that are no option's.
  [[nodiscard]] const std::vector<Option>& options() const { return steering_.options(); }

  /// A JSON object for Steering::change(); {} or nothing but blanks only asks. Never throws for any
  /// bytes: what is wrong stands in the answer, and nothing has changed then.
  [[nodiscard]] ControlAnswer handle(std::string_view request);

 private:
  Steering& steering_;
  const LiveMonitor& monitor_;
};

}  // namespace equalux
