#include "src/cli/stream/io_options.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <equalux/error.h>

#include "pipelines/core/frame_time.h"
#include "src/cli/values.h"
#include "src/options/option_values.h"
#ifdef EQUALUX_HAVE_GSTREAMER
#include "pipelines/gstreamer/encode/encoders.h"
#endif

namespace equalux::cli {
namespace {

constexpr int kMaxCameraSide = 16384;
constexpr int kLeastQuality = -1;
constexpr int kMostQuality = 1000;

}  // namespace

Rational read_rate(const std::string& option, const std::string& text) {
  const std::optional<Rational> rate = parse_rate(text);
  if (!rate) {
    throw_usage("--" + option + " is '" + text +
                "', must be frames per second above 0 and up to 10000, as "
                "30, 29.97 or 30000/1001");
  }
  return *rate;
}

void read_size(const std::string& text, InputOptions& options) {
  options.width = options.height = 0;
  if (text.empty()) return;
  const std::size_t cross = std::min(text.find('x'), text.size());
  const auto side = [](std::string_view number) {
    const int value = number_from<int>(number).value_or(0);
    return value <= kMaxCameraSide ? value : 0;
  };
  options.width = side(text.substr(0, cross));
  options.height = side(text.substr(std::min(cross + 1, text.size())));
  if (options.width > 0 && options.height > 0) return;
  throw_usage("--size is '" + text + "', must be WIDTHxHEIGHT in pixels, 1 to " +
              std::to_string(kMaxCameraSide) + " a side");
}

Option camera_control_option(InputOptions& options) {
  Option option{
      "camera-control", "NAME=VALUE",
      "set a control of the camera itself when it is opened, as auto_exposure=1; repeat for "
      "more, in order; `equalux devices` lists them (default: none)",
      [&options](const std::string& text) {
        if (text.empty()) return;
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
          throw_usage("--camera-control is '" + text +
                      "', must be NAME=VALUE, as power_line_frequency=1");
        }
        options.controls.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      }};
  option.repeatable = true;
  return option;
}

Option reconnect_option(InputOptions& options) {
  constexpr std::int64_t kMostSeconds = 31'536'000;  // a year
  return {
      "reconnect", "always|off|SECONDS",
      "live inputs (cameras, rtsp:, http:, live gst: pipelines) that fail or stall, and cameras "
      "and network streams that end: for how long they are opened again, 1 to 31536000 seconds, "
      "while the output gets placeholders; off: the failure ends the run (default: always)",
      [&options](const std::string& text) {
        options.reconnect = text.empty() ? "always" : text;
        if (options.reconnect == "always" || options.reconnect == "off") return;
        if (!std::isdigit(static_cast<unsigned char>(text.front()))) {
          throw_usage("--reconnect is '" + text +
                      "', must be always, off or seconds, 1 to 31536000");
        }
        (void)read_integer("reconnect", text, 1, kMostSeconds);
      }};
}

Option decoder_option(InputOptions& options) {
  Option option{
      "decoder", "auto|software|gpu",
      "who decodes files; auto: the GPU, where the filters run on it, no original is shown and "
      "--verify is not asked for, else software (default: auto)",
      [&options](const std::string& text) {
        if (text != "auto" && text != "software" && text != "gpu") {
          throw_usage("--decoder is '" + text + "', must be auto, software or gpu");
        }
        options.decoder = text;
      }};
  option.choices = {"auto", "software", "gpu"};
  return option;
}

std::int64_t read_time(const std::string& option, const std::string& text) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kMost = 8'000'000;  // seconds; their nanoseconds fit 64 bits
  std::int64_t ns = 0;
  bool known = !text.empty();
  std::size_t parts = 0;
  for (std::size_t at = 0; known && at <= text.size(); ++parts) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    const std::string part = text.substr(at, end - at);
    const bool last = end == text.size();
    const std::size_t point = last ? part.find('.') : std::string::npos;
    const std::string whole = part.substr(0, point);
    std::string fraction = point == std::string::npos ? "0" : part.substr(point + 1);
    const auto is_number = [](const std::string& digits, std::size_t most) {
      return !digits.empty() && digits.size() <= most &&
             std::all_of(digits.begin(), digits.end(),
                         [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    known = parts < 3 && is_number(whole, 7) && is_number(fraction, 9);
    if (!known) break;
    const std::int64_t count = std::stoll(whole);
    known = parts == 0 || count < 60;
    fraction.resize(9, '0');
    ns = ns * 60 + count * kSecond + std::stoll(fraction);
    known = known && ns <= kMost * kSecond;
    at = end + 1;
  }
  if (known) return ns;
  throw_usage("--" + option + " is '" + text +
              "', must be seconds or [H:]M:S, as 90, 1:30 or 0:01:30.5, up to "
              "8000000 s");
}

std::vector<Option> part_options(InputOptions& options) {
  const auto time = [](const char* name, const char* help, std::optional<std::int64_t>& value) {
    return Option{name, "TIME", help, [name, &value](const std::string& text) {
                    value.reset();
                    if (!text.empty()) value = read_time(name, text);
                  }};
  };
  return {time("from",
               "begin with the first frame at or behind this time of the input, seconds or "
               "[H:]M:S; times start at 0 and copied streams are cut alike (default: its start)",
               options.from_ns),
          time("to", "end before this time of the input (default: its end)", options.to_ns),
          time("duration", "end so long behind --from, in place of --to (default: its end)",
               options.part_ns)};
}

std::optional<Part> part_of(const InputOptions& options) {
  if (!options.from_ns && !options.to_ns && !options.part_ns) return std::nullopt;
  if (options.to_ns && options.part_ns) {
    throw_usage("--to and --duration both say where to end, must be one of them");
  }
  Part part;
  part.from_ns = options.from_ns.value_or(0);
  part.to_ns = options.to_ns;
  if (options.part_ns) part.to_ns = part.from_ns + *options.part_ns;
  if (part.to_ns && *part.to_ns <= part.from_ns) {
    throw_usage(options.part_ns ? "--duration is 0, must be above it"
                                : "--to is not behind --from, must be");
  }
  return part;
}

OptionGroup output_group(OutputOptions& options) {
  OptionGroup group{"Output files", {}, false};
  group.options = {
      text_option(
          "encoder", "NAME",
          "video encoder of output files and streams, see `equalux run --list-encoders` (default: "
          "x264, vp9 for .webm; for run nvh264 in place of x264 where CUDA filters and the "
          "GPU has it, if it keeps what x264 would and neither quality nor lossless is "
          "set)",
          options.encoder),
      {"quality", "N",
       "quality on the encoder's own scale, see `equalux run --list-encoders` (default: the "
       "encoder's)",
       [&](const std::string& text) {
         options.quality.reset();
         if (text.empty()) return;
         options.quality =
             static_cast<int>(read_integer("quality", text, kLeastQuality, kMostQuality));
       }},
      switch_option("lossless", "bit-exact video, where the encoder can (default: off)",
                    options.lossless),
      switch_option("drop-streams",
                    "go on without streams that the output's container cannot hold (default: off)",
                    options.drop_streams)};
  return group;
}

std::string encoder_table() {
#ifdef EQUALUX_HAVE_GSTREAMER
  std::string table;
  for (const EncoderListing& encoder : list_encoders()) {
    std::string row = encoder.name;
    row.resize(std::max<std::size_t>(row.size() + 2, 16), ' ');
    table += row + encoder.description;
    if (!encoder.available) table += " [not available: " + encoder.reason + "]";
    table += "\n";
  }
  return table;
#else
  return "This build has no encoders: it was made without GStreamer.\n";
#endif
}

}  // namespace equalux::cli
