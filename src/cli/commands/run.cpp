#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <equalux/error.h>

#include "pipelines/files/image_names.h"
#include "pipelines/files/still.h"
#include "pipelines/live/stream_address.h"
#include "src/cli/commands.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"
#include "src/cli/stream/run_stream.h"
#include "src/cli/values.h"
#include "src/common/log.h"
#include "src/options/option_values.h"

/// `equalux run`: filters one stream.
namespace equalux::cli {
namespace {

/// Encoder in the printed list of all keys; a config file copied from there asks for nothing.
constexpr const char* kUsualEncoder = "x264";

struct RunSettings {
  StreamOptions stream;
  Overwrite overwrite = Overwrite::ask;
  bool list_encoders = false;
  std::vector<std::string> flags;                         ///< set on the command line
  std::vector<std::pair<std::string, std::string>> keys;  ///< set in files, with where they stand
};

bool encodes(const std::string& output) {
  if (output.empty()) return false;
  const OutputKind kind = output_kind(output);
  return kind == OutputKind::media_file || kind == OutputKind::stream;
}

/// Checks options of encoding where nothing is encoded: throws for a flag, warns of a file's key.
void refuse_idle_encoding(const RunSettings& settings) {
  const StreamOptions& stream = settings.stream;
  if (encodes(stream.output) || !stream.record.path.empty()) return;
  const std::array<std::pair<const char*, bool>, 3> given{
      {{"encoder", !stream.out.encoder.empty() && stream.out.encoder != kUsualEncoder},
       {"quality", stream.out.quality.has_value()},
       {"lossless", stream.out.lossless}}};
  std::string idle;
  for (const auto& [option, says_something] : given) {
    const std::string name = option;
    const bool is_flag =
        std::find(settings.flags.begin(), settings.flags.end(), name) != settings.flags.end();
    if (is_flag) {
      throw_usage("--" + name + " is of video that is encoded, must be left out for " +
                  stream.output +
                  " (.mp4, .mov, .m4v, .mkv, .webm, rtsp://, rtmp:// and "
                  "srt:// are encoded, and --record is)");
    }
    const auto key = std::find_if(settings.keys.begin(), settings.keys.end(),
                                  [&](const auto& each) { return each.first == name; });
    if (key == settings.keys.end() || !says_something) continue;
    idle += (idle.empty() ? "" : ", ") + key->second + " " + name;
  }
  if (!idle.empty()) logger().warn("{}: {} is not encoded, not used", idle, stream.output);
}

/// Throws for flags that this input or output does not use.
void refuse_idle_flags(const RunSettings& settings) {
  const StreamOptions& stream = settings.stream;
  const InputKind in = input_kind(stream.input);
  const bool camera = is_camera(in);
  const bool file = in == InputKind::media_file;
  const bool network = in == InputKind::network;
  struct Use {
    const char* flag;
    bool used;
    const char* of;
    bool of_output = false;
  };
  const OutputKind out = output_kind(stream.output);
  const std::array<Use, 7> uses{{
      {"fps", camera || file || in == InputKind::sequence, "cameras, stills or files"},
      {"size", camera, "cameras"},
      {"camera-control", in == InputKind::camera, "camera:N"},
      {"reconnect", camera || network || in == InputKind::launch, "live inputs"},
      {"decoder", file || network, "files"},
      {"mute", out == OutputKind::stream, "streams (rtsp:, rtmp:, srt:)", true},
      {"drop-streams", out == OutputKind::media_file, "video files (.mp4, .mov, .m4v, .mkv, .webm)",
       true},
  }};
  for (const Use& use : uses) {
    const bool given =
        std::find(settings.flags.begin(), settings.flags.end(), use.flag) != settings.flags.end();
    if (!given || use.used) continue;
    throw_usage(std::string("--") + use.flag + " is of " + use.of + ", must be left out for " +
                (use.of_output ? stream.output : stream.input));
  }
}

/// Refuses a folder that holds videos: a folder is a sequence of stills.
void refuse_folder_of_videos(const std::string& input) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::string video;
  for (fs::directory_iterator at(input, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string path = at->path().string();
    if (knows_still(path)) return;
    if (is_media_name(path)) video = at->path().filename().string();
  }
  if (video.empty()) return;
  throw_usage("input " + input + " is a folder of videos such as " + video +
              ", must be one of them; equalux batch " + input + " --out DIR does all");
}

/// Refuses an input that is not there before anything is said of the output.
void require_stream_input(const std::string& input) {
  const InputKind kind = input_kind(input);
  if (kind == InputKind::media_file || kind == InputKind::y4m) require_input(input);
  if (kind == InputKind::sequence) (void)list_images(input);
}

ExitCode run_command(RunSettings& settings) {
  StreamOptions& stream = settings.stream;
  if (settings.list_encoders) {
    std::fputs(encoder_table().c_str(), stdout);
    return ExitCode::done;
  }
  if (stream.input.empty()) {
    throw_usage(
        "INPUT is missing, must be a file, camera:N, pipewire:NAME, test:WxH@FPS, "
        "rtsp://..., gst:... or -");
  }
  if (stream.output.empty()) {
    if (!is_live(input_kind(stream.input))) {
      refuse_folder_of_videos(stream.input);
      require_stream_input(stream.input);
      throw_usage("output is missing, must be -o FILE, window, null, gst:... or -");
    }
    stream.output = "window";
  }
  start_logging(stream.common);
  hide_secrets(stream.input);
  hide_secrets(stream.output);
  check_stream(stream);
  refuse_idle_flags(settings);
  refuse_idle_encoding(settings);
  refuse_folder_of_videos(stream.input);
  warn_of_idle_keys(stream.common);
  check_device(stream.common);
  const OutputKind out = output_kind(stream.output);
  const bool names_files =
      out == OutputKind::media_file || out == OutputKind::y4m || out == OutputKind::sequence;
  if (names_files) {
    require_stream_input(stream.input);
    require_free_output(stream.output, settings.overwrite, stream.frames);
  }
  stream.in.threads = stream.common.threads;
  stream.steerable = true;
  stream.may_encode_on_gpu = true;
  catch_signals();
  CurveFile curves(stream.common.curve_to);
  stream.curves = &curves;
  const ExitCode code = run_stream(stream).code;
  curves.finish();
  return code;
}

OptionGroup stream_group(RunSettings& settings) {
  StreamOptions& stream = settings.stream;
  Option output = text_option("output", "OUTPUT",
                              "where frames go, see above (default: window for live inputs and "
                              "test: and gst:; files must name one)",
                              stream.output);
  output.letter = 'o';
  OptionGroup group{"Stream", {}, false};
  for (Option& part : part_options(stream.in))
    group.options.push_back(std::move(part));
  const std::vector<Option> others{
      output,
      overwrite_option(settings.overwrite),
      frames_option(stream.frames),
      progress_option(stream.common),
      curve_to_option(stream.common),
      reconnect_option(stream.in),
      decoder_option(stream.in),
      {"fps", "RATE",
       "frames per second of image sequences and of elementary streams (.h264, .h265, .m2v), asked "
       "of cameras too, up to 10000 or a ratio like 30000/1001 (default: 30; the stream's own)",
       [&stream](const std::string& text) {
         stream.in.fps.reset();
         if (!text.empty()) stream.in.fps = read_rate("fps", text);
       }},
      {"size", "WxH",
       "asked of cameras, pixels, 1 to 16384 a side (default: the camera's largest up to "
       "1920x1080)",
       [&stream](const std::string& text) { read_size(text, stream.in); }},
      camera_control_option(stream.in),
      switch_option("mute",
                    "leave the input's sound out of streams (rtsp:, rtmp: and srt:) (default: off)",
                    stream.out.mute),
      switch_option(
          "latency-report",
          "show how old frames were when they were through the output, and where that time "
          "went (default: off)",
          stream.latency_report),
      {"list-encoders", "", "list the encoders of --encoder and end",
       [&settings](const std::string& text) {
         settings.list_encoders = read_switch("list-encoders", text);
       }}};
  group.options.insert(group.options.begin(), others.begin(), others.end());
  return group;
}

constexpr const char* kRunForms =
    "  INPUT   FILE             a video file, or .y4m\n"
    "          FOLDER, PATTERN  stills in natural order: frames/, 'f%05d.png', 'f*.png'\n"
    "          camera:N         /dev/videoN\n"
    "          pipewire:NAME    a camera that PipeWire knows; pipewire: the default one\n"
    "          test:WxH@FPS     a moving test picture, pixels and frames per second\n"
    "          rtsp://, http:// a stream of the network, https and rtsps too\n"
    "          gst:LAUNCH       a GStreamer launch string that ends in video/x-raw\n"
    "          -                YUV4MPEG2 on stdin\n"
    "  OUTPUT  FILE             .mp4, .mov, .m4v, .mkv, .webm: video encoded, all else\n"
    "                           copied, in webm Opus, Vorbis and WebVTT alone; .y4m\n"
    "          PATTERN          stills: 'out%05d.png'\n"
    "          window           q quits, space before/after, s split, h histogram, p pause, w "
    "still,\n"
    "                           f filter on/off, [ ] strength, - = clip limit, , . time constant,\n"
    "                           ( ) saturation, { } strength of denoise,\n"
    "                           n b next and previous preset, r recording on/off\n"
    "          null             nowhere, to time the rest; with --serve or --control at\n"
    "                           the frame rate of the input\n"
    "          v4l2:/dev/videoN a virtual camera\n"
    "          pipewire:NAME    a camera that programs list as NAME, without a kernel module\n"
    "          rtsp://:PORT/NAME  a stream for network players, H.264, for this machine alone;\n"
    "                           rtsp://USER:PASSWORD@:PORT/NAME for all that reach it\n"
    "          rtsp://HOST/NAME, rtmp://HOST/APP/KEY, srt://HOST:PORT, srt://:PORT\n"
    "                           sent to a server; srt without a host waits for callers\n"
    "          gst:LAUNCH       a GStreamer launch string that takes video/x-raw\n"
    "          -                YUV4MPEG2 on stdout\n";

}  // namespace

Command make_run_command() {
  const auto settings = std::make_shared<RunSettings>();
  StreamOptions& stream = settings->stream;
  Command command;
  command.name = "run";
  command.summary = "filter one stream: a file, a camera, a pipe";
  command.details = kRunForms;
  command.positionals = {{"INPUT", "where frames come from, see below",
                          [settings](const std::string& text) { settings->stream.input = text; }}};
  command.groups = {stream_group(*settings),        live_group(stream.live),
                    recording_group(stream.record), output_group(stream.out),
                    filter_group(stream.common),    measuring_group(stream.common),
                    machine_group(stream.common),   config_group(&stream.common)};
  command.examples =
      "equalux run dark.mp4 -o readable.mp4              a file; sound and timestamps stay\n"
      "equalux run camera:0                              the webcam, in a window\n"
      "equalux run night.mp4 -o out.mkv --preset low-light\n"
      "equalux run scope.mp4 -o out.mp4 --filter clahe   a curve for each part of the picture\n"
      "equalux run - -o - <in.y4m >out.y4m               in a pipe\n";
  command.usual_options = {"output",   "overwrite",  "preset",      "list-presets", "filter",
                           "strength", "clip-limit", "temporal-ms", "encoder",      "quality",
                           "lossless", "frames",     "record",      "serve",        "backend",
                           "config",   "quiet"};
  command.too_many =
      "; an output is given as -o OUTPUT, a pattern of stills must stand in quotes ('f*.png'), and "
      "equalux batch takes many videos";
  command.note = [settings](const Settings& given) {
    note_knobs(settings->stream.common, given);
    for (const auto& [name, setting] : given) {
      if (setting.by == GivenBy::flag) {
        settings->flags.push_back(name);
      } else {
        settings->keys.emplace_back(name, setting.origin);
      }
    }
  };
  command.run = [settings] { return run_command(*settings); };
  command.usual_preset = [settings] {
    const bool camera =
        !settings->stream.input.empty() && is_camera(input_kind(settings->stream.input));
    return std::string(camera ? "webcam" : "stable");
  };
  return command;
}

}  // namespace equalux::cli
