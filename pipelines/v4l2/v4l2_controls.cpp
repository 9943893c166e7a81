#include "pipelines/v4l2/v4l2_controls.h"

#include <algorithm>
#include <cctype>

#include <equalux/error.h>
#include <linux/videodev2.h>

#include "src/common/system_error.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

/// Converts "Exposure Time, Absolute" to "exposure_time_absolute".
std::string spelled(const char* name) {
  std::string text;
  for (; *name != '\0'; ++name) {
    const auto c = static_cast<unsigned char>(*name);
    if (std::isalnum(c) != 0) {
      text += static_cast<char>(std::tolower(c));
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  while (!text.empty() && text.back() == '_')
    text.pop_back();
  return text;
}

std::string advice_for(std::uint32_t id) {
  switch (id) {
    case V4L2_CID_EXPOSURE_AUTO:
      return "changes the light that the filter follows; manual keeps the picture calm";
    case V4L2_CID_EXPOSURE_AUTO_PRIORITY:
      return "lowers the frame rate in the dark; off keeps it";
    case V4L2_CID_AUTOGAIN:
      return "raises noise in the dark, which the filter then enlarges; off keeps it down";
    case V4L2_CID_GAIN:
      return "lower is less noise for the filter to enlarge";
    case V4L2_CID_POWER_LINE_FREQUENCY:
      return "must be the mains' 50 or 60 Hz, or lamps flicker";
    case V4L2_CID_BACKLIGHT_COMPENSATION:
      return "brightens by itself; lowest leaves that to the filter";
    default:
      return {};
  }
}

std::vector<std::pair<std::int32_t, std::string>> choices_of(const V4l2Access& node,
                                                             const v4l2_queryctrl& query) {
  std::vector<std::pair<std::int32_t, std::string>> choices;
  if (query.type != V4L2_CTRL_TYPE_MENU) return choices;
  for (std::int32_t index = query.minimum; index <= query.maximum; ++index) {
    v4l2_querymenu menu{};
    menu.id = query.id;
    menu.index = static_cast<std::uint32_t>(index);
    if (node.ask(VIDIOC_QUERYMENU, &menu) != 0) continue;  // Menus have gaps.
    choices.emplace_back(index, lower_case(reinterpret_cast<const char*>(menu.name)));
  }
  return choices;
}

std::string range_of(const CameraControl& control) {
  if (control.choices.empty()) {
    return std::to_string(control.least) + " to " + std::to_string(control.most);
  }
  std::vector<std::string> names;
  for (const auto& [number, name] : control.choices)
    names.push_back(std::to_string(number) + " (" + name + ")");
  return list_of_names(names);
}

/// Returns the number for a text, or nothing.
std::optional<std::int32_t> value_of(const CameraControl& control, const std::string& text) {
  const std::string wanted = lower_case(text);
  if (const auto number = number_from<std::int32_t>(wanted)) {
    const bool in_range = *number >= control.least && *number <= control.most;
    const bool listed = control.choices.empty() ||
                        std::any_of(control.choices.begin(), control.choices.end(),
                                    [&](const auto& choice) { return choice.first == *number; });
    return in_range && listed ? number : std::nullopt;
  }
  for (const auto& [number, name] : control.choices) {
    if (name == wanted) return number;
  }
  const bool is_switch = control.least == 0 && control.most == 1;
  if (is_switch && (wanted == "on" || wanted == "true")) return 1;
  if (is_switch && (wanted == "off" || wanted == "false")) return 0;
  return std::nullopt;
}

}  // namespace

std::vector<CameraControl> list_controls(const V4l2Access& node) {
  std::vector<CameraControl> controls;
  v4l2_queryctrl query{};
  for (query.id = V4L2_CTRL_FLAG_NEXT_CTRL; node.ask(VIDIOC_QUERYCTRL, &query) == 0;
       query.id |= V4L2_CTRL_FLAG_NEXT_CTRL) {
    const bool readable = query.type == V4L2_CTRL_TYPE_INTEGER ||
                          query.type == V4L2_CTRL_TYPE_BOOLEAN || query.type == V4L2_CTRL_TYPE_MENU;
    if (!readable || (query.flags & V4L2_CTRL_FLAG_DISABLED) != 0) continue;
    CameraControl control;
    control.id = query.id;
    control.name = spelled(reinterpret_cast<const char*>(query.name));
    control.least = query.minimum;
    control.most = query.maximum;
    control.usual = query.default_value;
    control.inactive = (query.flags & V4L2_CTRL_FLAG_INACTIVE) != 0;
    control.choices = choices_of(node, query);
    control.advice = advice_for(query.id);
    v4l2_control current{};
    current.id = query.id;
    if (node.ask(VIDIOC_G_CTRL, &current) != 0) continue;
    control.value = current.value;
    controls.push_back(std::move(control));
  }
  return controls;
}

void set_control(const V4l2Access& node, const std::string& camera, const std::string& name,
                 const std::string& value) {
  const std::vector<CameraControl> controls = list_controls(node);
  const auto found = std::find_if(controls.begin(), controls.end(),
                                  [&](const CameraControl& each) { return each.name == name; });
  if (found == controls.end()) {
    std::vector<std::string> names;
    for (const CameraControl& each : controls)
      names.push_back(each.name);
    throw Error(ExitCode::usage, camera + ": has no control " + name +
                                     (names.empty() ? std::string(", and no other")
                                                    : ", must be " + nearest_or_all(name, names)));
  }
  const std::optional<std::int32_t> number = value_of(*found, value);
  if (!number) {
    throw Error(ExitCode::usage,
                camera + ": control " + name + " is '" + value + "', must be " + range_of(*found));
  }
  v4l2_control wanted{};
  wanted.id = found->id;
  wanted.value = *number;
  const int error = node.ask(VIDIOC_S_CTRL, &wanted);
  if (error == 0) return;
  throw Error(ExitCode::unavailable,
              camera + ": control " + name + " cannot be set: " +
                  (found->inactive ? std::string("another control overrules it; set that one first")
                                   : system_error_text(error)));
}

std::string describe(const CameraControl& control) {
  std::string text = control.name + " = " + std::to_string(control.value);
  for (const auto& [number, name] : control.choices) {
    if (number == control.value) text += " (" + name + ")";
  }
  text += control.choices.empty() ? ", " + range_of(control) : "; " + range_of(control);
  return control.inactive ? text + "; overruled at present" : text;
}

}  // namespace equalux
