#include "pipelines/timings/latency_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace equalux {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 20;

/// `values` are sorted and not empty.
double nearest_rank(const std::vector<float>& values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
}

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

}  // namespace

void LatencyReport::add(const Frame& frame) {
  const FrameTimings& timings = frame.timings;
  if (frame.placeholder || !timings.latency_ms || !timings.queue_ms || !timings.sink_ms) return;
  const auto put = [this](Part& part, double ms) {
    const auto value = static_cast<float>(ms);
    if (part.ms.size() < kMostValues) {
      part.ms.push_back(value);
    } else {
      part.ms[next_] = value;
    }
  };
  put(waiting_, *timings.queue_ms);
  // With the waits for the device and for the output.
  put(filtering_, std::max(0.0, *timings.latency_ms - *timings.queue_ms - *timings.sink_ms));
  put(output_, *timings.sink_ms);
  put(whole_, *timings.latency_ms);
  next_ = (next_ + 1) % kMostValues;
}

std::string LatencyReport::text(const RunResult& result) const {
  if (whole_.ms.empty()) return "latency: no frame was measured\n";
  std::string text = format("%-18s %9s %9s %9s %9s %9s\n", "latency, ms", "least", "median", "95th",
                            "99th", "most");
  for (const Part* part : {&waiting_, &filtering_, &output_, &whole_}) {
    std::vector<float> sorted = part->ms;
    std::sort(sorted.begin(), sorted.end());
    text += format("%-18s %9.3f %9.3f %9.3f %9.3f %9.3f\n", part->name,
                   static_cast<double>(sorted.front()), nearest_rank(sorted, 0.5),
                   nearest_rank(sorted, 0.95), nearest_rank(sorted, 0.99),
                   static_cast<double>(sorted.back()));
  }
  text += format("of %zu frames", whole_.ms.size());
  if (result.live) {
    text += format("; %llu dropped, %llu late", static_cast<unsigned long long>(result.dropped),
                   static_cast<unsigned long long>(result.late));
  }
  return text + "\n";
}

}  // namespace equalux
