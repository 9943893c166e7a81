#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>

#include <equalux/device.h>
#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "pipelines/live/camera_mode.h"
#include "src/cli/commands.h"
#include "src/cli/options.h"
#include "src/cli/stream/io_factory.h"
#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/size_text.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/camera.h"
#include "pipelines/v4l2/v4l2_controls.h"
#include "pipelines/v4l2/v4l2_nodes.h"
#endif
#ifdef EQUALUX_HAVE_PIPEWIRE
#include "pipelines/pipewire/daemon_state.h"
#endif
#ifdef EQUALUX_HAVE_GSTREAMER
#include "pipelines/gstreamer/encode/encoders.h"
#endif

/// `equalux devices`: lists what this machine and this build can do.
namespace equalux::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DevicesOptions {
  CommonOptions common;
  InputOptions wanted;  // size and rate wanted of cameras
  bool json = false;
};

[[maybe_unused]] Json mode_list(const std::vector<CameraMode>& modes) {
  Json list = Json::array();
  for (const CameraMode& mode : modes) {
    list.push_back({{"format", fourcc_text(mode.fourcc)},
                    {"width", mode.width},
                    {"height", mode.height},
                    {"fps", mode.fps}});
  }
  return list;
}

/// Returns the result of `explain`, or the text of its error.
template <typename Explain>
std::string reason_for_mode(const Explain& explain) {
  try {
    return explain();
  } catch (const Error& error) {
    return error.what();
  }
}

#ifdef EQUALUX_HAVE_OPENCV
void add_modes(Json& camera, const V4l2Access& node, const CameraOptions& wanted) {
  const std::vector<CameraMode> modes = list_modes(node);
  camera["modes"] = mode_list(modes);
  camera["why"] = reason_for_mode([&] { return explain_mode(modes, choose_mode(modes, wanted)); });
}

void add_controls(Json& camera, const V4l2Access& node) {
  Json& list = camera["controls"] = Json::array();
  for (const CameraControl& control : list_controls(node)) {
    list.push_back({{"name", control.name},
                    {"value", control.value},
                    {"least", control.least},
                    {"most", control.most},
                    {"default", control.usual},
                    {"text", describe(control)},
                    {"advice", control.advice}});
  }
}
#endif

std::string text_of(const Json& field) {
  return printable(field.get<std::string>());
}

/// Returns a line such as "MJPG: 640x480 30, 1280x720 30" for each format.
std::string mode_lines(const Json& modes) {
  std::map<std::string, std::string> by_format;
  for (const Json& mode : modes) {
    std::string& line = by_format[text_of(mode["format"])];
    line += (line.empty() ? "" : ", ") + size_text(mode["width"], mode["height"]) + " " +
            std::to_string(static_cast<int>(mode["fps"].get<double>() + 0.5));
  }
  std::string text;
  for (const auto& [format, line] : by_format)
    text += "    " + format + ": " + line + " fps\n";
  return text;
}

#ifdef EQUALUX_HAVE_PIPEWIRE
/// Rates a format as a run does whose filters take all pixel formats.
int pipewire_compression(std::uint32_t code) {
#ifdef EQUALUX_HAVE_OPENCV
  return code == fourcc('M', 'J', 'P', 'G') ? 2 : 0;
#else
  return code == fourcc('M', 'J', 'P', 'G') ? -1 : 0;
#endif
}

void add_pipewire_cameras(const InputOptions& wanted, Json& cameras) try {
  const CameraWish wish{wanted.width, wanted.height, wanted.fps ? wanted.fps->value() : 0};
  for (const PipewireCamera& each : look_at_pipewire().cameras) {
    const std::string input = "pipewire:" + each.name;
    cameras.push_back({{"input", input},
                       {"node", each.is_default ? "the default of PipeWire" : "PipeWire"},
                       {"name", each.description == each.name ? "" : each.description},
                       {"captures", true},
                       {"trouble", ""},
                       {"modes", mode_list(each.modes)},
                       {"why", reason_for_mode([&] {
                          return explain_mode(
                              each.modes,
                              choose_mode(each.modes, wish, pipewire_compression, input),
                              pipewire_compression);
                        })},
                       {"controls", Json::array()}});
  }
} catch (const Error& error) {
  // `equalux doctor` reports it as a fault.
  logger().debug("{}", error.what());
}
#endif

Json camera_list([[maybe_unused]] const InputOptions& wanted) {
  Json cameras = Json::array();
#ifdef EQUALUX_HAVE_OPENCV
  for (const CameraInfo& info : list_cameras()) {
    Json camera = {{"input", "camera:" + std::to_string(info.number)},
                   {"node", info.node},
                   {"name", info.name},
                   {"captures", info.captures},
                   {"trouble", info.trouble}};
    if (info.captures) {
      CameraOptions options;
      options.number = info.number;
      options.width = wanted.width;
      options.height = wanted.height;
      options.fps = wanted.fps ? wanted.fps->value() : 0;
      const V4l2Node node(info.node);
      add_modes(camera, node, options);
      add_controls(camera, node);
    }
    cameras.push_back(std::move(camera));
  }
#endif
#ifdef EQUALUX_HAVE_PIPEWIRE
  add_pipewire_cameras(wanted, cameras);
#endif
  return cameras;
}

std::string camera_lines(const Json& camera) {
  std::string text = "  " + text_of(camera["input"]) + "  " + text_of(camera["node"]);
  if (!text_of(camera["name"]).empty()) text += "  " + text_of(camera["name"]);
  if (!text_of(camera["trouble"]).empty()) {
    text += "  (" + text_of(camera["trouble"]) + ")";
  } else if (!camera["captures"].get<bool>()) {
    text += "  (gives no pictures)";
  }
  text += "\n";
  if (!camera.contains("modes")) return text;
  text += "    takes " + text_of(camera["why"]) + "\n" + mode_lines(camera["modes"]);
  for (const Json& control : camera["controls"]) {
    if (text_of(control["advice"]).empty()) continue;
    text += "    --camera-control " + text_of(control["name"]) +
            "=...: " + text_of(control["text"]) + "\n      " + text_of(control["advice"]) + "\n";
  }
  return text;
}

Json encoder_list() {
  Json encoders = Json::array();
#ifdef EQUALUX_HAVE_GSTREAMER
  for (const EncoderListing& encoder : list_encoders()) {
    encoders.push_back({{"name", encoder.name},
                        {"description", encoder.description},
                        {"available", encoder.available},
                        {"reason", encoder.reason}});
  }
#endif
  return encoders;
}

std::string display_text() {
  for (const char* variable : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return std::string(variable) + "=" + value;
  }
  return "none";
}

Json cuda_devices(const CudaStatus& status) {
  Json devices = Json::array();
  for (const CudaDevice& device : status.devices) {
    devices.push_back(
        {{"device", device.number},
         {"name", device.name},
         {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
         {"multiprocessors", device.multiprocessors},
         {"total_bytes", device.total_bytes},
         {"free_bytes", device.free_bytes},
         {"trouble", device.trouble}});
  }
  return devices;
}

/// Returns what --backend and --device would run on. Throws as a run would.
Json chosen_backend(const CommonOptions& common, const CudaStatus& cuda) {
  const bool wants_cuda =
      common.backend == Backend::cuda || (common.backend == Backend::automatic && cuda.available);
  if (!wants_cuda) return {{"backend", "cpu"}};
  return {{"backend", "cuda"}, {"device", choose_cuda_device(common.device).number}};
}

Json inventory(const DevicesOptions& options) {
  const CudaStatus cuda = cuda_status();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads =
      options.common.threads > 0 ? static_cast<unsigned>(options.common.threads) : cores;
  Json all = chosen_backend(options.common, cuda);
  all["simd"] = cpu_simd_target();
  all["threads"] = threads;
  all["cuda"] = {
      {"available", cuda.available}, {"reason", cuda.reason}, {"devices", cuda_devices(cuda)}};
  all["cameras"] = camera_list(options.wanted);
  all["encoders"] = encoder_list();
  all["display"] = display_text();
  return all;
}

std::string encoder_line(const Json& encoder) {
  std::string line = "  " + text_of(encoder["name"]);
  line.resize(std::max<std::size_t>(line.size() + 2, 12), ' ');
  return line +
         (encoder["available"].get<bool>() ? text_of(encoder["description"])
                                           : "not available: " + text_of(encoder["reason"])) +
         "\n";
}

std::string cuda_line(const Json& device) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const auto gib = [&](const char* key) {
    return std::to_string(static_cast<int>(device[key].get<double>() / kGiB + 0.5));
  };
  std::string line = "  device " + std::to_string(device["device"].get<int>()) + "  " +
                     text_of(device["name"]) + ", " + text_of(device["compute_capability"]);
  const std::string trouble = text_of(device["trouble"]);
  return line +
         (trouble.empty() ? ", " + gib("free_bytes") + " of " + gib("total_bytes") + " GiB free"
                          : "  (" + trouble + ")") +
         "\n";
}

std::string readable(const Json& all) {
  const bool cuda = text_of(all["backend"]) == "cuda";
  const std::string cpu =
      text_of(all["simd"]) + ", " + std::to_string(all["threads"].get<int>()) + " threads\n";
  std::string text = "auto takes  ";
  if (cuda) {
    text += "CUDA device " + std::to_string(all["device"].get<int>()) + "\n";
    text += "CPU         " + cpu;
  } else {
    text += "the CPU, " + cpu;
  }
  text += "CUDA        " +
          (all["cuda"]["devices"].empty() ? text_of(all["cuda"]["reason"]) : std::string()) + "\n";
  for (const Json& device : all["cuda"]["devices"])
    text += cuda_line(device);
  text += "display     " + text_of(all["display"]) + "\n";
  text += std::string("cameras") + (all["cameras"].empty() ? "     none\n" : "\n");
  for (const Json& camera : all["cameras"])
    text += camera_lines(camera);
  text += std::string("encoders") + (all["encoders"].empty() ? "    none\n" : "\n");
  for (const Json& encoder : all["encoders"])
    text += encoder_line(encoder);
  return text;
}

ExitCode run_devices(const DevicesOptions& options) {
  start_logging(options.common);
  const Json all = inventory(options);
  std::fputs((options.json ? json_text(all, 2) + "\n" : readable(all)).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace

Command make_devices_command() {
  const auto options = std::make_shared<DevicesOptions>();
  Command command;
  command.name = "devices";
  command.summary = "what this machine has: backend, cameras, encoders, display";
  OptionGroup group{"Listing", {}, false};
  group.options = {
      switch_option("json", "one JSON object instead of text (default: off)", options->json),
      {"size", "WxH", "which mode a run with this --size would take (default: any)",
       [options](const std::string& text) { read_size(text, options->wanted); }},
      {"fps", "RATE", "which mode a run with this --fps would take (default: 30)",
       [options](const std::string& text) {
         options->wanted.fps.reset();
         if (!text.empty()) options->wanted.fps = read_rate("fps", text);
       }}};
  command.groups = {group, machine_group(options->common), config_group()};
  command.run = [options] { return run_devices(*options); };
  return command;
}

}  // namespace equalux::cli
