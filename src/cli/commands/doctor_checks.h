#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What `equalux doctor` looks at, one function a subject.
namespace equalux::cli {

enum class Health : std::uint8_t {
  good,
  absent,  ///< not there, which is no fault: many machines have no camera
  fault,   ///< there, or promised, and not usable
};

struct Finding {
  std::string subject;  ///< "camera:0"
  Health health = Health::good;
  std::string found;
  std::string advice;  ///< what to do; empty where there is nothing to
};

/// The folders where Linux shows what it has; tests point them elsewhere.
struct KernelFolders {
  std::string devices = "/dev";
  std::string classes = "/sys/class/video4linux";
  std::string modules = "/sys/module";
  std::string driver = "/proc/driver";
};

[[nodiscard]] std::vector<Finding> check_gpu(const KernelFolders& folders);
[[nodiscard]] std::vector<Finding> check_cameras(const KernelFolders& folders);
/// The module v4l2loopback, its options and its devices.
[[nodiscard]] std::vector<Finding> check_loopback(const KernelFolders& folders);
/// The parts of the program that are loaded on demand, and the libraries that they need.
[[nodiscard]] std::vector<Finding> check_modules();
/// The daemon of PipeWire and its session manager, for pipewire:NAME.
[[nodiscard]] std::vector<Finding> check_pipewire();
[[nodiscard]] std::vector<Finding> check_display();
[[nodiscard]] std::vector<Finding> check_encoders();
[[nodiscard]] std::vector<Finding> check_plugins();

}  // namespace equalux::cli
