#pragma once

#include <equalux/image.h>
#include <opencv2/core/mat.hpp>

/// Frames of every format as pictures for a screen.
namespace equalux {

/// Fills `to` (allocated as CV_8UC3 unless it has that size already) with `from`, as
/// convert_to_rgb() does, on all of OpenCV's threads. Of float planes the first is shown, its
/// smallest value black and its largest white.
void frame_to_bgr(const ConstImageView& from, FieldOrder field_order, cv::Mat& to);

}  // namespace equalux
