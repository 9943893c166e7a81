#include "pipelines/timings/timings.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "src/common/formatting.h"
#include "src/common/log.h"

namespace equalux {
namespace {

// Formats JSON by hand, not through json_text.h: that library writes a number in as few digits as
// possible, whereas here each has the same number, and it allocates for each frame.

template <typename... Values>
void append(std::string& out, fmt::format_string<Values...> text, Values&&... values) {
  fmt::format_to(std::back_inserter(out), text, std::forward<Values>(values)...);
}

/// Appends milliseconds to a tenth of a microsecond: short stages still show.
void append_ms(std::string& out, std::string_view key, double ms) {
  append(out, R"("{}":{:.4f})", key, ms);
}

void append_measured(std::string& out, std::string_view key, const std::optional<double>& ms) {
  if (!ms) return;
  append_ms(out, key, *ms);
  out += ',';
}

bool seen_before(const std::vector<StageTime>& stages, std::size_t i) {
  const auto here = stages.begin() + static_cast<std::ptrdiff_t>(i);
  return std::any_of(stages.begin(), here,
                     [&](const StageTime& earlier) { return earlier.stage == here->stage; });
}

void append_stages(std::string& out, const std::vector<StageTime>& stages) {
  if (stages.empty()) return;
  out += "\"stages\":";
  char before = '{';
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (seen_before(stages, i)) continue;
    double sum = 0;
    for (const StageTime& each : stages) {
      if (each.stage == stages[i].stage) sum += each.ms;
    }
    out += before;
    append_ms(out, stages[i].stage, sum);
    before = ',';
  }
  out += "},";
}

}  // namespace

void append_timings_json(std::string& out, const Frame& frame) {
  const FrameTimings& timings = frame.timings;
  append(out, R"({{"index":{},"pts_ns":{},)", frame.index, frame.pts_ns);
  append_measured(out, "capture_ms", timings.capture_ms);
  append_measured(out, "queue_ms", timings.queue_ms);
  append_measured(out, "upload_ms", timings.upload_ms);
  append_stages(out, timings.stages);
  append_measured(out, "download_ms", timings.download_ms);
  append_measured(out, "sink_ms", timings.sink_ms);
  append_measured(out, "latency_ms", timings.latency_ms);
  append(out, R"("dropped_before":{})", timings.dropped_before);
  if (timings.reconnects > 0) append(out, R"(,"reconnects":{})", timings.reconnects);
  if (timings.late) out += R"(,"late":true)";
  if (frame.placeholder) out += R"(,"placeholder":true)";
  out += '}';
}

void TimingsWriter::write(const Frame& frame) {
  line_.clear();  // Keeps its capacity.
  append_timings_json(line_, frame);
  line_ += '\n';
  file_.append(line_);
}

void log_timings(const Frame& frame) {
  if (!logger().writes(LogLevel::debug)) return;
  std::string line;
  append_timings_json(line, frame);
  logger().debug("frame {}", line);
}

}  // namespace equalux
