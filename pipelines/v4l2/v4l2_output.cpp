#include "pipelines/v4l2/v4l2_output.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <equalux/error.h>
#include <linux/videodev2.h>

#include "src/common/decimal.h"
#include "src/common/size_text.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

struct Known {
  std::uint32_t fourcc;
  const char* format;
  std::optional<PixelFormat> native;
};
/// Formats that programs expect of a camera, the usual ones first.
constexpr std::array<Known, 10> kKnown{{
    {V4L2_PIX_FMT_YUYV, "YUY2", PixelFormat::yuy2},
    {V4L2_PIX_FMT_YUV420, "I420", PixelFormat::i420},
    {V4L2_PIX_FMT_NV12, "NV12", PixelFormat::nv12},
    {V4L2_PIX_FMT_UYVY, "UYVY", PixelFormat::uyvy},
    {V4L2_PIX_FMT_YVU420, "YV12", std::nullopt},
    {V4L2_PIX_FMT_BGR24, "BGR", PixelFormat::bgr},
    {V4L2_PIX_FMT_RGB24, "RGB", PixelFormat::rgb},
    {V4L2_PIX_FMT_XBGR32, "BGRx", std::nullopt},
    {V4L2_PIX_FMT_ABGR32, "BGRA", std::nullopt},
    {V4L2_PIX_FMT_GREY, "GRAY8", PixelFormat::gray8},
}};

const Known* known(std::uint32_t fourcc) {
  const auto* const found = std::find_if(kKnown.begin(), kKnown.end(),
                                         [&](const Known& each) { return each.fourcc == fourcc; });
  return found == kKnown.end() ? nullptr : found;
}

std::string text_of(std::uint32_t fourcc) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8) {
    const char c = static_cast<char>(fourcc >> shift & 0x7F);
    text += c > ' ' ? c : '?';
  }
  return text;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ExitCode::cannot_create, what);
}

void check_abilities(const V4l2Access& node, const std::string& name) {
  v4l2_capability abilities{};
  const bool asked = node.ask(VIDIOC_QUERYCAP, &abilities) == 0;
  const std::uint32_t flags = (abilities.capabilities & V4L2_CAP_DEVICE_CAPS) != 0
                                  ? abilities.device_caps
                                  : abilities.capabilities;
  if (!asked || (flags & V4L2_CAP_VIDEO_OUTPUT) == 0) {
    refuse(name + ": is no video output device" + v4l2_output_remedy(name));
  }
}

/// Returns the formats that the driver lists and we can make, the frames' own first. Some drivers
/// list none.
std::vector<std::uint32_t> candidates(const V4l2Access& node, PixelFormat own) {
  std::vector<std::uint32_t> listed;
  v4l2_fmtdesc entry{};
  entry.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
  while (node.ask(VIDIOC_ENUM_FMT, &entry) == 0) {
    listed.push_back(entry.pixelformat);
    ++entry.index;
  }
  std::vector<std::uint32_t> usable;
  for (const Known& each : kKnown) {
    const bool there =
        listed.empty() || std::find(listed.begin(), listed.end(), each.fourcc) != listed.end();
    if (!there) continue;
    usable.insert(each.native == own ? usable.begin() : usable.end(), each.fourcc);
  }
  return usable;
}

/// Asks for a format. If the driver refuses or changes it, what it set instead counts.
void ask_for(const V4l2Access& node, std::uint32_t fourcc, const ImageDesc& desc) {
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
  static_cast<void>(node.ask(VIDIOC_G_FMT, &format));
  format.fmt.pix.width = static_cast<std::uint32_t>(desc.width);
  format.fmt.pix.height = static_cast<std::uint32_t>(desc.height);
  format.fmt.pix.pixelformat = fourcc;
  format.fmt.pix.field = V4L2_FIELD_NONE;
  format.fmt.pix.bytesperline = 0;
  format.fmt.pix.sizeimage = 0;
  static_cast<void>(node.ask(VIDIOC_S_FMT, &format));
}

v4l2_pix_format read_back(const V4l2Access& node, const std::string& name) {
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
  if (const int error = node.ask(VIDIOC_G_FMT, &format); error != 0) {
    refuse(name + ": does not tell which frames it takes: " + system_error_text(error));
  }
  return format.fmt.pix;
}

}  // namespace

std::string v4l2_output_remedy(const std::string& device) {
  constexpr std::string_view kNode = "/dev/video";
  std::string number = device.starts_with(kNode) ? device.substr(kNode.size()) : "";
  if (!std::all_of(number.begin(), number.end(), is_digit)) number.clear();
  return "; v4l2loopback makes one: sudo modprobe v4l2loopback exclusive_caps=1" +
         (number.empty() ? "" : " video_nr=" + number);
}

V4l2Output set_v4l2_output(const V4l2Access& node, const std::string& name, const ImageDesc& desc) {
  check_abilities(node, name);
  v4l2_pix_format now{};
  for (const std::uint32_t fourcc : candidates(node, desc.format)) {
    ask_for(node, fourcc, desc);
    now = read_back(node, name);
    if (now.pixelformat == fourcc) break;
  }
  const Known* format = known(now.pixelformat);
  if (format == nullptr || now.width == 0 || now.height == 0 || now.width > kMaxSide ||
      now.height > kMaxSide) {
    refuse(name + ": takes " +
           (now.pixelformat == 0 ? "no frames that can be made here"
                                 : "frames of " + text_of(now.pixelformat) + " only") +
           ", must take one of YUYV, YU12, NV12, UYVY, YV12, BGR3, RGB3, XR24, AR24, GREY; is "
           "another program using it?");
  }
  return {now.pixelformat, format->format, static_cast<int>(now.width),
          static_cast<int>(now.height)};
}

std::string size_difference(const V4l2Output& output, const ImageDesc& desc) {
  if (output.width == desc.width && output.height == desc.height) return {};
  return "takes " + size_text(output.width, output.height) + " " + text_of(output.fourcc) +
         " where the frames have " + size_text(desc.width, desc.height) + ": they are scaled";
}

std::string v4l2_launch(const std::string& device, const V4l2Output& output) {
  return "videoscale add-borders=true ! videoconvert ! video/x-raw,format=" +
         std::string(output.format) + ",width=" + std::to_string(output.width) +
         ",height=" + std::to_string(output.height) +
         ",pixel-aspect-ratio=1/1 ! v4l2sink device=\"" + device + "\"";
}

}  // namespace equalux
