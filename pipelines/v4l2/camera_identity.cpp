#include "pipelines/v4l2/camera_identity.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <equalux/error.h>

namespace equalux {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Returns the numbers of all nodes in sysfs, ascending.
std::vector<int> node_numbers(const std::string& class_folder) {
  std::vector<int> numbers;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(class_folder, missing)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("video") || file.size() < 6 ||
        !std::all_of(file.begin() + 5, file.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    numbers.push_back(std::atoi(file.c_str() + 5));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

CameraIdentity identify_camera(int number, const std::string& class_folder) {
  const fs::path node = fs::path(class_folder) / ("video" + std::to_string(number));
  CameraIdentity identity;
  identity.name = first_line(node / "name");
  identity.index = first_line(node / "index");
  std::error_code missing;
  const fs::path interface = fs::canonical(node / "device", missing);
  if (missing) return identity;
  identity.port = interface.string();
  const fs::path device = interface.parent_path();
  const std::string serial = first_line(device / "serial");
  if (!serial.empty())
    identity.serial =
        first_line(device / "idVendor") + ":" + first_line(device / "idProduct") + ":" + serial;
  return identity;
}

std::optional<int> find_camera(const CameraIdentity& identity, const std::string& class_folder) {
  std::vector<int> of_that_name;
  for (const int number : node_numbers(class_folder)) {
    const CameraIdentity other = identify_camera(number, class_folder);
    if (other.index != identity.index || other.serial != identity.serial) continue;
    if (!identity.serial.empty()) return number;
    if (other.name != identity.name) continue;
    if (!identity.port.empty() && other.port == identity.port) return number;
    of_that_name.push_back(number);
  }
  if (of_that_name.size() == 1) return of_that_name.front();
  return std::nullopt;
}

SourceFactory camera_factory(const CameraOptions& options) {
  auto identity = std::make_shared<std::optional<CameraIdentity>>();
  return [options, identity]() -> std::unique_ptr<Source> {
    if (!identity->has_value()) {
      *identity = identify_camera(options.number);
      return make_camera_source(options);
    }
    const std::optional<int> number = find_camera(**identity);
    if (!number)
      throw Error(ExitCode::no_input,
                  "camera:" + std::to_string(options.number) + ": is not plugged in");
    CameraOptions again = options;
    again.number = *number;
    return make_camera_source(again);
  };
}

}  // namespace equalux
