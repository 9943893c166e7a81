#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// The modes that a camera offers, and the choice between them.
namespace equalux {

/// A format, size and rate that a camera offers.
struct CameraMode {
  std::uint32_t fourcc = 0;  ///< as in V4L2: 'Y' | 'U' << 8 | 'Y' << 16 | 'V' << 24
  int width = 0;             ///< pixels
  int height = 0;            ///< pixels
  double fps = 0;            ///< the fastest at that size; 0 = unknown
};

/// Wishes of the user for a camera.
struct CameraWish {
  int width = 0;   ///< pixels; 0 = any up to 1920x1080
  int height = 0;  ///< pixels; 0 with width 0
  double fps = 0;  ///< frames per second; 0 = 30
};

constexpr std::uint32_t fourcc(char a, char b, char c, char d) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(a)) |
         static_cast<std::uint32_t>(static_cast<unsigned char>(b)) << 8 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 16 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(d)) << 24;
}

/// Returns the text of a code: "MJPG", "YUYV".
[[nodiscard]] std::string fourcc_text(std::uint32_t code);

/// Tells how a format is used: 0 = as it is, 1 = as it is, with more bytes than needed, 2 =
/// compressed, -1 = not at all.
using Compression = std::function<int(std::uint32_t fourcc)>;

/// Chooses a mode: one that reaches the wanted rate, then the largest, then the least compressed. A
/// mode of fourcc 0 leaves the choice to the camera. `name` is for messages. Throws Error(usage)
/// where no mode has the wanted size.
[[nodiscard]] CameraMode choose_mode(const std::vector<CameraMode>& modes, const CameraWish& wish,
                                     const Compression& compression, const std::string& name);

/// Explains in one line which mode was chosen and why: "MJPG 1280x720 at up to 30 fps: ...".
[[nodiscard]] std::string explain_mode(const std::vector<CameraMode>& modes,
                                       const CameraMode& chosen, const Compression& compression);

}  // namespace equalux
