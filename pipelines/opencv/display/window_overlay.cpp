#include "pipelines/opencv/display/window_overlay.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace equalux {
namespace {

constexpr double kSampledPixels = 300'000;
/// Noise moves the mean of fewer pixels by more than a level.
constexpr std::uint64_t kEnoughPixels = 100;
constexpr std::size_t kFarthestLevel = 8;
constexpr int kSmallestSide = 64;

const cv::Scalar kPanel{24, 20, 18};  // colours are B, G, R
const cv::Scalar kGrid{90, 84, 80};
const cv::Scalar kBefore{190, 180, 170};
const cv::Scalar kAfter{40, 150, 240};
const cv::Scalar kCurve{70, 70, 250};
const cv::Scalar kText{235, 235, 235};
constexpr double kPanelWeight = 0.62;

/// Sizes in proportion to the picture, so that overlays look alike in every window.
struct Scale {
  explicit Scale(const cv::Mat& picture)
      : unit(std::min(picture.cols, picture.rows) / 100.0),
        line(std::max(1, static_cast<int>(std::lround(unit * 0.28)))),
        font(unit * 0.075) {}
  [[nodiscard]] int of(double units) const { return static_cast<int>(std::lround(units * unit)); }
  /// Returns the width of the lines of letters.
  [[nodiscard]] int stroke() const { return std::max(1, static_cast<int>(font * 1.6)); }
  double unit;  // a hundredth of the shorter side, in pixels
  int line;
  double font;
};

int value_of(const cv::Vec3b& pixel) {
  return std::max({pixel[0], pixel[1], pixel[2]});
}

void text(cv::Mat& picture, const std::string& words, cv::Point at, const Scale& scale,
          const cv::Scalar& color) {
  cv::putText(picture, words, at, cv::FONT_HERSHEY_SIMPLEX, scale.font, color, scale.stroke(),
              cv::LINE_AA);
}

cv::Size text_size(const std::string& words, const Scale& scale) {
  int baseline = 0;
  return cv::getTextSize(words, cv::FONT_HERSHEY_SIMPLEX, scale.font, scale.stroke(), &baseline);
}

/// Darkens a panel, on which words are readable; returns what of it lies in the picture.
cv::Rect draw_panel(cv::Mat& picture, const cv::Rect& wanted, double weight = kPanelWeight) {
  const cv::Rect panel = wanted & cv::Rect(0, 0, picture.cols, picture.rows);
  if (panel.area() == 0) return panel;
  cv::Mat area = picture(panel);
  cv::addWeighted(area, 1 - weight, cv::Mat(area.size(), area.type(), kPanel), weight, 0, area);
  return panel;
}

/// Draws words on a dark strip; `x` is the strip's right or left end.
void label(cv::Mat& picture, const std::string& words, int x, bool ends_there, const Scale& scale) {
  const cv::Size size = text_size(words, scale);
  const int pad = scale.of(1.2);
  const int left = ends_there ? x - size.width - 2 * pad : x;
  const cv::Rect strip =
      draw_panel(picture, {left, scale.of(2), size.width + 2 * pad, size.height + 2 * pad});
  if (strip.area() == 0) return;
  text(picture, words, {left + pad, strip.y + pad + size.height}, scale, kText);
}

/// Returns a histogram's height for drawing, which ignores single spikes (black bars, clipped
/// white).
double height_of(const std::array<std::uint32_t, 256>& counts) {
  std::array<std::uint32_t, 256> sorted = counts;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return std::max(1.0, 1.15 * sorted[3]);
}

/// The square of a graph: V from left to right, counts or V upwards.
struct Graph {
  cv::Rect area;
  [[nodiscard]] int x(double value) const {
    return area.x + static_cast<int>(std::lround(value / 255 * (area.width - 1)));
  }
  [[nodiscard]] int y(double share) const {
    return area.y + area.height - 1 -
           static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (area.height - 1)));
  }
};

std::vector<cv::Point> outline_of(const std::array<std::uint32_t, 256>& counts,
                                  const Graph& graph) {
  const double height = height_of(counts);
  std::vector<cv::Point> points{{graph.x(0), graph.y(0)}};
  for (int v = 0; v < 256; ++v)
    points.emplace_back(graph.x(v), graph.y(counts[static_cast<std::size_t>(v)] / height));
  points.emplace_back(graph.x(255), graph.y(0));
  return points;
}

/// Averages neighbouring counts. Equalized pictures use some values twice and others never;
/// averaging shows the shape instead of the comb.
std::array<std::uint32_t, 256> smoothed(const std::array<std::uint32_t, 256>& counts) {
  constexpr int kReach = 6;
  std::array<std::uint32_t, 256> result{};
  for (int v = 0; v < 256; ++v) {
    std::uint64_t sum = 0;
    for (int k = std::max(0, v - kReach); k <= std::min(255, v + kReach); ++k)
      sum += counts[static_cast<std::size_t>(k)];
    result[static_cast<std::size_t>(v)] = static_cast<std::uint32_t>(sum / (2 * kReach + 1));
  }
  return result;
}

void fill_histogram(const std::array<std::uint32_t, 256>& counts, const Graph& graph,
                    const cv::Scalar& color, double weight, cv::Mat& picture) {
  cv::Mat area = picture(graph.area);
  cv::Mat layer = area.clone();
  std::vector<cv::Point> outline = outline_of(counts, graph);
  for (cv::Point& point : outline)
    point -= graph.area.tl();
  cv::fillPoly(layer, std::vector<std::vector<cv::Point>>{outline}, color, cv::LINE_AA);
  cv::addWeighted(area, 1 - weight, layer, weight, 0, area);
  cv::polylines(area, outline, false, color, 1, cv::LINE_AA);
}

/// Returns the mean V after of pixels whose V before is `v`, and if they are few, of as many levels
/// on both sides as are needed. -1 if no pixel has `v`.
double mean_near(std::size_t v, const std::array<std::uint32_t, 256>& counts,
                 const std::array<std::uint64_t, 256>& sums) {
  if (counts[v] == 0) return -1;
  std::uint64_t pixels = counts[v];
  std::uint64_t sum = sums[v];
  for (std::size_t reach = 1; pixels < kEnoughPixels && reach <= kFarthestLevel; ++reach) {
    for (const std::size_t level : {v - reach, v + reach}) {
      if (level >= counts.size()) continue;  // also below 0, where it wraps around
      pixels += counts[level];
      sum += sums[level];
    }
  }
  return static_cast<double>(sum) / static_cast<double>(pixels);
}

void draw_curve(const Tones& tones, const Graph& graph, int thickness, cv::Mat& picture) {
  std::vector<cv::Point> curve;
  for (int v = 0; v < 256; ++v) {
    const double mean = tones.mean_after[static_cast<std::size_t>(v)];
    if (mean >= 0) curve.emplace_back(graph.x(v), graph.y(mean / 255));
  }
  cv::polylines(picture, curve, false, kCurve, thickness, cv::LINE_AA);
}

}  // namespace

Tones measure_tones(const cv::Mat& before, const cv::Mat& after) {
  Tones tones;
  std::array<std::uint64_t, 256> sum{};
  const double pixels = static_cast<double>(before.cols) * before.rows;
  const int step = std::max(1, static_cast<int>(std::sqrt(pixels / kSampledPixels)));
  for (int y = 0; y < before.rows; y += step) {
    const auto* in = before.ptr<cv::Vec3b>(y);
    const auto* out = after.ptr<cv::Vec3b>(y);
    for (int x = 0; x < before.cols; x += step) {
      const auto v = static_cast<std::size_t>(value_of(in[x]));
      const auto w = static_cast<std::size_t>(value_of(out[x]));
      ++tones.before[v];
      ++tones.after[w];
      sum[v] += w;
    }
  }
  for (std::size_t v = 0; v < 256; ++v)
    tones.mean_after[v] = mean_near(v, tones.before, sum);
  return tones;
}

void draw_tones(const Tones& tones, cv::Mat& picture) {
  if (picture.cols < kSmallestSide || picture.rows < kSmallestSide) return;
  const Scale scale(picture);
  const int width = std::min(scale.of(52), picture.cols - 2 * scale.of(2));
  const int height = std::min(scale.of(40), picture.rows - 2 * scale.of(2));
  const cv::Rect panel = draw_panel(picture, {picture.cols - scale.of(2) - width,
                                              picture.rows - scale.of(2) - height, width, height});
  const int pad = scale.of(2);
  const int legend = scale.of(5);
  const Graph graph{
      {panel.x + pad, panel.y + pad + legend, width - 2 * pad, height - 2 * pad - legend}};
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const int x = graph.x(255 * quarter / 4.0);
    const int y = graph.y(quarter / 4.0);
    cv::line(picture, {x, graph.y(0)}, {x, graph.y(1)}, kGrid, 1);
    cv::line(picture, {graph.x(0), y}, {graph.x(255), y}, kGrid, 1);
  }
  fill_histogram(smoothed(smoothed(tones.after)), graph, kAfter, 0.3, picture);
  fill_histogram(tones.before, graph, kBefore, 0.6, picture);
  draw_curve(tones, graph, std::max(2, scale.line), picture);

  const int text_y = panel.y + pad + scale.of(2);
  text(picture, "V before", {graph.area.x, text_y}, scale, kBefore);
  text(picture, "V after", {graph.area.x + graph.area.width * 37 / 100, text_y}, scale, kAfter);
  text(picture, "curve", {graph.area.x + graph.area.width * 74 / 100, text_y}, scale, kCurve);
}

void draw_split(const cv::Mat& before, const cv::Mat& after, cv::Mat& to) {
  const int middle = before.cols / 2;
  after.copyTo(to);
  before.colRange(0, middle).copyTo(to.colRange(0, middle));
  if (to.cols < kSmallestSide || to.rows < kSmallestSide) return;
  const Scale scale(to);
  cv::line(to, {middle, 0}, {middle, to.rows}, {0, 0, 0}, scale.line + 2);
  cv::line(to, {middle, 0}, {middle, to.rows}, {255, 255, 255}, scale.line);
  label(to, "before", middle - scale.of(2), true, scale);
  label(to, "after", middle + scale.of(2), false, scale);
}

void draw_keys(const std::vector<std::pair<std::string, std::string>>& keys, cv::Mat& picture) {
  if (picture.cols < kSmallestSide || picture.rows < kSmallestSide || keys.empty()) return;
  Scale scale(picture);
  // Lines 6 hundredths apart, or as close as all of them need to be.
  const double line = std::min(6.0, 94.0 / static_cast<double>(keys.size() + 1)) *
                      std::min(scale.unit, picture.rows / 100.0);
  scale.font = line * 0.019;
  int keys_width = 0;
  int words_width = 0;
  for (const auto& [key, words] : keys) {
    keys_width = std::max(keys_width, text_size(key, scale).width);
    words_width = std::max(words_width, text_size(words, scale).width);
  }
  const int pad = static_cast<int>(line * 0.6);
  const int margin = scale.of(2);
  const int height = static_cast<int>(line * static_cast<double>(keys.size())) + pad;
  constexpr double kWeight = 0.8;  // text must be readable on any picture
  draw_panel(picture, {margin, margin, keys_width + words_width + 4 * pad, height}, kWeight);
  double y = margin + pad * 0.5 + line * 0.75;
  for (const auto& [key, words] : keys) {
    text(picture, key, {margin + pad, static_cast<int>(y)}, scale, kAfter);
    text(picture, words, {margin + 2 * pad + keys_width + pad / 2, static_cast<int>(y)}, scale,
         kText);
    y += line;
  }
}

void draw_message(const std::string& words, cv::Mat& picture) {
  if (picture.cols < kSmallestSide || picture.rows < kSmallestSide || words.empty()) return;
  Scale scale(picture);
  scale.font = scale.unit * 0.11;
  const int margin = scale.of(2);
  const int pad = scale.of(1.5);
  const int room = picture.cols - 2 * (margin + pad);
  if (const int width = text_size(words, scale).width; width > room)
    scale.font *= 1.0 * room / width;
  const cv::Size size = text_size(words, scale);
  const int height = size.height + 2 * pad;
  const cv::Rect strip =
      draw_panel(picture, {margin, picture.rows - margin - height, size.width + 2 * pad, height});
  text(picture, words, {strip.x + pad, strip.y + pad + size.height}, scale, kText);
}

void draw_recording(cv::Mat& picture) {
  const Scale scale(picture);
  const int radius = std::max(2, scale.of(2));
  const cv::Point middle(picture.cols - 2 * radius, 2 * radius);
  cv::circle(picture, middle, radius + scale.line, {255, 255, 255}, cv::FILLED, cv::LINE_AA);
  cv::circle(picture, middle, radius, {40, 40, 230}, cv::FILLED, cv::LINE_AA);
}

const cv::Mat& with_borders(cv::Size window, const cv::Mat& picture, cv::Mat& buffer) {
  if (window.width <= 0 || window.height <= 0 || picture.empty()) return picture;
  // A window that is pulled to a line must not take memory for it.
  const double shape = std::clamp(static_cast<double>(window.width) / window.height, 0.1, 10.0);
  const int width = std::max(picture.cols, static_cast<int>(std::lround(picture.rows * shape)));
  const int height = std::max(picture.rows, static_cast<int>(std::lround(picture.cols / shape)));
  const int x = (width - picture.cols) / 2;
  const int y = (height - picture.rows) / 2;
  if (x == 0 && y == 0) return picture;
  cv::copyMakeBorder(picture, buffer, y, y, x, x, cv::BORDER_CONSTANT, {0, 0, 0});
  return buffer;
}

void draw_pause(cv::Mat& picture) {
  const Scale scale(picture);
  const int width = std::max(2, scale.of(1.6));
  const int height = std::max(6, scale.of(6));
  const int left = scale.of(3);
  for (const int x : {left, left + 2 * width}) {
    const cv::Rect bar =
        cv::Rect(x, left, width, height) & cv::Rect(0, 0, picture.cols, picture.rows);
    cv::rectangle(picture, bar, {0, 0, 0}, 2);
    cv::rectangle(picture, bar, {255, 255, 255}, cv::FILLED);
  }
}

}  // namespace equalux
