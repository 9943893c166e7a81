#pragma once

#include <cstdint>
#include <string>

#include <equalux/image.h>

#include "pipelines/v4l2/v4l2_access.h"

/// Video4Linux output nodes, such as those of v4l2loopback, and the pictures that they take.
namespace equalux {

/// Returns the command that makes a node, for the end of an error: with the number of
/// "/dev/videoN", and so that browsers list it.
[[nodiscard]] std::string v4l2_output_remedy(const std::string& device);

/// Format that a node takes.
struct V4l2Output {
  std::uint32_t fourcc = 0;  ///< V4L2_PIX_FMT_...
  const char* format = "";   ///< GStreamer's name
  int width = 0;
  int height = 0;
};

/// Asks for frames of `desc` and reads back what the driver set: a device that is being read keeps
/// its format, others round sizes. If the driver does not take the frames' own format, a similar
/// one is tried. `name` is for messages. Throws Error(cannot_create) where it is no output device
/// or takes nothing that can be made from the frames.
[[nodiscard]] V4l2Output set_v4l2_output(const V4l2Access& node, const std::string& name,
                                         const ImageDesc& desc);

/// Returns "takes 640x480 YUYV where the frames have 1280x720: they are scaled"; empty where the
/// size is the frames' own.
[[nodiscard]] std::string size_difference(const V4l2Output& output, const ImageDesc& desc);

/// Returns the end of a launch string that converts any frames to the device's format.
[[nodiscard]] std::string v4l2_launch(const std::string& device, const V4l2Output& output);

}  // namespace equalux
