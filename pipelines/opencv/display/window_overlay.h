#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <opencv2/core/mat.hpp>

/// Overlays of the window: the split view, and the tones panel.
namespace equalux {

/// V = max(R, G, B) before and after a filter, of any filter.
struct Tones {
  std::array<std::uint32_t, 256> before{};  ///< pixels with that V
  std::array<std::uint32_t, 256> after{};
  std::array<double, 256> mean_after{};  ///< mean V after, of the pixels whose V before is the
                                         ///< index, with those of up to 8 levels on both sides
                                         ///< while they are fewer than 100; -1 where there is none
};

/// Measures every pixel of small pictures and an even grid of about 300,000 of large ones. Both are
/// CV_8UC3 of one size.
[[nodiscard]] Tones measure_tones(const cv::Mat& before, const cv::Mat& after);

/// Draws the two histograms and the tone curve, half transparent, in the lower right corner of
/// `picture` (CV_8UC3). The panel scales with the picture; pictures below 64 pixels a side have no
/// room for it and stay as they are.
void draw_tones(const Tones& tones, cv::Mat& picture);

/// Fills `to` with the left half of `before` and the right half of `after`, a thin line between
/// them, and labels. All are CV_8UC3 of one size; `to` may be allocated.
void draw_split(const cv::Mat& before, const cv::Mat& after, cv::Mat& to);

/// Draws keys and what they do, one below another, on a panel in the upper left corner. The panel
/// scales with the picture, and its lines with their number; pictures below 64 pixels a side stay
/// as they are.
void draw_keys(const std::vector<std::pair<std::string, std::string>>& keys, cv::Mat& picture);

/// Draws words on a dark strip in the lower left corner, smaller where they are too long for the
/// picture's width.
void draw_message(const std::string& words, cv::Mat& picture);

/// Draws the sign for a recording, a red dot, in the upper right corner.
void draw_recording(cv::Mat& picture);

/// Returns `picture` with black borders, in the shape of the window that shows it: toolkits fill
/// the rest with the light gray of their widgets, beside which nobody can judge a dark picture. The
/// result is in `buffer`, allocated where its size changes, or `picture` itself where it needs no
/// borders or the window has no area.
[[nodiscard]] const cv::Mat& with_borders(cv::Size window, const cv::Mat& picture, cv::Mat& buffer);

/// Draws the sign for a pause, two bars, in the upper left corner.
void draw_pause(cv::Mat& picture);

}  // namespace equalux
