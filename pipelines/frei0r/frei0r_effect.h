#pragma once

#include <cstdint>
#include <memory>
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
  double ticks_a_second = 1;  ///< of the time that comes with a frame
};
/// frei0r's own, rows without gaps and seconds; or FFmpeg's, where `caller` is an address in its
/// library: rows of whole groups of 16 pixels, and milliseconds.
[[nodiscard]] HostHabits habits_of(const void* caller, std::uint32_t width);

/// One stream of frames. One thread at a time. Nothing throws: what goes wrong is told on stderr,
/// one line, and the frame stays as it is.
class Frei0rEffect {
 public:
  /// Allocates no more than itself: hosts make instances to look at them.
  Frei0rEffect(const FilterInfo& filter, std::span<const EffectParameter> parameters,
               std::uint32_t width, std::uint32_t height);

  [[nodiscard]] std::uint32_t width() const { return static_cast<std::uint32_t>(desc_.width); }

  /// A value as text; one that is no good is told, and the one before stays.
  void set(std::size_t parameter, std::string text) noexcept;
  /// The same of a number, in frei0r's unit.
  void set_position(std::size_t parameter, double position) noexcept;
  /// The value that holds.
  [[nodiscard]] const std::string& get(std::size_t parameter) const { return values_[parameter]; }

  /// Filters a frame of 4 bytes a pixel, R, G, B and alpha, which is copied. `in` and `out` do not
  /// overlap.
  void update(double time, const HostHabits& habits, const std::uint8_t* in,
              std::uint8_t* out) noexcept;

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
  std::int64_t last_ns_ = 0;
  std::string told_;  ///< the last line
};

}  // namespace equalux
