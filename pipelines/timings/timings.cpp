#include "pipelines/timings/timings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "src/common/log.h"

namespace equalux {
namespace {

constexpr int kDecimals = 4;  // a tenth of a microsecond: short stages still show

// Formats JSON by hand, not through json_text.h: that library writes a number in as few digits as
// possible, whereas here each has the same number, and it allocates for each frame.

template <typename Number>
void append_integer(std::string& out, Number number) {
  std::array<char, 24> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), end);
}

void append_ms(std::string& out, double ms) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), ms,
                                          std::chars_format::fixed, kDecimals);
  // Fails only for absurdly large numbers.
  out.append(text.data(), error == std::errc{} ? end : text.data());
  if (error != std::errc{}) out += "0";
}

void append_key(std::string& out, std::string_view key) {
  out += '"';
  out += key;
  out += "\":";
}

void append_measured(std::string& out, std::string_view key, const std::optional<double>& ms) {
  if (!ms) return;
  append_key(out, key);
  append_ms(out, *ms);
  out += ',';
}

bool seen_before(const std::vector<StageTime>& stages, std::size_t i) {
  const auto here = stages.begin() + static_cast<std::ptrdiff_t>(i);
  return std::any_of(stages.begin(), here,
                     [&](const StageTime& earlier) { return earlier.stage == here->stage; });
}

void append_stages(std::string& out, const std::vector<StageTime>& stages) {
  if (stages.empty()) return;
  append_key(out, "stages");
  char before = '{';
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (seen_before(stages, i)) continue;
    double sum = 0;
    for (const StageTime& each : stages) {
      if (each.stage == stages[i].stage) sum += each.ms;
    }
    out += before;
    append_key(out, stages[i].stage);
    append_ms(out, sum);
    before = ',';
  }
  out += "},";
}

}  // namespace

void append_timings_json(std::string& out, const Frame& frame) {
  const FrameTimings& timings = frame.timings;
  out += '{';
  append_key(out, "index");
  append_integer(out, frame.index);
  out += ',';
  append_key(out, "pts_ns");
  append_integer(out, frame.pts_ns);
  out += ',';
  append_measured(out, "capture_ms", timings.capture_ms);
  append_measured(out, "queue_ms", timings.queue_ms);
  append_measured(out, "upload_ms", timings.upload_ms);
  append_stages(out, timings.stages);
  append_measured(out, "download_ms", timings.download_ms);
  append_measured(out, "sink_ms", timings.sink_ms);
  append_measured(out, "latency_ms", timings.latency_ms);
  append_key(out, "dropped_before");
  append_integer(out, timings.dropped_before);
  if (timings.reconnects > 0) {
    out += ",\"reconnects\":";
    append_integer(out, timings.reconnects);
  }
  if (timings.late) out += ",\"late\":true";
  if (frame.placeholder) out += ",\"placeholder\":true";
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
