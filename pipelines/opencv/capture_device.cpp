#include "pipelines/opencv/capture_device.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <equalux/error.h>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/videoio.hpp>

#include "pipelines/v4l2/v4l2_nodes.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux {
namespace {

std::optional<PixelFormat> native_format(std::uint32_t code) {
  switch (code) {
    case fourcc('Y', 'U', 'Y', 'V'):
      return PixelFormat::yuy2;
    case fourcc('U', 'Y', 'V', 'Y'):
      return PixelFormat::uyvy;
    case fourcc('N', 'V', '1', '2'):
      return PixelFormat::nv12;
    case fourcc('G', 'R', 'E', 'Y'):
      return PixelFormat::gray8;
    default:
      return std::nullopt;
  }
}

Rational rate_of(double fps) {
  if (!(fps > 0) || fps > 1000) return {0, 1};
  if (std::abs(fps - std::round(fps)) < 1e-3) return {std::llround(fps), 1};
  return {std::llround(fps * 1001), 1001};
}

class V4l2Device final : public CaptureDevice {
 public:
  explicit V4l2Device(const CameraOptions& options)
      : options_(options), name_("camera:" + std::to_string(options.number)) {}

  CaptureFormat open(const FormatPredicate& accepts) override {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    const CameraMode mode = choose_mode(check_camera(options_), options_);
    set_controls(options_);
    if (!capture_.open(options_.number, cv::CAP_V4L2))
      throw Error(ExitCode::unavailable,
                  name_ + ": OpenCV cannot use it; is another program using it?");
    ask_for(mode);

    const auto code = static_cast<std::uint32_t>(capture_.get(cv::CAP_PROP_FOURCC));
    const auto native = native_format(code);
    desc_.width = static_cast<int>(capture_.get(cv::CAP_PROP_FRAME_WIDTH));
    desc_.height = static_cast<int>(capture_.get(cv::CAP_PROP_FRAME_HEIGHT));
    // Default of USB cameras for uncompressed video.
    desc_.matrix = ColorMatrix::bt601;
    desc_.range = ColorRange::limited;
    if (native.has_value() && accepts(*native) && capture_.set(cv::CAP_PROP_CONVERT_RGB, 0))
      desc_.format = *native;
    else if (accepts(PixelFormat::bgr))
      desc_.format = PixelFormat::bgr;
    else
      throw Error(ExitCode::unavailable,
                  name_ + ": gives bgr frames, which the filters do not take");
    check_size();
    validate(desc_);
    logger().debug("{}: {}x{} {} from OpenCV's Video4Linux", name_, desc_.width, desc_.height,
                   to_string(desc_.format));
    return {.desc = desc_, .frame_rate = rate_of(capture_.get(cv::CAP_PROP_FPS))};
  }

  bool read(const ImageView& to) override {
    if (!capture_.read(frame_) || frame_.empty()) return false;
    const std::size_t bytes = frame_.total() * frame_.elemSize();
    const bool same_shape = desc_.format != PixelFormat::bgr ||
                            (frame_.cols == desc_.width && frame_.rows == desc_.height);
    if (!same_shape || bytes != tight_bytes(desc_) || !frame_.isContinuous())
      throw Error(ExitCode::bad_input, name_ + ": changed its frames from " + size_text(desc_) +
                                           " to " + size_text(frame_.cols, frame_.rows) + " (" +
                                           std::to_string(bytes) + " bytes); start again");
    const std::uint8_t* from = frame_.data;
    for (int plane = 0; plane < traits(desc_.format).planes; ++plane) {
      const std::size_t row = row_bytes(desc_, plane);
      for (int y = 0; y < plane_rows(desc_, plane); ++y, from += row)
        std::copy_n(from, row, to.row(plane, y));
    }
    return true;
  }

 private:
  void ask_for(const CameraMode& mode) {
    if (mode.fourcc != 0) capture_.set(cv::CAP_PROP_FOURCC, static_cast<double>(mode.fourcc));
    if (mode.width > 0) {
      capture_.set(cv::CAP_PROP_FRAME_WIDTH, mode.width);
      capture_.set(cv::CAP_PROP_FRAME_HEIGHT, mode.height);
    }
    const double fps = options_.fps > 0 ? options_.fps : std::min(mode.fps, 30.0);
    if (fps > 0) capture_.set(cv::CAP_PROP_FPS, fps);
  }

  void check_size() const {
    if (options_.width == 0 || (desc_.width == options_.width && desc_.height == options_.height))
      return;
    throw Error(ExitCode::usage, name_ + ": gives frames of " + size_text(desc_) + " where " +
                                     size_text(options_.width, options_.height) + " was asked for");
  }

  CameraOptions options_;
  std::string name_;
  cv::VideoCapture capture_;
  cv::Mat frame_;
  ImageDesc desc_;
};

}  // namespace

std::unique_ptr<CaptureDevice> make_v4l2_device(const CameraOptions& options) {
  return std::make_unique<V4l2Device>(options);
}

}  // namespace equalux
