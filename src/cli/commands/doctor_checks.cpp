#include "src/cli/commands/doctor_checks.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <equalux/device.h>
#include <equalux/error.h>
#include <unistd.h>

#include "src/common/size_text.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/camera.h"
#include "pipelines/opencv/display/window_display.h"
#endif
#ifdef EQUALUX_HAVE_GSTREAMER
#include "pipelines/gstreamer/encode/encoders.h"
#include "pipelines/gstreamer/plugins.h"
#endif
#ifdef EQUALUX_HAVE_PIPEWIRE
#include "pipelines/pipewire/daemon_state.h"
#include "src/common/log.h"
#endif
#ifdef EQUALUX_HAVE_MODULES
#include "pipelines/modules/module.h"
#endif

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

#ifdef EQUALUX_HAVE_MODULES
std::vector<ModuleName> built_modules() {
  std::vector<ModuleName> names;
#ifdef EQUALUX_HAVE_OPENCV
  names.insert(names.end(), {kStillsModule, kCameraModule, kWindowModule});
#endif
#ifdef EQUALUX_HAVE_GSTREAMER
  names.push_back(kMediaModule);
#endif
#ifdef EQUALUX_HAVE_PIPEWIRE
  names.push_back(kPipewireModule);
#endif
  return names;
}
#endif

constexpr const char* kJoinGroup = "sudo usermod -aG video $USER, and log in again";
constexpr const char* kLoadLoopback =
    "sudo modprobe v4l2loopback exclusive_caps=1 card_label=equalux";

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

[[maybe_unused]] Finding not_built(const std::string& subject, const std::string& library) {
  return {subject, Health::absent, "this build has no " + library,
          "configure it again with " + library + " installed"};
}

Finding without_gstreamer(const std::string& subject, const Error& error) {
  return {subject, Health::fault, error.what(), "GStreamer must start, before it can be asked"};
}

/// Returns the numbers of v4l2loopback's nodes, the only ones with this attribute.
std::vector<int> loopback_numbers(const KernelFolders& folders) {
  std::vector<int> numbers;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folders.classes, missing)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("video") && fs::exists(entry.path() / "max_openers", missing)) {
      numbers.push_back(std::atoi(file.c_str() + 5));
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Finding check_loopback_node(const KernelFolders& folders, int number, bool exclusive) {
  const std::string file = "video" + std::to_string(number);
  const fs::path node = fs::path(folders.devices) / file;
  Finding finding{"v4l2:" + node.string(), Health::good,
                  first_line(fs::path(folders.classes) / file / "name"), ""};
  if (::access(node.c_str(), R_OK | W_OK) != 0) {
    finding.health = Health::fault;
    finding.found += errno == ENOENT ? ", its node is missing" : ", may not be written";
    finding.advice = errno == ENOENT
                         ? "sudo modprobe -r v4l2loopback, then " + std::string(kLoadLoopback)
                         : kJoinGroup;
    return finding;
  }
  // The format reads "YU12:640x480@30/1"; empty until something was written.
  const std::string format = first_line(fs::path(folders.classes) / file / "format");
  int width = 0;
  int height = 0;
  const std::size_t colon = format.find(':');
  if (colon != std::string::npos &&
      std::sscanf(format.c_str() + colon + 1, "%dx%d", &width, &height) == 2 &&
      (width % 2 != 0 || height % 2 != 0)) {
    finding.health = Health::fault;
    finding.found += ", set to frames of " + size_text(width, height);
    finding.advice = "readers refuse odd sizes; give it frames of even width and height (--size)";
    return finding;
  }
  if (!exclusive) {
    finding.health = Health::fault;
    finding.found += ", exclusive_caps is off: browsers do not list it as a camera";
    finding.advice = "sudo modprobe -r v4l2loopback, then " + std::string(kLoadLoopback);
  }
  return finding;
}

}  // namespace

std::vector<Finding> check_gpu(const KernelFolders& folders) {
  const CudaStatus cuda = cuda_status();
  std::vector<Finding> findings;
  for (const CudaDevice& device : cuda.devices) {
    const bool usable = device.trouble.empty();
    findings.push_back({"gpu " + std::to_string(device.number),
                        usable ? Health::good : Health::fault,
                        device.name + (usable ? "" : ": " + device.trouble),
                        usable ? "" : "the CPU filters until then; --backend cpu says so"});
  }
  if (!findings.empty()) return findings;
  const bool card = fs::exists(fs::path(folders.devices) / "nvidia0") ||
                    fs::exists(fs::path(folders.driver) / "nvidia");
  if (card) {
    return {{"gpu", Health::fault, cuda.reason,
             "install a driver that fits the card (nvidia-smi must answer); the CPU filters until "
             "then"}};
  }
  return {{"gpu", Health::absent, cuda.reason, "nothing to do: the CPU gives the same bytes"}};
}

std::vector<Finding> check_cameras([[maybe_unused]] const KernelFolders& folders) {
#ifdef EQUALUX_HAVE_OPENCV
  std::vector<Finding> findings;
  const std::vector<int> loopbacks = loopback_numbers(folders);
  for (const CameraInfo& camera : list_cameras(folders.devices, folders.classes)) {
    if (std::find(loopbacks.begin(), loopbacks.end(), camera.number) != loopbacks.end()) continue;
    const std::string subject = "camera:" + std::to_string(camera.number);
    if (!camera.trouble.empty()) {
      const bool forbidden = ::access(camera.node.c_str(), R_OK | W_OK) != 0 && errno == EACCES;
      findings.push_back(
          {subject, Health::fault, camera.node + ": " + camera.trouble,
           forbidden ? kJoinGroup : "unplug it and plug it in again; dmesg says more"});
    } else if (camera.captures) {
      findings.push_back({subject, Health::good, camera.node + ", " + camera.name, ""});
    }
  }
  if (!findings.empty()) return findings;
  return {{"camera", Health::absent, "none is plugged in",
           "plug one in; virtual machines and containers must be given its /dev/videoN"}};
#else
  return {not_built("camera", "OpenCV")};
#endif
}

std::vector<Finding> check_loopback(const KernelFolders& folders) {
  const fs::path module = fs::path(folders.modules) / "v4l2loopback";
  if (!fs::exists(module)) {
    return {{"v4l2loopback", Health::absent, "not loaded: there is no virtual camera",
             "sudo apt install v4l2loopback-dkms, then " + std::string(kLoadLoopback)}};
  }
  // exclusive_caps has one letter or digit for each device, in order: "Y,N,N".
  const std::string options = first_line(module / "parameters" / "exclusive_caps");
  std::vector<Finding> findings;
  std::size_t at = 0;
  for (const int number : loopback_numbers(folders)) {
    const char option = at < options.size() ? options[at] : 'N';
    findings.push_back(check_loopback_node(folders, number, option == 'Y' || option == '1'));
    at += 2;
  }
  if (!findings.empty()) return findings;
  return {{"v4l2loopback", Health::fault, "loaded, but without a device",
           "sudo modprobe -r v4l2loopback, then " + std::string(kLoadLoopback)}};
}

std::vector<Finding> check_modules() {
#ifdef EQUALUX_HAVE_MODULES
  std::vector<Finding> findings;
  std::string loaded;
  for (const ModuleName& name : built_modules()) {
    try {
      static_cast<void>(load_module(name));
      loaded += (loaded.empty() ? "" : ", ") + std::string(name.name);
    } catch (const Error& error) {
      findings.push_back({"module " + std::string(name.name), Health::fault, error.what(),
                          "install equalux again, with what its package depends on"});
    }
  }
  if (!loaded.empty()) findings.push_back({"modules", Health::good, loaded, ""});
  return findings;
#else
  return {};
#endif
}

std::vector<Finding> check_pipewire() {
#ifdef EQUALUX_HAVE_PIPEWIRE
  PipewireState state;
  try {
    state = look_at_pipewire();
  } catch (const Error& error) {
    // Other packages install the library alone, without PipeWire's plugins.
    logger().debug("{}", error.what());
    state.trouble = "the library is here, its plugins are not";
  }
  if (!state.trouble.empty()) {
    return {{"pipewire", Health::absent, state.trouble,
             "sudo apt install pipewire wireplumber, and log in again; -o v4l2:/dev/videoN is the "
             "other way"}};
  }
  std::string found = state.version;
  if (state.session_manager.empty()) {
    return {{"pipewire", Health::fault,
             found + ", without a session manager: no program is connected with a camera",
             "sudo apt install wireplumber, then systemctl --user start wireplumber"}};
  }
  found += ", " + state.session_manager;
  for (const PipewireCamera& camera : state.cameras)
    found += ", pipewire:" + camera.name + (camera.is_default ? " (the default)" : "");
  return {{"pipewire", Health::good, found, ""}};
#else
  return {not_built("pipewire", "libpipewire")};
#endif
}

std::vector<Finding> check_display() {
  const char* x11 = std::getenv("DISPLAY");
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  const bool named = (x11 != nullptr && *x11 != '\0') || (wayland != nullptr && *wayland != '\0');
  if (!named) {
    return {{"display", Health::absent, "neither DISPLAY nor WAYLAND_DISPLAY is set",
             "over ssh: ssh -X; without one: -o FILE, v4l2:/dev/videoN or null"}};
  }
#ifdef EQUALUX_HAVE_OPENCV
  try {
    const auto display = open_display();
    return {{"display", Health::good,
             display->name() + ", " + size_text(display->width(), display->height()), ""}};
  } catch (const Error& error) {
    return {{"display", Health::fault, error.what(),
             "log in to the desktop, or unset DISPLAY and WAYLAND_DISPLAY"}};
  }
#else
  return {not_built("display", "OpenCV")};
#endif
}

std::vector<Finding> check_encoders() try {
#ifdef EQUALUX_HAVE_GSTREAMER
  std::vector<Finding> findings;
  std::string available;
  for (const EncoderListing& encoder : list_encoders()) {
    if (encoder.available) {
      available += (available.empty() ? "" : ", ") + encoder.name;
    } else if (encoder.name == kDefaultEncoder) {
      findings.push_back({"encoder " + encoder.name, Health::fault, encoder.reason,
                          "sudo apt install gstreamer1.0-plugins-ugly, or --encoder of another"});
    }
  }
  if (!available.empty()) findings.push_back({"encoders", Health::good, available, ""});
  return findings;
#else
  return {not_built("encoders", "GStreamer")};
#endif
} catch (const Error& error) {
  return {without_gstreamer("encoders", error)};
}

std::vector<Finding> check_plugins() try {
#ifdef EQUALUX_HAVE_GSTREAMER
  std::vector<Finding> findings;
  std::size_t found = 0;
  for (const PluginListing& plugin : list_plugins()) {
    if (plugin.found) {
      ++found;
      continue;
    }
    findings.push_back({"gstreamer " + plugin.element, Health::fault,
                        "missing: needed for " + plugin.purpose,
                        "sudo apt install " + plugin.package});
  }
  findings.push_back(
      {"gstreamer", Health::good, std::to_string(found) + " elements that are needed", ""});
  return findings;
#else
  return {not_built("gstreamer", "GStreamer")};
#endif
} catch (const Error& error) {
  return {without_gstreamer("gstreamer", error)};
}

}  // namespace equalux::cli
