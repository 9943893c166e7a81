#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pipelines/live/live_monitor.h"
#include "pipelines/live/steering.h"

/// Requests to a run and its answers, independent of their transport: the control socket and the
/// page.
namespace equalux {

inline constexpr std::size_t kLongestRequest = 4096;  ///< bytes

struct ControlAnswer {
  bool ok = true;
  /// {"state","filters","changed","counters","presets"}, "note" of Steering::note() where there is
  /// one, and "set" with the filters that took each key; or {"error"} where not ok; one line.
  std::string json;
};

/// Answers requests. Thread-safe as far as its parts are, which must outlive it.
class ControlApi {
 public:
  ControlApi(Steering& steering, const LiveMonitor& monitor)
      : steering_(steering), monitor_(monitor) {}

  /// The filters, and the keys that a change may have.
  [[nodiscard]] const Steering& steering() const { return steering_; }

  /// Handles a JSON object for Steering::change(); {} or blanks only query. Never throws, for any
  /// bytes: an error is told in the answer, and then nothing has changed.
  [[nodiscard]] ControlAnswer handle(std::string_view request);

 private:
  Steering& steering_;
  const LiveMonitor& monitor_;
};

}  // namespace equalux
