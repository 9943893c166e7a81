#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Checks of `equalux doctor`, one function for each subject.
namespace equalux::cli {

enum class Health : std::uint8_t {
  good,
  absent,  ///< missing, which is no fault: many machines have no camera
  fault,   ///< present or promised, but unusable
};

struct Finding {
  std::string subject;  ///< "camera:0"
  Health health = Health::good;
  std::string found;
  std::string advice;  ///< remedy; empty = none
};

/// Folders of Linux that describe devices; tests replace them.
struct KernelFolders {
  std::string devices = "/dev";
  std::string classes = "/sys/class/video4linux";
  std::string modules = "/sys/module";
  std::string driver = "/proc/driver";
};

[[nodiscard]] std::vector<Finding> check_gpu(const KernelFolders& folders);
[[nodiscard]] std::vector<Finding> check_cameras(const KernelFolders& folders);
/// Checks the module v4l2loopback, its options and its devices.
[[nodiscard]] std::vector<Finding> check_loopback(const KernelFolders& folders);
/// Checks the program's parts that are loaded on demand, and the libraries they need.
[[nodiscard]] std::vector<Finding> check_modules();
/// Checks PipeWire and its session manager, for pipewire:NAME.
[[nodiscard]] std::vector<Finding> check_pipewire();
[[nodiscard]] std::vector<Finding> check_display();
[[nodiscard]] std::vector<Finding> check_encoders();
[[nodiscard]] std::vector<Finding> check_plugins();

}  // namespace equalux::cli
