#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

/// A filter as a frei0r effect: parameters in frei0r's units, and frames of RGBA.
namespace equalux {

/// One parameter of an effect.
struct EffectParameter {
  enum class Type : std::uint8_t { onoff, number, text };
  std::string name;  ///< the option's key; "settings" for the first parameter
  std::string help;
  Type type = Type::text;
  const Option* option = nullptr;  ///< null for "settings"
};

/// Returns the parameters of a filter, whose order is fixed: "settings", a text of options as
/// `--filter` takes them behind the name ("clip-limit=2,floor=1", or "clip-limit:2 floor:1"), then
/// every option that has a slider, is a switch, or is a choice from a list.
[[nodiscard]] std::vector<EffectParameter> effect_parameters(const FilterInfo& filter);

/// Converts between frei0r's numbers, 0 to 1 from the left end of an option's slider to the right
/// end, and the option's text.
[[nodiscard]] std::string text_of_position(const Option& option, double position);
[[nodiscard]] double position_of_text(const Option& option, std::string_view text);

/// Behaviour of a host where frei0r's specification leaves it open.
struct HostHabits {
  std::ptrdiff_t stride = 0;  ///< bytes between rows
  bool gaps = false;          ///< true where rows may have gaps of unknown size
  double ticks_a_second = 0;  ///< unit of frames' times; 0 = to be derived from steps
};
/// Returns frei0r's specified behaviour, rows without gaps; or, where `caller` is an address in the
/// library of a host that is known to differ, that host's behaviour.
[[nodiscard]] HostHabits habits_of(const void* caller, std::uint32_t width);
/// Returns FFmpeg's behaviour: rows depend on the version of its libavfilter, "major.minor".
[[nodiscard]] HostHabits habits_of_ffmpeg(unsigned major, unsigned minor, std::uint32_t width);

/// Computes times of frames in nanoseconds, from 0, from what hosts pass: seconds, milliseconds, or
/// no valid time.
class FrameClock {
 public:
  struct Tick {
    std::int64_t ns = 0;
    bool went_back = false;  ///< the stream begins again, at 0
  };
  /// Computes the time of the next frame. With `ticks_a_second` 0 the first step determines the
  /// unit: a step of 1 or more is milliseconds. A frame without a valid time comes one step after
  /// the previous frame, 1/30 s if there was no step yet.
  [[nodiscard]] Tick tick(double time, double ticks_a_second);

 private:
  bool began_ = false;
  bool timed_ = false;  ///< the last frame had a valid time
  double start_ = 0;    ///< the host's time of the frame at start_ns_
  double last_ = 0;
  double unit_ = 0;  ///< ticks per second; 0 = not known yet
  std::int64_t start_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t step_ns_ = 0;  ///< between the last two frames; 0 = not known yet
};

/// One stream of frames. Thread-safe: a host may change a value while a frame is filtered. Never
/// throws: an error is one line on stderr, and the frame stays as it is.
class Frei0rEffect {
 public:
  /// Allocates only itself, because hosts make instances just to query them.
  Frei0rEffect(const FilterInfo& filter, std::span<const EffectParameter> parameters,
               std::uint32_t width, std::uint32_t height);

  /// Sets a value as text; an invalid one is reported, and the previous one stays.
  void set(std::size_t parameter, std::string text) noexcept;
  /// Sets a value as a number in frei0r's unit.
  void set_position(std::size_t parameter, double position) noexcept;
  /// Returns the current value, valid until the next set().
  [[nodiscard]] const std::string& get(std::size_t parameter) const { return values_[parameter]; }

  /// Filters a frame of 4 bytes per pixel, R, G, B and alpha; alpha is copied. `in` and `out` must
  /// not overlap. `caller` is the host's return address, see habits_of().
  void update(double time, const void* caller, const std::uint8_t* in, std::uint8_t* out) noexcept;

 private:
  [[nodiscard]] FilterSpec spec_with(std::size_t parameter, const std::string& text) const;
  void prepare();
  void tell(const std::string& what);

  const FilterInfo& filter_;
  std::span<const EffectParameter> parameters_;
  ImageDesc desc_;
  std::vector<std::string> values_;  ///< one per parameter
  FilterSpec spec_;
  bool changed_ = true;           ///< the core filter does not have the current spec yet
  std::unique_ptr<Filter> core_;  ///< null before the first frame
  std::uint64_t index_ = 0;
  FrameClock clock_;
  HostHabits habits_;  ///< stride is 0 before the first frame
  std::mutex mutex_;
  std::string told_;  ///< the last line that was reported
};

}  // namespace equalux
