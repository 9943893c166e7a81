#include "pipelines/live/steering.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/nearest_name.h"

namespace equalux {
namespace {

using Json = nlohmann::json;

[[noreturn]] void usage(const std::string& message) {
  throw Error(ExitCode::usage, message);
}

double number_of(const EqualizeParams& params, std::string_view key) {
  if (key == "strength") return params.strength;
  if (key == "clip-limit") return params.clip_limit;
  if (key == "floor") return params.floor;
  if (key == "ceiling") return params.ceiling;
  if (key == "max-gain") return params.max_gain;
  if (key == "temporal-ms") return params.temporal_ms;
  if (key == "brighten-ms") return params.brighten_ms;
  return params.darken_ms;
}

/// An option's text from a JSON value.
std::string text_of(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return json_text(value);
  usage(key + " is " + json_text(value) + ", must be a number or a text");
}

void check_keys(const Json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    const auto& keys = Steering::keys();
    if (key == "filter" || key == "preset" || key == "recording" || key == "reset") continue;
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::vector<std::string_view> all(keys);
    all.insert(all.end(), {"filter", "preset", "recording", "reset"});
    const std::string nearest = nearest_name(key, all);
    usage("key '" + key.substr(0, 40) + "' is unknown, must be " +
          (nearest.empty() ? list_of_names(all) : nearest));
  }
}

/// Takes a switch out of what is wanted; empty where it is not there.
std::optional<bool> take_switch(Json& wanted, const char* key) {
  if (!wanted.contains(key)) return std::nullopt;
  const Json value = wanted[key];
  if (!value.is_boolean())
    usage(std::string(key) + " is " + json_text(value) + ", must be true or false");
  wanted.erase(key);
  return value.get<bool>();
}

/// Plain equalization's values of everything that can be steered.
void reset_steered(EqualizeParams& params) {
  const EqualizeParams plain;
  params.scaler = plain.scaler;
  params.strength = plain.strength;
  params.clip_limit = plain.clip_limit;
  params.floor = plain.floor;
  params.ceiling = plain.ceiling;
  params.max_gain = plain.max_gain;
  params.temporal_ms = plain.temporal_ms;
  params.brighten_ms = plain.brighten_ms;
  params.darken_ms = plain.darken_ms;
}

/// Gives every equalizer a preset's values of what can be steered.
void put_preset(std::vector<Steering::Equalizer>& equalizers,
                const std::vector<std::pair<std::string, std::string>>& values) {
  for (Steering::Equalizer& each : equalizers) {
    reset_steered(each.params);
    for (const auto& [key, value] : values) {
      const auto& keys = Steering::keys();
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
        set_option(each.params, key, value);
      }
    }
  }
}

bool same_values(const EqualizeParams& a, const EqualizeParams& b) {
  const auto& keys = Steering::keys();
  return a.scaler == b.scaler && std::all_of(keys.begin(), keys.end(), [&](std::string_view key) {
           return number_of(a, key) == number_of(b, key);
         });
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// The next value of a key; equal at an end of its range.
double stepped(std::string_view key, double value, int direction) {
  if (key == "strength") return std::clamp(std::round(20 * value + direction) / 20, 0.0, 1.0);
  if (key == "clip-limit") {
    // No limit is above all limits, and is written as 0.
    constexpr double kMost = 40;
    if (value == 0) return direction < 0 ? kMost : 0;
    const double next = std::round(4 * value + direction) / 4;
    return next > kMost ? 0 : std::max(1.0, next);
  }
  constexpr double kLeastStep = 100;
  const double step = std::max(kLeastStep, std::round(value / 1000) * 100);
  return std::clamp(value + direction * step, 0.0, kMaxTemporalMs);
}

}  // namespace

Steering::Steering(std::vector<Equalizer> equalizers, std::vector<std::string> presets,
                   ReadPreset read_preset, std::string preset)
    : presets_(std::move(presets)),
      read_preset_(std::move(read_preset)),
      start_(std::move(equalizers)),
      start_preset_(std::move(preset)),
      start_base_(start_),
      equalizers_(start_),
      preset_(start_preset_) {
  if (!start_preset_.empty() && !start_.empty()) {
    put_preset(start_base_, values_of(start_preset_));
  }
  base_ = start_base_;
}

Steering::PresetValues Steering::values_of(const std::string& preset) const {
  if (!read_preset_) usage("preset '" + preset + "' cannot be read here");
  return read_preset_(preset);
}

const std::vector<std::string_view>& Steering::keys() {
  static const std::vector<std::string_view> keys{"strength",    "clip-limit", "floor",
                                                  "ceiling",     "max-gain",   "temporal-ms",
                                                  "brighten-ms", "darken-ms",  "scaler"};
  return keys;
}

void Steering::change(const Json& wanted) {
  if (!wanted.is_object()) usage("a change must be an object, as {\"strength\":0.5}");
  set(wanted);
}

void Steering::set(Json wanted) {
  check_keys(wanted);
  // Read before the lock: a folder on a slow disk must not hold up apply(), and with it the frames.
  std::string chosen;
  PresetValues values;
  if (wanted.contains("preset") && !start_.empty()) {
    chosen = text_of("preset", wanted["preset"]);
    values = values_of(chosen);
  }
  const std::lock_guard lock(mutex_);
  std::vector<Equalizer> equalizers = equalizers_;
  std::vector<Equalizer> base = base_;
  std::string preset = preset_;
  bool filtering = filtering_;
  std::string said;
  if (const auto filter = take_switch(wanted, "filter")) {
    filtering = *filter;
    said = filtering ? "filter on" : "filter off";
  }
  const std::optional<bool> recording = take_switch(wanted, "recording");
  if (recording) {
    if (recording_ == nullptr) usage("recording needs a run with --record, must be left out");
    said = *recording ? "recording on" : "recording off";
  }
  if (!wanted.empty() && equalizers.empty()) {
    usage("the chain has no equalize that can be changed while it runs, must be filter");
  }
  if (const auto reset = take_switch(wanted, "reset")) {
    if (!*reset) usage("reset is false, must be true or left out");
    if (wanted.contains("preset")) usage("reset brings its own preset, must stand without preset");
    equalizers = start_;
    base = start_base_;
    preset = start_preset_;
    said = "as it began";
  }
  if (wanted.contains("preset")) {
    preset = std::move(chosen);
    put_preset(equalizers, values);
    base = equalizers;
    said = "preset " + preset;
    wanted.erase("preset");
  }
  for (const auto& [key, value] : wanted.items()) {
    for (Equalizer& each : equalizers)
      set_option(each.params, key, text_of(key, value));
    said = key + " " + text_of(key, value);
  }
  for (const Equalizer& each : equalizers)
    validate(each.params, Backend::automatic);
  equalizers_ = std::move(equalizers);
  base_ = std::move(base);
  preset_ = std::move(preset);
  filtering_ = filtering;
  if (recording) recording_->on = *recording;
  if (!said.empty()) last_change_ = std::move(said);
  ++changes_;
}

void Steering::step(std::string_view key, int direction) {
  double next = 0;
  {
    const std::lock_guard lock(mutex_);
    if (equalizers_.empty()) return;
    next = stepped(key, number_of(equalizers_.front().params, key), direction);
  }
  set({{std::string(key), parse_json(short_number(next))}});
}

void Steering::next_preset(int direction) {
  if (presets_.empty()) return;
  std::string now;
  {
    const std::lock_guard lock(mutex_);
    if (equalizers_.empty()) return;
    now = preset_;
  }
  const auto count = static_cast<std::ptrdiff_t>(presets_.size());
  const auto at = std::find(presets_.begin(), presets_.end(), now) - presets_.begin();
  const std::ptrdiff_t from = at < count ? at : (direction > 0 ? -1 : 0);
  set({{"preset", presets_[static_cast<std::size_t>((from + direction + count) % count)]}});
}

void Steering::toggle_filter() {
  bool filtering = false;
  {
    const std::lock_guard lock(mutex_);
    filtering = !filtering_;
  }
  set({{"filter", filtering}});
}

void Steering::toggle_recording() {
  if (recording_ != nullptr) set({{"recording", !recording_->on}});
}

nlohmann::ordered_json Steering::state() const {
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json state{{"filter", filtering_}, {"preset", preset_}};
  if (recording_ != nullptr) state["recording"] = recording_->on.load();
  if (equalizers_.empty()) return state;
  const EqualizeParams& params = equalizers_.front().params;
  for (const std::string_view key : keys()) {
    if (key == "scaler") {
      state[std::string(key)] = enum_name(params.scaler);
    } else {
      state[std::string(key)] = number_of(params, key);
    }
  }
  return state;
}

bool Steering::changed() const {
  const std::lock_guard lock(mutex_);
  return !std::equal(equalizers_.begin(), equalizers_.end(), base_.begin(), base_.end(),
                     [](const Equalizer& now, const Equalizer& then) {
                       return same_values(now.params, then.params);
                     });
}

std::string Steering::last_change() const {
  const std::lock_guard lock(mutex_);
  return last_change_;
}

void Steering::apply(Processor& processor, Frame& frame) {
  if (changes_ != applied_) {
    const std::lock_guard lock(mutex_);
    applied_ = changes_;
    filtering_now_ = filtering_;
    for (const Equalizer& each : equalizers_) {
      try {
        if (!processor.update(each.filter, each.params)) {
          logger().warn("filter {} of the chain takes no changes while it runs", each.filter + 1);
        }
      } catch (const Error& error) {  // The frame's size was not known when it was checked.
        logger().warn("{}", error.what());
      }
    }
  }
  if (!filtering_now_) frame.unfiltered = true;
}

}  // namespace equalux
