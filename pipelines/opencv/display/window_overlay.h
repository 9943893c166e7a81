#pragma once

#include <array>
#include <cstdint>

#include <opencv2/core/mat.hpp>

/// What the window draws over a picture: the split view, and the tones panel.
namespace equalux {

/// V = max(R, G, B) before and after a filter, whatever the filter does.
struct Tones {
  std::array<std::uint32_t, 256> before{};  ///< pixels with that V
  std::array<std::uint32_t, 256> after{};
  std::array<double, 256> mean_after{};  ///< mean V after, of the pixels whose V before is the
                                         ///< index; -1 where there is none
};

/// Looks at every pixel of small pictures and at an even grid of about 300,000 of large ones.
/// Both are CV_8UC3 of one size.
[[nodiscard]] Tones measure_tones(const cv::Mat& before, const cv::Mat& after);

/// Draws the two histograms and the tone curve, half transparent, in the lower right corner of
/// `picture` (CV_8UC3). The panel scales with the picture; in pictures below 64 pixels a side there
/// is no room for it and nothing is drawn.
void draw_tones(const Tones& tones, cv::Mat& picture);

/// Fills `to` with the left half of `before` and the right half of `after`, and a thin line and
/// labels between. All are CV_8UC3 of one size; `to` may be allocated.
void draw_split(const cv::Mat& before, const cv::Mat& after, cv::Mat& to);

/// A mark in the upper left corner: two bars, the sign for a pause.
void draw_pause(cv::Mat& picture);

}  // namespace equalux
