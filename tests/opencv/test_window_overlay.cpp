#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>

#include "pipelines/opencv/display/window_overlay.h"

namespace equalux {
namespace {

/// A gray picture before and after, filled row by row.
struct Pair {
  cv::Mat before{50, 100, CV_8UC3, cv::Scalar::all(0)};
  cv::Mat after{50, 100, CV_8UC3, cv::Scalar::all(0)};
  int used = 0;

  /// The next pixel: V before and after.
  void add(int v, int w) {
    const int y = used / before.cols;
    const int x = used % before.cols;
    before.at<cv::Vec3b>(y, x) = cv::Vec3b::all(static_cast<std::uint8_t>(v));
    after.at<cv::Vec3b>(y, x) = cv::Vec3b::all(static_cast<std::uint8_t>(w));
    ++used;
  }
};

TEST(WindowOverlay, KeysStandOnAPanelWithinThePicture) {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const cv::Size size :
       {cv::Size(640, 360), cv::Size(360, 640), cv::Size(64, 64), cv::Size(1920, 1080)}) {
    keys.assign(20, {"[ ]", "strength: 0.8"});
    cv::Mat picture(size, CV_8UC3, cv::Scalar::all(200));
    draw_keys(keys, picture);
    EXPECT_LT(cv::mean(picture)[0], 190) << size.width;  // the panel is dark
    EXPECT_EQ(picture.at<cv::Vec3b>(size.height - 1, size.width - 1), cv::Vec3b::all(200));
    const int side = std::min(size.width, size.height);
    const cv::Mat last_lines = picture.rowRange(side * 80 / 100, side * 95 / 100).reshape(1);
    double least = 0;
    double most = 0;
    cv::minMaxLoc(last_lines.colRange(side / 10, side), &least, &most);
    EXPECT_LT(least, 100) << size.width;
    EXPECT_GT(most, side > 64 ? 205 : 0) << size.width;  // the last line's letters
  }
  cv::Mat tiny(40, 40, CV_8UC3, cv::Scalar::all(200));
  draw_keys(keys, tiny);
  EXPECT_EQ(cv::mean(tiny)[0], 200);
}

TEST(WindowOverlay, MessagesFitThePicture) {
  for (const std::string& words :
       {std::string("strength 0.8"), std::string(300, 'w')}) {  // the latter far too long
    cv::Mat picture(360, 640, CV_8UC3, cv::Scalar::all(200));
    const cv::Mat before = picture.clone();
    draw_message(words, picture);
    EXPECT_GT(cv::norm(picture, before), 0);
    const cv::Mat above = picture.rowRange(0, 180);
    EXPECT_EQ(cv::norm(above, before.rowRange(0, 180)), 0);
    const cv::Mat margin = picture.colRange(636, 640);
    EXPECT_EQ(cv::norm(margin, before.colRange(636, 640)), 0) << words.size();
    draw_message("", picture);
  }
  cv::Mat dot(360, 640, CV_8UC3, cv::Scalar::all(0));
  draw_recording(dot);
  EXPECT_EQ(dot.at<cv::Vec3b>(14, 626), cv::Vec3b(40, 40, 230));
}

TEST(WindowOverlay, BordersGiveThePictureTheWindowsShape) {
  const auto framed = [](cv::Size window) {
    const cv::Mat picture(90, 160, CV_8UC3, cv::Scalar::all(200));
    cv::Mat buffer;
    cv::Mat shown = with_borders(window, picture, buffer);
    EXPECT_EQ(cv::sum(shown)[0], 200.0 * 90 * 160) << window;  // the rest is black
    // The next picture of that window takes no memory.
    EXPECT_EQ(with_borders(window, picture, buffer).data, shown.data);
    return shown;
  };
  EXPECT_EQ(framed({320, 180}).size(), cv::Size(160, 90));
  EXPECT_EQ(framed({321, 180}).size(), cv::Size(160, 90));  // half a pixel is no border
  EXPECT_EQ(framed({0, 0}).size(), cv::Size(160, 90));
  EXPECT_EQ(framed({-1, -1}).size(), cv::Size(160, 90));
  EXPECT_EQ(framed({400, 300}).size(), cv::Size(160, 120));
  EXPECT_EQ(framed({400, 100}).size(), cv::Size(360, 90));
  EXPECT_EQ(framed({4000, 1}).size(), cv::Size(900, 90));
  EXPECT_EQ(framed({400, 300}).at<cv::Vec3b>(15, 0), cv::Vec3b::all(200));
}

TEST(WindowOverlay, TheCurveIsTheMeanOfALevelWithEnoughPixels) {
  Pair pair;
  for (int k = 0; k < 100; ++k) {
    pair.add(80, k % 2 ? 120 : 121);
    pair.add(81, 200);
  }
  const Tones tones = measure_tones(pair.before, pair.after);
  EXPECT_EQ(tones.before[80], 100U);
  EXPECT_EQ(tones.after[200], 100U);
  EXPECT_EQ(tones.mean_after[80], 120.5);
  EXPECT_EQ(tones.mean_after[81], 200);
  EXPECT_EQ(tones.mean_after[79], -1);
  EXPECT_EQ(tones.mean_after[82], -1);
}

TEST(WindowOverlay, FewPixelsOfALevelAreJoinedByThoseOfItsNeighbours) {
  Pair pair;
  for (int v = 200; v <= 220; ++v)
    for (int k = 0; k < 12; ++k)
      pair.add(v, v % 2 ? 150 : 170);  // a zigzag of 20 levels, as noise makes it
  const Tones tones = measure_tones(pair.before, pair.after);
  for (std::size_t v = 204; v <= 216; ++v)  // 9 levels of 12 pixels are enough
    EXPECT_NEAR(tones.mean_after[v], 160, 1.2) << v;
  EXPECT_EQ(tones.mean_after[199], -1);
  EXPECT_EQ(tones.mean_after[221], -1);
}

TEST(WindowOverlay, LevelsFarAwayDoNotBelongToTheCurve) {
  Pair pair;
  pair.add(255, 250);
  pair.add(246, 100);  // 9 levels away
  const Tones tones = measure_tones(pair.before, pair.after);
  EXPECT_EQ(tones.mean_after[255], 250);
  EXPECT_EQ(tones.mean_after[246], 100);
}

TEST(WindowOverlay, NeighboursOfBlackAndWhiteEndThere) {
  Pair pair;
  for (int k = 0; k < 40; ++k) {
    pair.add(1, 10);
    pair.add(254, 240);
  }
  pair.add(255, 255);
  const Tones tones = measure_tones(pair.before, pair.after);
  EXPECT_NEAR(tones.mean_after[1], 10.0 * 40 / (40 + tones.before[0]), 1e-9);
  EXPECT_NEAR(tones.mean_after[254], (240.0 * 40 + 255) / 41, 1e-9);
  EXPECT_NEAR(tones.mean_after[255], (240.0 * 40 + 255) / 41, 1e-9);
}

}  // namespace
}  // namespace equalux
