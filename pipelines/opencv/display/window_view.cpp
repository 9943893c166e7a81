#include "pipelines/opencv/display/window_view.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace equalux {
namespace {

using namespace std::chrono_literals;

// Delay from which the clock is set again; shorter delays are jitter, which later frames make up
// for.
constexpr auto kVeryLate = 150ms;
constexpr auto kMeterPeriod = 1s;

}  // namespace

WindowState after_key(WindowState state, int key) {
  constexpr int kEscape = 27;
  constexpr int kEnter = 13;
  const auto show = [&state](WindowPicture picture) {
    state.picture = state.picture == picture ? WindowPicture::after : picture;
  };
  switch (key >= 'A' && key <= 'Z' ? key - 'A' + 'a' : key) {
    case 'q':
    case kEscape:
      state.closed = true;
      break;
    case ' ':
      show(WindowPicture::before);
      break;
    case 's':
      show(WindowPicture::split);
      break;
    case 'h':
      state.tones = !state.tones;
      break;
    case '?':
      state.help = !state.help;
      break;
    case kEnter:
      state.full = !state.full;
      break;
    case 'p':
      state.paused = !state.paused;
      break;
    case 'w':
      state.still_wanted = true;
      break;
    default:
      break;
  }
  return state;
}

bool steer_by_key(Steering& steering, int key) {
  const bool is_sign = key > ' ' && key <= '~';
  if (is_sign && steering.step_by_key(static_cast<char>(key))) return true;
  switch (key >= 'A' && key <= 'Z' ? key - 'A' + 'a' : key) {
    case 'f':
      steering.toggle_filter();
      return true;
    case 'n':
    case 'b':
      steering.next_preset(key == 'n' || key == 'N' ? 1 : -1);
      return true;
    case 'r':
      steering.toggle_recording();
      return true;
    default:
      return false;
  }
}

std::vector<std::pair<std::string, std::string>> window_keys(const Steering* steering) {
  std::vector<std::pair<std::string, std::string>> keys{{"space", "before or after"},
                                                        {"s", "split view"},
                                                        {"h", "histogram and tone curve"},
                                                        {"Enter", "fill the screen"},
                                                        {"p", "pause"},
                                                        {"w", "save a still"},
                                                        {"q Esc", "quit"},
                                                        {"?", "these keys"}};
  if (steering == nullptr) return keys;
  for (auto& line : steering->key_help())
    keys.push_back(std::move(line));
  return keys;
}

std::string short_name(const std::string& name) {
  constexpr std::size_t kMost = 60;
  if (name.size() <= kMost) return name;
  std::size_t end = kMost - 3;
  const auto is_inside_letter = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  };
  while (end > 0 && is_inside_letter(name[end]))
    --end;
  return name.substr(0, end) + "...";
}

std::string window_title(const std::string& name, double fps, const WindowState& state) {
  std::array<char, 32> rate{};
  std::snprintf(rate.data(), rate.size(), "%.1f fps", fps);
  std::string title = "equalux: " + name + " - " + rate.data() + " - ";
  switch (state.picture) {
    case WindowPicture::after:
      title += "after";
      break;
    case WindowPicture::before:
      title += "before";
      break;
    case WindowPicture::split:
      title += "before | after";
      break;
  }
  return title + (state.paused ? ", paused" : "");
}

Clock::time_point Pacer::due(std::int64_t pts_ns, Clock::time_point now) {
  const auto pts = std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(pts_ns));
  const bool backwards = pts_ns < last_pts_ns_;
  last_pts_ns_ = pts_ns;
  if (!start_.has_value() || backwards || *start_ + pts + kVeryLate < now) start_ = now - pts;
  return *start_ + pts;
}

void Pacer::delay(Clock::duration by) {
  if (start_.has_value()) *start_ += by;
}

void FrameRateMeter::count(Clock::time_point now) {
  if (!since_.has_value()) {
    since_ = now;
    return;
  }
  ++frames_;
  const double seconds = milliseconds(now - *since_) / 1000;
  if (now - *since_ < kMeterPeriod && fps_ > 0) return;
  if (seconds > 0) fps_ = frames_ / seconds;
  if (now - *since_ >= kMeterPeriod) {
    since_ = now;
    frames_ = 0;
  }
}

}  // namespace equalux
