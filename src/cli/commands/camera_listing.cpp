#include "src/cli/commands/camera_listing.h"

#include <map>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "src/common/log.h"

#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/camera.h"
#include "pipelines/v4l2/v4l2_controls.h"
#include "pipelines/v4l2/v4l2_nodes.h"
#endif

namespace equalux::cli {

using Json = nlohmann::ordered_json;

namespace {

#ifdef EQUALUX_HAVE_OPENCV
void add_modes(Json& camera, const V4l2Access& node, const CameraOptions& wanted) {
  const std::vector<CameraMode> modes = list_modes(node);
  Json& list = camera["modes"] = Json::array();
  for (const CameraMode& mode : modes) {
    list.push_back({{"format", fourcc_text(mode.fourcc)},
                    {"width", mode.width},
                    {"height", mode.height},
                    {"fps", mode.fps}});
  }
  try {
    camera["why"] = explain_mode(modes, choose_mode(modes, wanted));
  } catch (const Error& error) {
    camera["why"] = error.what();
  }
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

/// "MJPG: 640x480 30, 1280x720 30" for each format.
std::string mode_lines(const Json& modes) {
  std::map<std::string, std::string> by_format;
  for (const Json& mode : modes) {
    std::string& line = by_format[text_of(mode["format"])];
    line += (line.empty() ? "" : ", ") + std::to_string(mode["width"].get<int>()) + "x" +
            std::to_string(mode["height"].get<int>()) + " " +
            std::to_string(static_cast<int>(mode["fps"].get<double>() + 0.5));
  }
  std::string text;
  for (const auto& [format, line] : by_format)
    text += "    " + format + ": " + line + " fps\n";
  return text;
}

}  // namespace

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

}  // namespace equalux::cli
