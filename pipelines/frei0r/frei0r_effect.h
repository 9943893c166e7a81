#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

/// A filter as frei0r's hosts see it: parameters in their units, and frames of RGBA.
namespace equalux {

/// One parameter of an effect.
struct EffectParameter {
  enum class Type : std::uint8_t { onoff, number, text };
  std::string name;  ///< the option's key; that of the first is "settings"
  std::string help;
  Type type = Type::text;
  const Option* option = nullptr;  ///< null for "settings"
};

/// The parameters of a filter, which keep their order: "settings", a text of options as `--filter`
/// takes them behind the name ("clip-limit=2,floor=1", or "clip-limit:2 floor:1"), then every
/// option that has a slider, is a switch, or is one out of a list.
[[nodiscard]] std::vector<EffectParameter> effect_parameters(const FilterInfo& filter);

/// A number in frei0r's unit, 0 to 1, from the left end of the option's slider to the right one,
/// and as the option's text.
[[nodiscard]] std::string text_of_position(const Option& option, double position);
[[nodiscard]] double position_of_text(const Option& option, std::string_view text);

/// How a host tells of frames what frei0r leaves open.
struct HostHabits {
  std::ptrdiff_t stride = 0;  ///< bytes of a row
  bool gaps = false;          ///< whether rows may have gaps that nobody tells of
  double ticks_a_second = 0;  ///< of the time that comes with a frame; 0 = as its steps show
};
/// frei0r's own, rows without gaps; or, where `caller` is an address in the library of a host that
/// is known to differ, that host's.
[[nodiscard]] HostHabits habits_of(const void* caller, std::uint32_t width);
/// The part of it that is FFmpeg's: rows by the version of its libavfilter, "major.minor".
[[nodiscard]] HostHabits habits_of_ffmpeg(unsigned major, unsigned minor, std::uint32_t width);

/// Time of frames in nanoseconds, from 0, out of what hosts tell: seconds, milliseconds, or a
/// number that is no time.
class FrameClock {
 public:
  struct Tick {
    std::int64_t ns = 0;
    bool went_back = false;  ///< the stream begins again, at 0
  };
  /// Of the next frame. With `ticks_a_second` 0 the first step tells the unit: one of 1 or more is
  /// in milliseconds. What is no time is one frame later than the frame before, by the last step,
  /// and 30 a second where there was none.
  [[nodiscard]] Tick tick(double time, double ticks_a_second);

 private:
  bool began_ = false;
  bool timed_ = false;  ///< the last frame had a time
  double start_ = 0;    ///< what the host told of the frame at start_ns_
  double last_ = 0;
  double unit_ = 0;  ///< ticks a second; 0 = not known yet
  std::int64_t start_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t step_ns_ = 0;  ///< between the last two frames; 0 = not known yet
};

/// One stream of frames. Threads may share it: a host may change a value while a frame is filtered.
/// Nothing throws: what goes wrong is told on stderr, one line, and the frame stays as it is.
class Frei0rEffect {
 public:
  /// Allocates no more than itself: hosts make instances to look at them.
  Frei0rEffect(const FilterInfo& filter, std::span<const EffectParameter> parameters,
               std::uint32_t width, std::uint32_t height);

  /// A value as text; one that is no good is told, and the one before stays.
  void set(std::size_t parameter, std::string text) noexcept;
  /// The same of a number, in frei0r's unit.
  void set_position(std::size_t parameter, double position) noexcept;
  /// The value that holds, until the next set().
  [[nodiscard]] const std::string& get(std::size_t parameter) const { return values_[parameter]; }

  /// Filters a frame of 4 bytes a pixel, R, G, B and alpha, which is copied. `in` and `out` do not
  /// overlap. `caller` is where the host called from, see habits_of().
  void update(double time, const void* caller, const std::uint8_t* in, std::uint8_t* out) noexcept;

 private:
  [[nodiscard]] FilterSpec spec_with(std::size_t parameter, const std::string& text) const;
  void prepare();
  void tell(const std::string& what);

  const FilterInfo& filter_;
  std::span<const EffectParameter> parameters_;
  ImageDesc desc_;
  std::vector<std::string> values_;  ///< by parameter
  FilterSpec spec_;
  bool changed_ = true;           ///< the spec is not the core filter's yet
  std::unique_ptr<Filter> core_;  ///< null before the first frame
  std::uint64_t index_ = 0;
  FrameClock clock_;
  HostHabits habits_;  ///< stride 0 before the first frame
  std::mutex mutex_;
  std::string told_;  ///< the last line
};

}  // namespace equalux
