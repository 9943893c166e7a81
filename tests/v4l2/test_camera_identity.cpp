#include <filesystem>
#include <fstream>
#include <string>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "pipelines/v4l2/camera_identity.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

namespace fs = std::filesystem;

/// A sysfs of cameras in a folder of its own.
class Sysfs {
 public:
  [[nodiscard]] std::string classes() const { return folder_ / "class"; }

  /// A node of a USB device on `port`; without a serial number where that is empty.
  void plug(int number, const std::string& port, const std::string& serial,
            const std::string& name = "Cam", const std::string& index = "0") const {
    const fs::path device = fs::path(folder_ / "devices") / port;
    const fs::path interface = device / (port + ":1.0");
    fs::create_directories(interface);
    write(device / "idVendor", "046d");
    write(device / "idProduct", "0825");
    if (!serial.empty()) write(device / "serial", serial);
    const fs::path node = fs::path(classes()) / ("video" + std::to_string(number));
    fs::create_directories(node);
    write(node / "name", name);
    write(node / "index", index);
    fs::create_directory_symlink(interface, node / "device");
  }
  void unplug(int number) const {
    const fs::path node = fs::path(classes()) / ("video" + std::to_string(number));
    fs::remove_all(fs::canonical(node / "device").parent_path());
    fs::remove_all(node);
  }

 private:
  static void write(const fs::path& file, const std::string& line) {
    std::ofstream(file) << line << "\n";
  }
  TempFolder folder_;
};

TEST(CameraIdentity, ASerialNumberIsFoundOnAnyPort) {
  const Sysfs sysfs;
  sysfs.plug(0, "1-3", "ABC");
  sysfs.plug(1, "1-3", "ABC", "Cam", "1");  // The same camera's metadata.
  sysfs.plug(2, "1-4", "DEF");
  const CameraIdentity identity = identify_camera(0, sysfs.classes());
  EXPECT_EQ(identity.serial, "046d:0825:ABC");
  EXPECT_EQ(find_camera(identity, sysfs.classes()), 0);
  sysfs.unplug(0);
  fs::remove_all(fs::path(sysfs.classes()) / "video1");
  EXPECT_EQ(find_camera(identity, sysfs.classes()), std::nullopt);
  sysfs.plug(4, "2-1", "ABC", "Cam", "1");
  sysfs.plug(3, "2-1", "ABC");
  EXPECT_EQ(find_camera(identity, sysfs.classes()), 3);
}

TEST(CameraIdentity, WithoutASerialNumberThePortDecides) {
  const Sysfs sysfs;
  sysfs.plug(0, "1-3", "");
  sysfs.plug(2, "1-4", "");
  const CameraIdentity identity = identify_camera(2, sysfs.classes());
  EXPECT_EQ(find_camera(identity, sysfs.classes()), 2);
  sysfs.unplug(2);
  sysfs.plug(7, "1-4", "");
  EXPECT_EQ(find_camera(identity, sysfs.classes()), 7);
  // On another port it is found by its name, as long as there is one of that name only.
  sysfs.unplug(7);
  sysfs.plug(7, "1-9", "");
  EXPECT_EQ(find_camera(identity, sysfs.classes()), std::nullopt);
  sysfs.unplug(0);
  EXPECT_EQ(find_camera(identity, sysfs.classes()), 7);
  sysfs.unplug(7);
  sysfs.plug(7, "1-9", "", "Other");
  EXPECT_EQ(find_camera(identity, sysfs.classes()), std::nullopt);
}

TEST(CameraIdentity, AFactoryWithoutItsCameraSaysSo) {
  if (fs::exists("/dev/video251")) GTEST_SKIP() << "this machine has a /dev/video251";
  const SourceFactory make = camera_factory({.number = 251});
  const auto first = make();  // open() says what is wrong with it
  try {
    (void)make();
    ADD_FAILURE() << "made again";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
    EXPECT_STREQ(error.what(), "camera:251: is not plugged in");
  }
}

}  // namespace
}  // namespace equalux::test
