#pragma once

#include <equalux/image.h>
#include <opencv2/core/mat.hpp>

#include "pipelines/core/source.h"

/// Frames of every format as pictures for a screen.
namespace equalux {

/// Fills `to` (allocated as CV_8UC3 unless it has that size already) with `from`, as
/// convert_to_rgb() does, on all of OpenCV's threads. Of float planes the first is shown, its
/// smallest value black and its largest white.
void frame_to_bgr(const ConstImageView& from, FieldOrder field_order, cv::Mat& to);

/// Returns the size of a picture whose pixels are drawn square. Aspects below 1/16 or above 16,
/// which only damaged files have, count as square.
[[nodiscard]] cv::Size with_square_pixels(cv::Size size, const Rational& pixel_aspect);

}  // namespace equalux
