#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "options.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "opencv/camera.h"
#endif
#ifdef EQUALUX_HAVE_GSTREAMER
#include "gstreamer/encoders.h"
#endif

/// `equalux devices`: what this machine and this build can do.
namespace equalux::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoCuda = "built without CUDA";

struct DevicesOptions {
  CommonOptions common;
  bool json = false;
};

Json camera_list() {
  Json cameras = Json::array();
#ifdef EQUALUX_HAVE_OPENCV
  for (const CameraInfo& camera : list_cameras()) {
    cameras.push_back({{"input", "camera:" + std::to_string(camera.number)},
                       {"node", camera.node},
                       {"name", camera.name},
                       {"captures", camera.captures},
                       {"trouble", camera.trouble}});
  }
#endif
  return cameras;
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

Json inventory(const DevicesOptions& options) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads =
      options.common.threads > 0 ? static_cast<unsigned>(options.common.threads) : cores;
  return {{"backend", "cpu"},
          {"simd", cpu_simd_target()},
          {"threads", threads},
          {"cuda", {{"available", false}, {"reason", kNoCuda}, {"devices", Json::array()}}},
          {"cameras", camera_list()},
          {"encoders", encoder_list()},
          {"display", display_text()}};
}

std::string text_of(const Json& field) {
  return field.get<std::string>();
}

std::string camera_line(const Json& camera) {
  std::string line = "  " + text_of(camera["input"]) + "  " + text_of(camera["node"]);
  if (!text_of(camera["name"]).empty()) line += "  " + text_of(camera["name"]);
  if (!text_of(camera["trouble"]).empty()) {
    line += "  (" + text_of(camera["trouble"]) + ")";
  } else if (!camera["captures"].get<bool>()) {
    line += "  (gives no pictures)";
  }
  return line + "\n";
}

std::string encoder_line(const Json& encoder) {
  std::string line = "  " + text_of(encoder["name"]);
  line.resize(std::max<std::size_t>(line.size() + 2, 12), ' ');
  return line +
         (encoder["available"].get<bool>() ? text_of(encoder["description"])
                                           : "not available: " + text_of(encoder["reason"])) +
         "\n";
}

std::string readable(const Json& all) {
  std::string text = "auto takes  the CPU, " + text_of(all["simd"]) + ", " +
                     std::to_string(all["threads"].get<int>()) + " threads\n";
  text += "CUDA        " + text_of(all["cuda"]["reason"]) + "\n";
  text += "display     " + text_of(all["display"]) + "\n";
  text += std::string("cameras") + (all["cameras"].empty() ? "     none\n" : "\n");
  for (const Json& camera : all["cameras"])
    text += camera_line(camera);
  text += std::string("encoders") + (all["encoders"].empty() ? "    none\n" : "\n");
  for (const Json& encoder : all["encoders"])
    text += encoder_line(encoder);
  return text;
}

ExitCode run_devices(const DevicesOptions& options) {
  start_logging(options.common);
  if (options.common.backend == Backend::cuda) {
    throw Error(ExitCode::unavailable,
                "--backend is cuda, but this program is built without CUDA; must be auto or cpu");
  }
  const Json all = inventory(options);
  std::fputs((options.json ? all.dump(2) + "\n" : readable(all)).c_str(), stdout);
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
      switch_option("json", "one JSON object instead of text (default: off)", options->json)};
  command.groups = {group, machine_group(options->common), config_group()};
  command.run = [options] { return run_devices(*options); };
  return command;
}

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  commands.push_back(make_run_command());
  commands.push_back(make_image_command());
  commands.push_back(make_batch_command());
  commands.push_back(make_devices_command());
  return commands;
}

}  // namespace equalux::cli
