#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <equalux/image.h>

/// Clips that show whether a filter over time stays calm: one dark, noisy picture in which one
/// thing happens. Every frame is a pure function of the scene and its number, in integers: the same
/// bytes on every machine.
namespace equalux::scenes {

enum class SceneKind : std::uint8_t {
  noise,       ///< nothing happens
  object,      ///< something bright comes in from the left, stays a second, and goes back
  flicker,     ///< the light alternates by 3 % up and down, with a slip now and then
  beat_100hz,  ///< 3 % of 100 Hz, seen 30 times a second: 10 Hz
  beat_120hz,  ///< 3 % of 120 Hz, seen 29.97 times a second: one turn in 8.3 s
  cut,         ///< another picture, bright and hazy, from one frame to the next
  fade,        ///< the light falls to a quarter within 4 s
  logo,        ///< a white sign appears for 2 s
  letterbox,   ///< black bars cover an eighth each of top and bottom for 2 s
};

[[nodiscard]] const std::vector<SceneKind>& all_scenes();
[[nodiscard]] std::string_view name_of(SceneKind kind);

/// Frames in which something happens: [begin, end).
struct FrameSpan {
  int begin = 0;
  int end = 0;
};

/// One clip. Immutable once made: threads may share it.
class StabilityScene {
 public:
  static constexpr ImageDesc kDesc{PixelFormat::bgr, 640, 360};
  static constexpr int kFramesPerSecond = 30;
  static constexpr int kNoiseSigma = 3;  ///< levels, each colour by itself

  explicit StabilityScene(SceneKind kind);

  [[nodiscard]] SceneKind kind() const { return kind_; }
  [[nodiscard]] int frames() const { return frames_; }
  /// The object's way, the flicker, the frame of the cut, the fade, the sign's or the bars' time;
  /// the whole clip where nothing begins.
  [[nodiscard]] FrameSpan event() const { return event_; }
  [[nodiscard]] static std::int64_t pts_ns(int frame);

  /// `to` is of kDesc.
  void draw(int frame, const ImageView& to) const;
  [[nodiscard]] Image frame(int frame) const;

  /// 1 where nothing but light and noise changes over the whole clip (on either side of a cut), row
  /// after row; 0 elsewhere.
  [[nodiscard]] const std::vector<std::uint8_t>& still_mask() const { return still_; }

 private:
  [[nodiscard]] std::vector<int> light_over_time() const;

  SceneKind kind_;
  int frames_ = 0;
  FrameSpan event_;
  std::vector<int> light_;             // of each frame, in units of 2^-14
  std::vector<std::uint16_t> first_;   // BGR in units of 2^-8 levels
  std::vector<std::uint16_t> second_;  // what follows a cut, comes in, or is laid over
  std::vector<std::int16_t> noise_;    // a table that rows start at random places of, 2^-8 levels
  std::vector<std::uint8_t> still_;
};

/// What the same camera makes of any clip in the dark: `percent` of a frame's light, with noise as
/// in the scenes. Both are bgr, of one size; they may be the same memory.
void darken(const ConstImageView& bgr, int percent, int frame, const ImageView& to);

}  // namespace equalux::scenes
