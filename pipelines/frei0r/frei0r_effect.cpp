#include "pipelines/frei0r/frei0r_effect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

#include <dlfcn.h>
#include <equalux/error.h>

#include "src/common/log.h"
#include "src/options/idle_options.h"
#include "src/options/option_table.h"

namespace equalux {
namespace {

constexpr std::size_t kSettings = 0;
constexpr std::ptrdiff_t kPixelBytes = 4;

bool has_slider(const Option& option) {
  const bool is_number = option.type == OptionType::number || option.type == OptionType::whole;
  return is_number && option.step > 0;
}

std::string description_of(const Option& option) {
  std::string text = option_help(option);
  if (!has_slider(option)) return text;
  return text + " (0 to 1 here: " + number_text(option.slider_least) + " to " +
         number_text(option.slider_most) + ")";
}

/// Returns the default of an option.
std::string first_value(const EffectParameter& parameter) {
  return parameter.option == nullptr ? std::string() : parameter.option->fallback;
}

/// Parses the text of "settings" as options. Spaces separate like commas, which FFmpeg reserves for
/// itself, and KEY:VALUE means the same as KEY=VALUE, which MLT takes for a keyframe.
OptionValues settings_of(const FilterInfo& filter, const std::string& text) {
  std::string spec;
  for (const std::string_view part : split(text, ' ')) {
    for (const std::string_view each : split(part, ',')) {
      if (each.empty()) continue;
      spec += spec.empty() ? ':' : ',';
      const std::size_t colon = each.find(':');
      const bool has_key = each.find('=') != std::string_view::npos;
      if (has_key || colon == std::string_view::npos) {
        spec += each;
      } else {
        spec += std::string(each.substr(0, colon)) + "=" + std::string(each.substr(colon + 1));
      }
    }
  }
  return parse_filter_spec(std::string(filter.name) + spec).options;
}

}  // namespace

std::vector<EffectParameter> effect_parameters(const FilterInfo& filter) {
  using Type = EffectParameter::Type;
  std::vector<EffectParameter> parameters;
  parameters.push_back({"settings",
                        "options by their names, KEY=VALUE,KEY=VALUE; they win over all others",
                        Type::text, nullptr});
  for (const Option& option : filter.options) {
    if (!has_slider(option) && option.type != OptionType::onoff && option.type != OptionType::name)
      continue;
    // Options that only one backend has, or that belong to a group for study, are left to
    // "settings".
    if (!option.group.empty() || option.backends == Backends::cuda) continue;
    const Type type = has_slider(option)                 ? Type::number
                      : option.type == OptionType::onoff ? Type::onoff
                                                         : Type::text;
    parameters.push_back({std::string(option.key), description_of(option), type, &option});
  }
  return parameters;
}

std::string text_of_position(const Option& option, double position) {
  const double span = option.slider_most - option.slider_least;
  double value = option.slider_least + position * span;
  // Hosts often give positions in single precision, so a hundredth of a step means nothing.
  const double unit = option.step / 100;
  value = std::round(value / unit) * unit;
  if (option.type == OptionType::whole) value = std::round(value);
  value = std::round(value * 1e6) / 1e6;
  // There are no values between 0, if that has a meaning, and the least value.
  if (value > 0 && value < option.least) value = option.least;
  return number_text(value);
}

double position_of_text(const Option& option, std::string_view text) {
  const double value = number_from<double>(text).value_or(option.slider_least);
  return (value - option.slider_least) / (option.slider_most - option.slider_least);
}

HostHabits habits_of_ffmpeg(unsigned major, unsigned minor, std::uint32_t width) {
  HostHabits habits{static_cast<std::ptrdiff_t>(width) * kPixelBytes, false, 0};
  constexpr std::uint32_t kGroup = 16;
  if (width % kGroup == 0) return habits;
  // FFmpeg 5.1 rounds rows up to whole groups, 6.1 and newer do not. Where the version is unknown,
  // rows without gaps are assumed, which never reach beyond the frame.
  if (major == 8 && minor == 44) {
    habits.stride =
        (static_cast<std::ptrdiff_t>(width) + kGroup - 1) / kGroup * kGroup * kPixelBytes;
  } else if (major < 9 || (major == 9 && minor < 12)) {
    habits.gaps = true;
  }
  return habits;
}

HostHabits habits_of(const void* caller, std::uint32_t width) {
  HostHabits habits{static_cast<std::ptrdiff_t>(width) * kPixelBytes, false, 0};
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return habits;
  const std::string_view path = info.dli_fname;
  const auto is = [name = path.substr(path.rfind('/') + 1)](std::string_view begin) {
    return name.starts_with(begin);
  };
  if (is("libgstfrei0r") || is("libmltfrei0r")) habits.ticks_a_second = 1;
  if (!is("libavfilter")) return habits;
  const std::unique_ptr<void, int (*)(void*)> library(
      dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), &dlclose);
  if (!library) return habits;
  const auto version = reinterpret_cast<unsigned (*)()>(dlsym(library.get(), "avfilter_version"));
  if (version == nullptr) return habits;
  return habits_of_ffmpeg(version() >> 16, version() >> 8 & 255, width);
}

FrameClock::Tick FrameClock::tick(double time, double ticks_a_second) {
  constexpr double kNanoseconds = 1e9;
  constexpr double kMilliseconds = 1000;
  constexpr std::int64_t kUsualStep = 33'333'333;
  constexpr double kMostNs = 4e18;
  // Hosts without times pass NaN, or a number beyond any clip.
  constexpr double kBeyond = 1e14;
  const std::int64_t next = last_ns_ + (step_ns_ > 0 ? step_ns_ : kUsualStep);
  Tick tick;
  if (!std::isfinite(time) || std::abs(time) > kBeyond) {
    if (began_) tick.ns = next;
    timed_ = false;
  } else {
    if (ticks_a_second > 0) unit_ = ticks_a_second;
    if (timed_ && time > last_ && unit_ == 0) unit_ = time - last_ >= 1 ? kMilliseconds : 1;
    tick.went_back = timed_ && time < last_;
    if (!timed_ || tick.went_back) {
      start_ = time;
      start_ns_ = began_ && !timed_ ? next : 0;
    }
    const double ns = unit_ > 0 ? (time - start_) / unit_ * kNanoseconds : 0;
    tick.ns = start_ns_ + static_cast<std::int64_t>(std::min(ns, kMostNs));
    if (timed_ && tick.ns > last_ns_) step_ns_ = tick.ns - last_ns_;
    last_ = time;
    timed_ = true;
  }
  began_ = true;
  last_ns_ = tick.ns;
  return tick;
}

Frei0rEffect::Frei0rEffect(const FilterInfo& filter, std::span<const EffectParameter> parameters,
                           std::uint32_t width, std::uint32_t height)
    : filter_(filter),
      parameters_(parameters),
      desc_{PixelFormat::rgba, static_cast<int>(width), static_cast<int>(height)},
      spec_{std::string(filter.name), {}} {
  for (const EffectParameter& parameter : parameters)
    values_.push_back(first_value(parameter));
}

void Frei0rEffect::tell(const std::string& what) {
  if (what == told_) return;
  told_ = what;
  std::fprintf(stderr, "equalux: %s\n", printable(what).c_str());
}

/// Returns the spec with another value of a parameter. Throws Error(usage) where that is invalid.
FilterSpec Frei0rEffect::spec_with(std::size_t parameter, const std::string& text) const {
  const OptionValues said =
      settings_of(filter_, parameter == kSettings ? text : values_[kSettings]);
  const auto says = [&said](std::string_view key) { return find_value(said, key) != nullptr; };
  OptionValues all = said;
  for (std::size_t i = 1; i < parameters_.size(); ++i) {
    if (!says(parameters_[i].name))
      all.emplace_back(parameters_[i].name, i == parameter ? text : values_[i]);
  }
  // Hosts set one value after another, in their order: a value that has no meaning beside the
  // others, yet or any more, must neither be refused nor keep those from being set.
  all = without_idle(filter_.options, std::move(all), said);
  FilterSpec spec{spec_.name, said};
  for (const EffectParameter& each : parameters_) {
    const std::string* value = find_value(all, each.name);
    if (value != nullptr && !says(each.name) && *value != first_value(each))
      spec.options.emplace_back(each.name, *value);
  }
  throw_violations(violations(spec, {}, Backend::cpu));
  return spec;
}

void Frei0rEffect::set(std::size_t parameter, std::string text) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (parameter >= values_.size()) return;
    // An empty value stands for the default.
    if (text.empty()) text = first_value(parameters_[parameter]);
    if (text == values_[parameter]) return;
    spec_ = spec_with(parameter, text);
    values_[parameter] = std::move(text);
    changed_ = true;
  } catch (const std::exception& error) {
    tell(std::string(error.what()) + "; it stays as it was");
  }
}

void Frei0rEffect::set_position(std::size_t parameter, double position) noexcept {
  if (parameter >= parameters_.size()) return;
  const Option& option = *parameters_[parameter].option;
  if (position >= 0 && position <= 1) return set(parameter, text_of_position(option, position));
  const std::lock_guard lock(mutex_);
  tell(parameters_[parameter].name + " is " + number_text(position) +
       " of its range, must be 0 to 1 (" + number_text(option.slider_least) + " to " +
       number_text(option.slider_most) + (option.unit.empty() ? "" : " ") +
       std::string(option.unit) + "); it stays as it was");
}

/// Passes changed options to the filter, which keeps its history where it can.
void Frei0rEffect::prepare() {
  if (!changed_ && core_) return;
  if (core_) {
    OptionValues all;
    for (const Option& option : filter_.options) {
      if (const std::string* set = find_value(spec_.options, option.key)) {
        all.emplace_back(option.key, *set);
      } else if (option.group.empty() && option.backends != Backends::cuda) {
        all.emplace_back(option.key, option.fallback);
      }
    }
    if (core_->update(all)) {
      changed_ = false;
      return;
    }
  }
  std::unique_ptr<Filter> core = make_cpu_filter(spec_);
  if (core->configure(desc_) != desc_) {
    throw Error(ExitCode::usage, spec_.text() + " makes frames of another format");
  }
  core_ = std::move(core);
  changed_ = false;
}

void Frei0rEffect::update(double time, const void* caller, const std::uint8_t* in,
                          std::uint8_t* out) noexcept {
  const std::lock_guard lock(mutex_);
  if (habits_.stride == 0) {
    habits_ = habits_of(caller, static_cast<std::uint32_t>(desc_.width));
    if (habits_.gaps) {
      tell("this FFmpeg may leave gaps behind the rows of frames that are " +
           std::to_string(desc_.width) +
           " wide, and does not tell; where the picture is slanted, bring it to a multiple of 16 "
           "before");
    }
  }
  const ConstImageView from{desc_, {in}, {habits_.stride}};
  const ImageView to{desc_, {out}, {habits_.stride}};
  try {
    prepare();
    const FrameClock::Tick tick = clock_.tick(time, habits_.ticks_a_second);
    FrameContext context;
    context.index = index_++;
    context.pts_ns = tick.ns;
    // An editor went back in time, so the history is from later frames.
    if (tick.went_back) core_->reset();
    core_->submit(from, to, context);
  } catch (const std::exception& error) {
    tell(error.what());
    copy_image(from, to);
  }
}

}  // namespace equalux
