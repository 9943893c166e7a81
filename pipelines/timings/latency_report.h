#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipelines/core/run.h"

/// How old pictures are when they are shown: `--latency-report`.
namespace equalux {

/// Collects frames' latencies, of the newest 2^20 frames without placeholders. One thread at a
/// time.
class LatencyReport {
 public:
  void add(const Frame& frame);

  /// A table of the milliseconds from captured to through the sink and of their parts (least,
  /// median, 95th and 99th percentile by nearest rank, most) and a line of counts; each line ends
  /// with a newline.
  [[nodiscard]] std::string text(const RunResult& result) const;

 private:
  struct Part {
    const char* name;
    std::vector<float> ms{};
  };
  std::size_t next_ = 0;  // where the next value goes once the parts are full
  Part waiting_{"wait for filter"};
  Part filtering_{"filter"};
  Part output_{"output"};
  Part whole_{"capture to output"};
};

}  // namespace equalux
