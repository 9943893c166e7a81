#include "pipelines/live/steering.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>

#include <equalux/error.h>
#include <equalux/params.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/equalize/options.h"
#include "src/options/idle_options.h"
#include "src/options/nearest_name.h"
#include "src/options/option_table.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

using Json = nlohmann::json;

/// Converts a JSON value to an option's text.
std::string text_of(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return json_text(value);
  if (value.is_null()) return {};
  throw_usage(key + " is " + json_text(value) + ", must be a number or a text");
}

/// Converts an option's text to JSON; null where nothing is set.
Json json_of(const Option& option, const std::string& text) {
  if (text.empty() && !option.unset.empty()) return nullptr;
  if (!option.word.empty() && text == option.word) return text;
  switch (option.type) {
    case OptionType::number:
      return parse_json(text).get<double>();
    case OptionType::whole:
    case OptionType::onoff:
      return parse_json(text);
    default:
      return text;
  }
}

/// Removes a switch from the requested changes; empty where it is not there.
std::optional<bool> take_switch(Json& wanted, const char* key) {
  if (!wanted.contains(key)) return std::nullopt;
  const Json value = wanted[key];
  if (!value.is_boolean())
    throw_usage(std::string(key) + " is " + json_text(value) + ", must be true or false");
  wanted.erase(key);
  return value.get<bool>();
}

/// Returns true for options that presets may set: those that shape the curve of `equalize`.
bool is_of_presets(const Option& option) {
  return is_of_equalize(option);
}

/// Gives every filter a preset's values of the steerable options, and the filter's own defaults for
/// the other options that presets may set.
void put_preset(std::vector<Steered>& filters, const OptionValues& preset) {
  for (Steered& each : filters) {
    OptionValues values = each.values;
    for (const Option& option : each.options) {
      if (is_of_presets(option)) values.emplace_back(option.key, option.fallback);
    }
    for (const auto& [key, value] : preset) {
      if (find_option(each.options, key) != nullptr) values.emplace_back(key, value);
    }
    each.values = each.read(values);
  }
}

/// Returns what names each filter in requests: its name, numbered where it has namesakes.
std::vector<std::string> addresses_of(const std::vector<Steered>& filters) {
  std::vector<std::string> addresses;
  for (auto each = filters.begin(); each != filters.end(); ++each) {
    const auto is_namesake = [&](const Steered& other) { return other.name == each->name; };
    const auto before = std::count_if(filters.begin(), each, is_namesake);
    const bool alone = std::count_if(filters.begin(), filters.end(), is_namesake) == 1;
    addresses.push_back(alone ? each->name : each->name + "-" + std::to_string(before + 1));
  }
  return addresses;
}

bool same_values(const std::vector<Steered>& a, const std::vector<Steered>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Steered& one, const Steered& other) { return one.values == other.values; });
}

/// Returns the next value of an option; the same at an end of its range.
double stepped(const Option& option, double value, int direction) {
  if (option.step <= 0) return value;
  // Tenths of a step are no binary fractions, but their inverses are integers.
  const double steps_a_unit = std::round(1 / option.step);
  const auto round_to_step = [&](double number) {
    return option.step < 1 ? std::round(number * steps_a_unit) / steps_a_unit
                           : std::round(number / option.step) * option.step;
  };
  if (option.zero_means == "none" && option.least > 0) {
    // No limit comes above all limits, and is written as 0.
    constexpr double kMost = 40;
    if (value == 0) return direction < 0 ? kMost : 0;
    const double next = round_to_step(value + direction * option.step);
    return next > kMost ? 0 : std::max(option.least, next);
  }
  constexpr double kManySteps = 10'000;
  const bool is_long = option.most - option.least > kManySteps * option.step;
  const double step = is_long ? std::max(option.step, round_to_step(value / 10)) : option.step;
  const double next = is_long ? value + direction * step : round_to_step(value + direction * step);
  return std::clamp(next, option.least, option.most);
}

}  // namespace

Steered steered(std::size_t filter, const RecipePtr& recipe, Backend backend) {
  /// Keys of a filter in change requests that differ from its own keys.
  struct Keys {
    std::deque<std::string> texts;  // a deque, so that views into it stay valid
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
  };
  const auto keys = std::make_shared<Keys>();
  std::vector<Option> options;
  std::vector<Option> own_options;
  for (const Option& own : recipe->options()) {
    if (!own.live || !backend_has(own, {}, backend)) continue;
    own_options.push_back(own);
    Option& option = options.emplace_back(own);
    const Option* const other = find_option(equalize_options(), own.key);
    if (other != nullptr && !is_of_equalize(own)) {
      option.key =
          keys->texts.emplace_back(std::string(recipe->name()) + "-" + std::string(own.key));
      option.title = keys->texts.emplace_back(std::string(own.title) + " (" +
                                              std::string(recipe->name()) + ")");
      if (own.keys == other->keys) option.keys = {};
    }
    keys->pairs.emplace_back(option.key, own.key);
  }
  const auto live_values = [keys](const FilterRecipe& of) {
    OptionValues values;
    for (const auto& [key, own] : keys->pairs)
      values.emplace_back(key, of.text(own));
    return values;
  };
  const auto by_own_keys = [keys](const OptionValues& values) {
    OptionValues own_values;
    for (const auto& [key, value] : values) {
      for (const auto& [known, own] : keys->pairs)
        if (known == key) own_values.emplace_back(own, value);
    }
    return own_values;
  };
  // Names the requested key in the error, and not another filter's.
  const auto of_given_key = [keys](const std::string& message) {
    for (const auto& [key, own] : keys->pairs) {
      if (key != own && message.starts_with(std::string(own) + " "))
        return std::string(key) + message.substr(own.size());
    }
    return message;
  };
  const auto read = [=](const OptionValues& values) {
    RecipePtr changed;
    try {
      changed = recipe->with(by_own_keys(values));
    } catch (const Error& error) {
      throw Error(error.code(), of_given_key(error.what()));
    }
    std::vector<std::string> broken = changed->violations(backend);
    std::transform(broken.begin(), broken.end(), broken.begin(), of_given_key);
    throw_violations(broken);
    return live_values(*changed);
  };
  return {filter,
          std::string(recipe->name()),
          std::move(options),
          std::move(own_options),
          live_values(*recipe),
          read,
          by_own_keys};
}

Steering::Steering(std::vector<Steered> filters, std::vector<std::string> presets,
                   ReadPreset read_preset, std::string preset)
    : presets_(std::move(presets)),
      read_preset_(std::move(read_preset)),
      start_(std::move(filters)),
      start_preset_(std::move(preset)),
      addresses_(addresses_of(start_)),
      start_base_(start_),
      filters_(start_),
      preset_(start_preset_) {
  for (const Steered& each : start_) {
    for (const Option& option : each.options) {
      if (find_option(options_, option.key) == nullptr) options_.push_back(option);
    }
  }
  if (!start_preset_.empty() && takes_presets()) put_preset(start_base_, values_of(start_preset_));
  base_ = start_base_;
}

OptionValues Steering::values_of(const std::string& preset) const {
  if (!read_preset_) throw_usage("preset '" + preset + "' cannot be read here");
  return read_preset_(preset);
}

bool Steering::takes_presets() const {
  return std::any_of(options_.begin(), options_.end(), is_of_presets);
}

void Steering::know_frames(const ImageDesc& taken, const ImageDesc& given) {
  if (taken.format == given.format) return;
  const std::lock_guard lock(mutex_);
  why_on_ = "the filters make " + std::string(to_string(given.format)) + " pictures of " +
            std::string(to_string(taken.format));
  if (filtering_) return;
  logger().warn("the filter stays on: {}", why_on_);
  filtering_ = true;
  ++changes_;
}

TakenKeys Steering::change(const Json& wanted) {
  if (!wanted.is_object()) throw_usage("a change must be an object, as {\"strength\":0.5}");
  return set(wanted);
}

/// Returns the option of a filter that a request's key sets, or null: "strength" and
/// "clahe.strength" do in a `clahe`, and "clahe-2.strength" does in the second one.
const Option* Steering::option_for(std::size_t at, std::string_view key) const {
  const Steered& filter = start_[at];
  const std::size_t point = key.find('.');
  if (point == std::string_view::npos) return find_option(filter.options, key);
  const std::string_view address = key.substr(0, point);
  // A filter without namesakes is the first of its name.
  if (address != filter.name && address != addresses_[at] &&
      !(addresses_[at] == filter.name && address == filter.name + "-1")) {
    return nullptr;
  }
  const Option* own = find_option(filter.own, key.substr(point + 1));
  if (own == nullptr) return find_option(filter.options, key.substr(point + 1));
  return &filter.options[static_cast<std::size_t>(own - filter.own.data())];
}

/// Returns the requested values that concern a filter. Keys with its address override those
/// without, and its own number its name.
OptionValues Steering::values_for(std::size_t at, const OptionValues& wanted) const {
  OptionValues values;
  const auto precision_of = [&](std::string_view key) {
    const std::size_t point = key.find('.');
    if (point == std::string_view::npos) return 0;
    return key.substr(0, point) == start_[at].name ? 1 : 2;
  };
  for (const int precision : {0, 1, 2}) {
    for (const auto& [key, value] : wanted) {
      const Option* option = option_for(at, key);
      if (option != nullptr && precision_of(key) == precision)
        values.emplace_back(option->key, value);
    }
  }
  return values;
}

/// Names the filter in an error of an option that filters of other names have, too.
std::string Steering::with_address(std::size_t at, const std::string& message) const {
  const std::string key = message.substr(0, message.find(' '));
  const Option* option = find_option(start_[at].options, key);
  if (option == nullptr) return message;
  for (std::size_t other = 0; other < start_.size(); ++other) {
    if (start_[other].name != start_[at].name && find_option(start_[other].options, key) != nullptr)
      return addresses_[at] + "." + message;
  }
  return message;
}

void Steering::check_keys(const Json& wanted) const {
  std::vector<std::string_view> keys;
  for (const Option& option : options_)
    keys.push_back(option.key);
  keys.insert(keys.end(), {"filter", "preset", "recording", "reset"});
  for (const auto& [key, value] : wanted.items()) {
    if (key == "filter" || key == "recording") continue;
    if (options_.empty()) {
      throw_usage("the chain has no filter that can be changed while it runs, must be filter");
    }
    if (key == "preset" && !takes_presets()) {
      throw_usage("the chain has nothing that presets set, must be without preset");
    }
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    if (key.find('.') != key.npos) {
      check_address(key);
      continue;
    }
    throw_usage("key '" + key.substr(0, 40) + "' is unknown, must be " + nearest_or_all(key, keys));
  }
}

/// Throws for a key such as "clahe.strength" that sets nothing.
void Steering::check_address(const std::string& key) const {
  const std::size_t point = key.find('.');
  const std::string address = key.substr(0, point);
  std::vector<std::string_view> own_keys;
  for (std::size_t at = 0; at < start_.size(); ++at) {
    if (option_for(at, key) != nullptr) return;
    const Steered& filter = start_[at];
    if (address != filter.name && address != addresses_[at]) continue;
    for (const Option& option : filter.own)
      own_keys.push_back(option.key);
  }
  const std::string own_key = key.substr(point + 1);
  if (own_keys.empty()) {
    throw_usage("filter '" + address.substr(0, 40) + "' of key '" + key.substr(0, 40) +
                "' is unknown, must be " + nearest_or_all(address, addresses_));
  }
  throw_usage("key '" + own_key.substr(0, 40) + "' of " + address + " is unknown, must be " +
              nearest_or_all(own_key, own_keys));
}

TakenKeys Steering::set(Json wanted, std::string told) {
  check_keys(wanted);
  // Reads the preset before locking: a slow disk must not delay apply(), and with it the frames.
  std::string chosen;
  std::string chosen_note;
  OptionValues preset_values;
  if (wanted.contains("preset")) {
    chosen = text_of("preset", wanted["preset"]);
    preset_values = values_of(chosen);
    if (note_preset_) chosen_note = note_preset_(chosen);
  }
  const std::lock_guard lock(mutex_);
  std::vector<Steered> filters = filters_;
  std::vector<Steered> base = base_;
  std::string preset = preset_;
  std::string note = note_;
  bool filtering = filtering_;
  std::string said;
  const std::optional<bool> filter = take_switch(wanted, "filter");
  if (filter) {
    if (!*filter && !why_on_.empty()) throw_usage("filter is false, must be true: " + why_on_);
    filtering = *filter;
    said = filtering ? "filter on" : "filter off";
  }
  const std::optional<bool> recording = take_switch(wanted, "recording");
  if (recording) {
    if (recording_ == nullptr) throw_usage("recording needs a run with --record, must be left out");
    said = *recording ? "recording on" : "recording off";
  }
  if (const auto reset = take_switch(wanted, "reset")) {
    if (!*reset) throw_usage("reset is false, must be true or left out");
    if (wanted.contains("preset"))
      throw_usage("reset brings its own preset, must stand without preset");
    filters = start_;
    base = start_base_;
    preset = start_preset_;
    note.clear();
    filtering = filter.value_or(true);
    said = "as it began";
  }
  if (wanted.contains("preset")) {
    preset = std::move(chosen);
    note = std::move(chosen_note);
    put_preset(filters, preset_values);
    base = filters;
    said = "preset " + preset + (note.empty() ? "" : ", in part");
    wanted.erase("preset");
  }
  OptionValues values;
  TakenKeys taken;
  for (const auto& [key, value] : wanted.items()) {
    values.emplace_back(key, text_of(key, value));
    std::vector<std::string> takers;
    for (std::size_t at = 0; at < filters.size(); ++at) {
      const Option* option = option_for(at, key);
      if (option == nullptr) continue;
      if (value.is_null() && option->unset.empty())
        throw_usage(key + " is null, must be " + option_range(*option));
      takers.push_back(addresses_[at]);
    }
    said = key + " " + values.back().second +
           (takers.size() > 1 ? " in " + std::to_string(takers.size()) + " filters" : "");
    taken.emplace_back(key, std::move(takers));
  }
  for (std::size_t at = 0; at < filters.size(); ++at) {
    Steered& each = filters[at];
    const OptionValues own = values_for(at, values);
    OptionValues all = each.values;
    all.insert(all.end(), own.begin(), own.end());
    // Some values lose their meaning when a slider leaves a word, or sets no time constant.
    for (auto& value : idle_beside(each.options, own))
      all.push_back(std::move(value));
    try {
      each.values = each.read(all);
    } catch (const Error& error) {
      throw Error(error.code(), with_address(at, error.what()));
    }
  }
  filters_ = std::move(filters);
  base_ = std::move(base);
  preset_ = std::move(preset);
  if (note != note_ && !note.empty()) logger().info("{}", note);
  note_ = std::move(note);
  filtering_ = filtering;
  if (recording) recording_->on = *recording;
  if (!told.empty()) said = std::move(told);
  if (!said.empty()) last_change_ = std::move(said);
  ++changes_;
  return taken;
}

void Steering::step(std::string_view key, int direction) {
  const nlohmann::ordered_json now = filter_states();
  Json wanted = Json::object();
  std::string said;
  for (std::size_t at = 0; at < start_.size(); ++at) {
    const Option* const option = find_option(start_[at].options, key);
    if (option == nullptr) continue;
    const auto own = static_cast<std::size_t>(option - start_[at].options.data());
    const std::string own_key(start_[at].own[own].key);
    Json value = now[addresses_[at]][own_key];
    if (!option->word.empty() && value == option->word) value = option->word_number;
    if (!value.is_number()) continue;
    const std::string text = number_text(stepped(*option, value, direction));
    wanted[addresses_[at] + "." + own_key] = parse_json(text);
    said += (said.empty() ? std::string(key) + " " : ", ") + text;
  }
  if (wanted.empty()) return;
  set(std::move(wanted), std::move(said));
}

bool Steering::step_by_key(char key) {
  const char sign = key == '+' ? '=' : key;
  for (const Option& option : options()) {
    const std::size_t which = option.keys.find(sign);
    if (which == std::string_view::npos) continue;
    step(option.key, which == 0 ? -1 : 1);
    return true;
  }
  for (const FilterInfo& filter : known_) {
    for (const Option& option : filter.options) {
      if (option.keys.find(sign) == std::string_view::npos) continue;
      throw_usage(std::string("the key ") + key + " changes " + std::string(option.key) + " of " +
                  std::string(filter.name) + ", which this run cannot change");
    }
  }
  return false;
}

std::vector<std::pair<std::string, std::string>> Steering::key_help() const {
  const nlohmann::ordered_json now = state();
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("f", now["filter"] ? "filter: on" : "filter: off");
  if (takes_presets()) lines.emplace_back("n b", "preset: " + now["preset"].get<std::string>());
  if (recording_ != nullptr)
    lines.emplace_back("r", recording() ? "recording: on" : "recording: off");
  for (const Option& option : options_) {
    if (option.keys.size() != 2) continue;
    const nlohmann::ordered_json& value = now[std::string(option.key)];
    const bool is_word = value.is_number() && value == 0 && option.least > 0;
    lines.emplace_back(std::string{option.keys[0], ' ', option.keys[1]},
                       std::string(option.key) + ": " +
                           (is_word             ? std::string(option.zero_means)
                            : value.is_string() ? value.get<std::string>()
                            : value.is_number() ? number_text(value)
                                                : "not set"));
  }
  return lines;
}

void Steering::next_preset(int direction) {
  if (presets_.empty()) return;
  std::string now;
  {
    const std::lock_guard lock(mutex_);
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
  set({{"recording", recording_ == nullptr || !recording_->on}});
}

nlohmann::ordered_json Steering::state() const {
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json state{{"filter", filtering_}, {"preset", preset_}};
  if (recording_ != nullptr) state["recording"] = recording_->on.load();
  for (const Steered& each : filters_) {
    for (const auto& [key, value] : each.values) {
      if (!state.contains(key)) state[key] = json_of(*find_option(each.options, key), value);
    }
  }
  return state;
}

nlohmann::ordered_json Steering::filter_states() const {
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json states = nlohmann::ordered_json::object();
  for (std::size_t at = 0; at < filters_.size(); ++at) {
    nlohmann::ordered_json& state = states[addresses_[at]] = nlohmann::ordered_json::object();
    const Steered& filter = filters_[at];
    for (std::size_t i = 0; i < filter.own.size(); ++i)
      state[std::string(filter.own[i].key)] = json_of(filter.own[i], filter.values[i].second);
  }
  return states;
}

bool Steering::changed() const {
  const std::lock_guard lock(mutex_);
  return !same_values(filters_, base_);
}

std::string Steering::note() const {
  const std::lock_guard lock(mutex_);
  return note_;
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
    for (const Steered& each : filters_) {
      try {
        if (!processor.update(each.filter, each.by_own_keys(each.values))) {
          logger().warn("filter {} of the chain takes no changes while it runs", each.filter + 1);
        }
      } catch (const Error& error) {  // The frame's size was not known when the change was checked.
        logger().warn("{}", error.what());
      }
    }
  }
  if (!filtering_now_) frame.unfiltered = true;
}

}  // namespace equalux
