#pragma once

#include <cerrno>
#include <cstdint>
#include <vector>

#include <linux/videodev2.h>

#include "pipelines/v4l2/v4l2_access.h"

namespace equalux::test {

/// A node that answers as a driver does.
class FakeOutput final : public V4l2Access {
 public:
  std::uint32_t abilities = V4L2_CAP_VIDEO_OUTPUT;
  std::vector<std::uint32_t> listed{V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_YUV420, V4L2_PIX_FMT_NV12};
  bool lists = true;
  int refusal = 0;          ///< of VIDIOC_S_FMT
  bool keeps = false;       ///< its format, whatever it is asked for, and says that all is well
  bool even_sizes = false;  ///< rounds down
  mutable v4l2_pix_format now{};
  mutable int asked = 0;  ///< times that a format was set

  int ask(unsigned long request, void* argument) const override {
    switch (request) {
      case VIDIOC_QUERYCAP: {
        auto& to = *static_cast<v4l2_capability*>(argument);
        to.capabilities = V4L2_CAP_DEVICE_CAPS;
        to.device_caps = abilities;
        return 0;
      }
      case VIDIOC_ENUM_FMT: {
        auto& to = *static_cast<v4l2_fmtdesc*>(argument);
        if (!lists || to.index >= listed.size()) return EINVAL;
        to.pixelformat = listed[to.index];
        return 0;
      }
      case VIDIOC_G_FMT:
        static_cast<v4l2_format*>(argument)->fmt.pix = now;
        return 0;
      case VIDIOC_S_FMT:
        return set(static_cast<v4l2_format*>(argument)->fmt.pix);
      default:
        return ENOTTY;
    }
  }

 private:
  int set(v4l2_pix_format& wanted) const {
    ++asked;
    if (refusal != 0) return refusal;
    if (keeps) return 0;
    for (const std::uint32_t fourcc : listed) {
      if (fourcc == wanted.pixelformat) now.pixelformat = fourcc;
    }
    now.width = even_sizes ? wanted.width & ~1U : wanted.width;
    now.height = even_sizes ? wanted.height & ~1U : wanted.height;
    return 0;
  }
};

}  // namespace equalux::test
