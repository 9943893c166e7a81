#include "src/cli/stream/io_factory.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include <equalux/error.h>

#include "pipelines/core/sink.h"
#include "pipelines/core/test_source.h"
#include "pipelines/files/file_names.h"
#include "pipelines/files/image_pattern.h"
#include "pipelines/files/still.h"
#include "pipelines/files/y4m.h"
#include "pipelines/live/reconnecting_source.h"
#include "pipelines/live/stream_address.h"
#include "pipelines/picture/upright_sink.h"
#include "src/cli/paths.h"
#include "src/common/log.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/camera.h"
#include "pipelines/opencv/display/window.h"
#include "pipelines/opencv/still.h"
#include "pipelines/v4l2/camera_identity.h"
#endif
#ifdef EQUALUX_HAVE_PIPEWIRE
#include "pipelines/pipewire/pipewire_sink.h"
#include "pipelines/pipewire/pipewire_source.h"
#endif
#ifdef EQUALUX_HAVE_GSTREAMER
#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/gstreamer/stream/stream_sink.h"
#endif

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

constexpr std::array<std::string_view, 5> kContainers{"mp4", "mov", "m4v", "mkv", "webm"};
constexpr int kMaxCamera = 255;
constexpr std::string_view kPipewire = "pipewire:";
constexpr std::array<std::string_view, 5> kSchemes{"rtsp://", "rtspt://", "rtsps://", "http://",
                                                   "https://"};

[[noreturn]] [[maybe_unused]] void not_built(const std::string& what, const std::string& needs,
                                             const std::string& instead) {
  throw Error(ExitCode::unavailable,
              what + " needs " + needs + ", which this build does not have; must be " + instead);
}

std::string after_colon(const std::string& text) {
  return text.substr(text.find(':') + 1);
}

int camera_number(const std::string& input) {
  const int number = number_from<int>(after_colon(input)).value_or(-1);
  if (number < 0 || number > kMaxCamera) {
    throw_usage("input " + input +
                " is no camera, must be camera:0 to camera:" + std::to_string(kMaxCamera));
  }
  return number;
}

/// Throws Error(usage) for what other programs call a camera, as /dev/video0. Such a name is no
/// file, and "does not exist" would not say how cameras are named here.
void refuse_other_names_of_cameras(const std::string& input) {
  constexpr std::string_view kScheme = "v4l2:";
  constexpr std::string_view kDevice = "/dev/video";
  std::string_view path = input;
  if (path.starts_with(kScheme)) path.remove_prefix(kScheme.size());
  if (path.starts_with(kDevice)) {
    const int number = number_from<int>(path.substr(kDevice.size())).value_or(-1);
    if (number >= 0 && number <= kMaxCamera) {
      throw_usage("input " + input + " is a camera, must be camera:" + std::to_string(number));
    }
  }
  std::error_code ignored;
  const bool named = input == "camera" || input == "webcam" || input.starts_with(kScheme);
  if (path.starts_with("/dev/v4l/") || (named && !fs::exists(input, ignored))) {
    throw_usage("input " + input + " is no file, must be camera:N, as camera:0 for /dev/video0");
  }
}

/// Makes a live source that reconnects under --reconnect; `end_is_loss`: its end counts as a
/// failure.
[[maybe_unused]] std::unique_ptr<Source> reconnecting(SourceFactory make,
                                                      const InputOptions& options,
                                                      bool end_is_loss) {
  if (options.reconnect == "off") return make();
  ReconnectOptions reconnect;
  reconnect.end_is_loss = end_is_loss;
  if (options.reconnect != "always") {
    reconnect.give_up = std::chrono::seconds(std::stoi(options.reconnect));
  }
  return make_reconnecting_source(std::move(make), reconnect);
}

}  // namespace

InputKind input_kind(const std::string& input) {
  if (input == "-") return InputKind::standard_input;
  if (input.starts_with("camera:")) {
    (void)camera_number(input);
    return InputKind::camera;
  }
  if (input.starts_with(kPipewire)) return InputKind::pipewire;
  if (input.starts_with("test:")) {
    (void)parse_test_pattern(after_colon(input));
    return InputKind::test;
  }
  if (input.starts_with("gst:")) return InputKind::launch;
  for (const std::string_view scheme : kSchemes) {
    if (input.starts_with(scheme)) return InputKind::network;
  }
  refuse_other_names_of_cameras(input);
  // A file whose name holds a '[' or '?' is no pattern.
  std::error_code ignored;
  if (!fs::is_regular_file(input, ignored) && is_image_sequence(input)) return InputKind::sequence;
  if (extension_of(input) == "y4m") return InputKind::y4m;
  return knows_still(input) ? InputKind::sequence : InputKind::media_file;
}

OutputKind output_kind(const std::string& output) {
  if (output == "-") return OutputKind::standard_output;
  if (output == "window") return OutputKind::window;
  if (output == "null") return OutputKind::null;
  if (output == "v4l2:") throw_usage("output v4l2: has no device, must be v4l2:/dev/videoN");
  if (output.starts_with("v4l2:")) return OutputKind::v4l2;
  if (output.starts_with(kPipewire)) {
    if (output.size() == kPipewire.size()) {
      throw_usage("output pipewire: has no name, must be pipewire:NAME, as programs list it");
    }
    return OutputKind::pipewire;
  }
  if (output.starts_with("gst:")) return OutputKind::launch;
  if (is_stream_address(output)) {
    if (is_served_stream(output)) {
      (void)parse_served_stream(output);
    } else {
      (void)parse_pushed_stream(output);
    }
    return OutputKind::stream;
  }
  const std::string extension = extension_of(output);
  if (extension == "y4m") return OutputKind::y4m;
  if (std::find(kContainers.begin(), kContainers.end(), extension) != kContainers.end()) {
    return OutputKind::media_file;
  }
  if (writes_still(output)) {
    if (!NumberedName::parse(output)) {
      throw_usage("output '" + output + "' names one still, must be a pattern like out%05d." +
                  extension + "; equalux image writes one");
    }
    return OutputKind::sequence;
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(output, unknown)) {
    throw_usage("output '" + output +
                "' is a folder, must be a file in it, as out.mp4, or a pattern of stills, as "
                "out%05d.png; equalux batch takes a folder, --out");
  }
  throw_usage(
      "output '" + output +
      "' is no form that is known, must be a file .mp4, .mov, .m4v, .mkv, .webm or .y4m, a "
      "pattern of stills, window, null, v4l2:/dev/videoN, pipewire:NAME, rtsp://..., rtmp://..., "
      "srt://..., gst:... or -");
}

bool is_camera(InputKind kind) {
  return kind == InputKind::camera || kind == InputKind::pipewire;
}

bool is_live(InputKind kind) {
  return is_camera(kind) || kind == InputKind::test || kind == InputKind::launch ||
         kind == InputKind::network;
}

bool is_media_name(const std::string& path) {
  static constexpr auto kExtensions = std::to_array<std::string_view>(
      {"mp4",  "mov",  "m4v",   "qt",  "mkv", "webm", "avi", "divx", "mpg", "mpeg", "m2p",
       "ts",   "mts",  "m2ts",  "m2t", "flv", "f4v",  "wmv", "asf",  "wtv", "ogv",  "ogm",
       "3gp",  "3g2",  "mxf",   "vob", "dv",  "m1v",  "m2v", "h264", "264", "h265", "265",
       "hevc", "mjpg", "mjpeg", "ivf", "obu", "nut",  "gif", "y4m"});
  const std::string extension = extension_of(path);
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

void check_output(const std::string& output, const OutputOptions& options) {
  [[maybe_unused]] const OutputKind kind = output_kind(output);
#ifdef EQUALUX_HAVE_GSTREAMER
  if (kind == OutputKind::stream && options.lossless) {
    throw_usage("--lossless is of files, must be left out for output " + without_secrets(output));
  }
  // The default encoder fits every output; GStreamer need not be loaded for it.
  if (options.encoder.empty() && !options.quality && !options.lossless) return;
  // Only opening the output checks that the encoder runs here.
  const std::string encoder =
      options.encoder.empty() ? std::string(default_encoder(output)) : options.encoder;
  check_encoder_options(encoder, options.quality, options.lossless);
  if (kind == OutputKind::media_file || kind == OutputKind::stream) {
    check_encoder_fits(encoder, output);
  }
#else
  (void)options;
#endif
}

void require_encoder(const std::string& output, const OutputOptions& options) {
#ifdef EQUALUX_HAVE_GSTREAMER
  if (output_kind(output) != OutputKind::media_file) return;
  const std::string name =
      options.encoder.empty() ? std::string(default_encoder(output)) : options.encoder;
  for (const EncoderListing& encoder : list_encoders()) {
    if (encoder.name != name || encoder.available) continue;
    throw Error(ExitCode::unavailable, "--encoder " + name + ": " + encoder.reason);
  }
#else
  (void)output;
  (void)options;
#endif
}

namespace {

std::unique_ptr<Source> make_whole_source(const std::string& input, const InputOptions& options) {
  const InputKind kind = input_kind(input);
  if (options.fps && kind != InputKind::sequence && !is_camera(kind) &&
      kind != InputKind::media_file) {
    logger().warn("{}: has times of its own, --fps changes nothing", input);
  }
  switch (kind) {
    case InputKind::standard_input:
      return make_y4m_source("-");
    case InputKind::y4m:
      require_input(input);
      return make_y4m_source(input);
    case InputKind::test:
      return make_test_source(parse_test_pattern(after_colon(input)));
    case InputKind::sequence:
      return make_image_source(input, options.fps.value_or(Rational{30, 1}));
    case InputKind::camera: {
#ifdef EQUALUX_HAVE_OPENCV
      CameraOptions camera;
      camera.number = camera_number(input);
      camera.width = options.width;
      camera.height = options.height;
      camera.fps = options.fps ? options.fps->value() : 0;
      camera.controls = options.controls;
      return reconnecting(camera_factory(camera), options, true);
#else
      not_built("input " + input, "OpenCV", "gst:v4l2src or a file");
#endif
    }
    case InputKind::pipewire: {
#ifdef EQUALUX_HAVE_PIPEWIRE
      PipewireSourceOptions camera;
      camera.camera = after_colon(input);
      camera.width = options.width;
      camera.height = options.height;
      camera.fps = options.fps.value_or(Rational{0, 1});
#ifdef EQUALUX_HAVE_OPENCV
      camera.decode_jpeg = decode_jpeg;
#endif
      return reconnecting([camera] { return make_pipewire_source(camera); }, options, true);
#else
      not_built("input " + input, "libpipewire", "camera:0 or a file");
#endif
    }
    case InputKind::launch:
#ifdef EQUALUX_HAVE_GSTREAMER
      return reconnecting([launch = after_colon(input)] { return make_launch_source(launch); },
                          options, false);
#else
      not_built("input " + input, "GStreamer", "- or a file .y4m");
#endif
    case InputKind::network:
#ifdef EQUALUX_HAVE_GSTREAMER
      return reconnecting(
          [input, sound = options.sound ? NetworkSound::taken : NetworkSound::left] {
            return make_network_source(input, sound);
          },
          options, true);
#else
      not_built("input " + input, "GStreamer", "- or a file .y4m");
#endif
    case InputKind::media_file:
      break;
  }
  require_input(input);
#ifdef EQUALUX_HAVE_GSTREAMER
  FileSourceOptions file;
  file.threads = options.threads;
  file.rate = options.fps;
  if (options.decoder == "software") file.decoder = DecoderChoice::software;
  if (options.decoder == "gpu") file.decoder = DecoderChoice::gpu;
  return make_file_source(input, file);
#else
  not_built("input " + input, "GStreamer", "- or a file .y4m");
#endif
}

}  // namespace

std::unique_ptr<Source> make_source(const std::string& input, const InputOptions& options) {
  const std::optional<Part> part = part_of(options);
  if (part && is_live(input_kind(input)) && input_kind(input) != InputKind::launch &&
      input_kind(input) != InputKind::network) {
    throw_usage("input " + input +
                " has no end, of which --from, --to and --duration take a part; must "
                "be a file, or have --frames");
  }
  std::unique_ptr<Source> source = make_whole_source(input, options);
  return part ? make_part_source(std::move(source), *part) : std::move(source);
}

namespace {

std::unique_ptr<Sink> make_plain_sink(const std::string& output, const OutputOptions& options) {
  switch (output_kind(output)) {
    case OutputKind::standard_output:
      return make_y4m_sink("-");
    case OutputKind::y4m:
      return make_y4m_sink(output, options.resume);
    case OutputKind::null:
      return make_null_sink(options.null_pace);
    case OutputKind::sequence:
      return make_image_sink(output);
    case OutputKind::window:
#ifdef EQUALUX_HAVE_OPENCV
      return make_window_sink({.title = "", .still_folder = "", .steering = options.steering});
#else
      not_built("output window", "OpenCV", "gst:autovideosink, a file or null");
#endif
    case OutputKind::v4l2:
#ifdef EQUALUX_HAVE_GSTREAMER
      return make_v4l2_sink(after_colon(output));
#else
      not_built("output " + output, "GStreamer", "- or a file .y4m");
#endif
    case OutputKind::pipewire:
#ifdef EQUALUX_HAVE_PIPEWIRE
      return make_pipewire_sink({.camera = after_colon(output)});
#else
      not_built("output " + output, "libpipewire", "v4l2:/dev/videoN or a file");
#endif
    case OutputKind::launch:
#ifdef EQUALUX_HAVE_GSTREAMER
      return make_launch_sink(after_colon(output));
#else
      not_built("output " + output, "GStreamer", "- or a file .y4m");
#endif
    case OutputKind::stream:
#ifdef EQUALUX_HAVE_GSTREAMER
      return make_stream_sink({.address = output,
                               .encoder = options.encoder,
                               .prefers_gpu = options.prefers_gpu,
                               .quality = options.quality,
                               .mute = options.mute});
#else
      not_built("output " + without_secrets(output), "GStreamer", "- or a file .y4m");
#endif
    case OutputKind::media_file:
      break;
  }
#ifdef EQUALUX_HAVE_GSTREAMER
  FileSinkOptions file = options;
  file.path = output;
  return make_file_sink(file);
#else
  (void)options;
  not_built("output " + output, "GStreamer", "- or a file .y4m");
#endif
}

}  // namespace

std::unique_ptr<Sink> make_sink(const std::string& output, const OutputOptions& options) {
  return make_upright_sink(make_plain_sink(output, options));
}

}  // namespace equalux::cli
