#include "pipelines/obs/settings.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "src/options/idle_options.h"
#include "src/options/option_table.h"

namespace equalux::obs {
namespace {

constexpr const char* kPreset = "preset";
constexpr const char* kPresetTaken = "preset-taken";
constexpr const char* kSplit = "split";
constexpr std::string_view kPlain = "plain";
constexpr std::string_view kFirst = "stable";
constexpr double kSplitStep = 0.01;

constexpr PresetValue kPresetValues[] = {
#include "obs_presets.inc"
};

/// Returns the options that are shown: not those of one backend only, nor those that belong to a
/// group for study.
std::vector<const Option*> shown_options(const FilterInfo& filter) {
  std::vector<const Option*> shown;
  for (const Option& each : filter.options)
    if (each.group.empty() && each.backends != Backends::cuda) shown.push_back(&each);
  return shown;
}

/// Returns true for a preset's value that applies to the filter; top-level ones apply to every
/// filter that makes curves.
bool is_for(const PresetValue& value, const FilterInfo& filter) {
  const bool curves = filter.name == "equalize" || filter.name == "clahe";
  return (value.filter == filter.name || (curves && value.filter == "equalize")) &&
         find_option(filter.options, value.key) != nullptr;
}

/// Returns the presets that have values for a filter, in order, after "plain".
std::vector<std::string_view> presets_of(const FilterInfo& filter) {
  std::vector<std::string_view> names{kPlain};
  for (const PresetValue& each : kPresetValues) {
    if (is_for(each, filter) && std::find(names.begin(), names.end(), each.preset) == names.end())
      names.push_back(each.preset);
  }
  return names;
}

std::string text_in(const FilterInfo& filter, std::string_view preset, const Option& option) {
  for (const PresetValue& each : kPresetValues) {
    if (each.preset == preset && each.key == option.key && is_for(each, filter))
      return std::string(each.value);
  }
  return option.fallback;
}

std::string key_of_word(const Option& option) {
  return std::string(option.key) + "-" + std::string(option.word);
}

/// Functions that set a value of each type: as the user's, or as a default.
struct Setters {
  void (*number)(obs_data_t*, const char*, double);
  void (*whole)(obs_data_t*, const char*, long long);
  void (*onoff)(obs_data_t*, const char*, bool);
  void (*text)(obs_data_t*, const char*, const char*);
};
constexpr Setters kSet{obs_data_set_double, obs_data_set_int, obs_data_set_bool,
                       obs_data_set_string};
constexpr Setters kSetDefault{obs_data_set_default_double, obs_data_set_default_int,
                              obs_data_set_default_bool, obs_data_set_default_string};

void put(obs_data_t* settings, const Option& option, const std::string& text,
         const Setters& setters) {
  const std::string key(option.key);
  const bool word = !option.word.empty() && text == option.word;
  const double number = word ? option.word_number : number_from<double>(text).value_or(0);
  if (!option.word.empty()) setters.onoff(settings, key_of_word(option).c_str(), word);
  switch (option.type) {
    case OptionType::number:
      return setters.number(settings, key.c_str(), number);
    case OptionType::whole:
      return setters.whole(settings, key.c_str(), std::llround(number));
    case OptionType::onoff:
      return setters.onoff(settings, key.c_str(), text == "true");
    case OptionType::name:
    case OptionType::text:
    case OptionType::file:
      return setters.text(settings, key.c_str(), text.c_str());
  }
}

void put_preset(const FilterInfo& filter, std::string_view preset, obs_data_t* settings,
                const Setters& setters, std::span<const std::string_view> kept = {}) {
  for (const Option* each : shown_options(filter)) {
    if (std::find(kept.begin(), kept.end(), each->key) == kept.end())
      put(settings, *each, text_in(filter, preset, *each), setters);
  }
  setters.text(settings, kPreset, std::string(preset).c_str());
  setters.text(settings, kPresetTaken, std::string(preset).c_str());
}

/// Converts a slider's number to text. There are no values between 0, if that has a meaning, and
/// the least value, but sliders begin at 0.
std::string text_of(const Option& option, double value) {
  constexpr double kDigits = 1e6;
  value = std::round(value * kDigits) / kDigits;
  if (value > 0 && value < option.least) value = option.least;
  return number_text(value);
}

bool is_text(obs_data_t* settings, const char* key) {
  obs_data_item_t* item = obs_data_item_byname(settings, key);
  const bool text = item != nullptr && obs_data_item_gettype(item) == OBS_DATA_STRING;
  obs_data_item_release(&item);
  return text;
}

/// Returns true where an option's word is in effect: a number set by the user overrides a default
/// word.
bool has_word(const Option& option, obs_data_t* settings) {
  if (option.word.empty()) return false;
  const std::string word = key_of_word(option);
  return obs_data_get_bool(settings, word.c_str()) &&
         (obs_data_has_user_value(settings, word.c_str()) ||
          !obs_data_has_user_value(settings, std::string(option.key).c_str()));
}

std::string value_of(const Option& option, obs_data_t* settings) {
  const std::string key(option.key);
  if (has_word(option, settings)) return std::string(option.word);
  // Scripts may give any value as text.
  if (is_text(settings, key.c_str())) return obs_data_get_string(settings, key.c_str());
  switch (option.type) {
    case OptionType::number:
      return text_of(option, obs_data_get_double(settings, key.c_str()));
    case OptionType::whole:
      return text_of(option, static_cast<double>(obs_data_get_int(settings, key.c_str())));
    case OptionType::onoff:
      return obs_data_get_bool(settings, key.c_str()) ? "true" : "false";
    case OptionType::name:
    case OptionType::text:
    case OptionType::file:
      break;
  }
  return obs_data_get_string(settings, key.c_str());
}

// --- what people see -------------------------------------------------------------------------

/// Disables the slider of a number while its word is in effect.
bool word_changed(obs_properties_t* properties, obs_property_t* property, obs_data_t* settings) {
  const std::string name = obs_property_name(property);
  obs_property_t* slider = obs_properties_get(properties, name.substr(0, name.rfind('-')).c_str());
  const bool enabled = !obs_data_get_bool(settings, name.c_str());
  if (slider == nullptr || obs_property_enabled(slider) == enabled) return false;
  obs_property_set_enabled(slider, enabled);
  return true;
}

bool preset_changed(void* filter, obs_properties_t*, obs_property_t*, obs_data_t* settings) {
  const std::string taken = obs_data_get_string(settings, kPresetTaken);
  try {
    const FilterInfo& info = *static_cast<const FilterInfo*>(filter);
    take_preset(info, settings, values_of(info, settings));
  } catch (const std::exception&) {
    return false;  // The update that follows reports why.
  }
  return taken != obs_data_get_string(settings, kPresetTaken);
}

obs_property_t* add_number(obs_properties_t* to, const Option& option, const std::string& key,
                           const std::string& title) {
  const std::string unit = option.unit.empty() ? "" : " " + std::string(option.unit);
  if (option.type == OptionType::whole) {
    const bool slides = option.step > 0;
    const double least = option.zero_means.empty() ? option.least : std::min(option.least, 0.0);
    obs_property_t* property =
        slides ? obs_properties_add_int_slider(
                     to, key.c_str(), title.c_str(), static_cast<int>(option.slider_least),
                     static_cast<int>(option.slider_most), static_cast<int>(option.step))
               : obs_properties_add_int(to, key.c_str(), title.c_str(), static_cast<int>(least),
                                        static_cast<int>(option.most), 1);
    obs_property_int_set_suffix(property, unit.c_str());
    return property;
  }
  constexpr double kHundredths = 0.01;
  obs_property_t* property = obs_properties_add_float_slider(
      to, key.c_str(), title.c_str(), option.slider_least, option.slider_most,
      option.step > 0 ? option.step : kHundredths);
  obs_property_float_set_suffix(property, unit.c_str());
  return property;
}

obs_property_t* add_list(obs_properties_t* to, const Option& option, const std::string& key,
                         const std::string& title) {
  obs_property_t* property = obs_properties_add_list(to, key.c_str(), title.c_str(),
                                                     OBS_COMBO_TYPE_LIST, OBS_COMBO_FORMAT_STRING);
  for (const OptionName& each : option.names) {
    if (each.backends == Backends::cuda) continue;
    const std::string name(each.name);
    obs_property_list_add_string(property, name.c_str(), name.c_str());
  }
  return property;
}

void add_option(obs_properties_t* to, const Option& option) {
  const std::string key(option.key);
  const std::string title(option.title);
  if (!option.word.empty()) {
    obs_property_t* word = obs_properties_add_bool(
        to, key_of_word(option).c_str(), (title + ": " + std::string(option.word)).c_str());
    obs_property_set_long_description(word, std::string(option.word_means).c_str());
    obs_property_set_modified_callback(word, word_changed);
  }
  obs_property_t* property = nullptr;
  switch (option.type) {
    case OptionType::number:
    case OptionType::whole:
      property = add_number(to, option, key, title);
      break;
    case OptionType::onoff:
      property = obs_properties_add_bool(to, key.c_str(), title.c_str());
      break;
    case OptionType::name:
      property = add_list(to, option, key, title);
      break;
    case OptionType::text:
      property = obs_properties_add_text(to, key.c_str(), title.c_str(), OBS_TEXT_DEFAULT);
      break;
    case OptionType::file:
      property =
          obs_properties_add_path(to, key.c_str(), title.c_str(), OBS_PATH_FILE, nullptr, nullptr);
      break;
  }
  obs_property_set_long_description(property, option_help(option).c_str());
}

}  // namespace

std::span<const PresetValue> preset_values() {
  return kPresetValues;
}

void set_defaults(const FilterInfo& filter, obs_data_t* settings) {
  const std::vector<std::string_view> presets = presets_of(filter);
  const bool has_first = std::find(presets.begin(), presets.end(), kFirst) != presets.end();
  put_preset(filter, has_first ? kFirst : kPlain, settings, kSetDefault);
  obs_data_set_default_double(settings, kSplit, 0);
}

obs_properties_t* make_properties(const FilterInfo& filter) {
  obs_properties_t* all = obs_properties_create();
  obs_property_t* preset = obs_properties_add_list(all, kPreset, "Begin with preset",
                                                   OBS_COMBO_TYPE_LIST, OBS_COMBO_FORMAT_STRING);
  for (const std::string_view each : presets_of(filter)) {
    const std::string name(each);
    obs_property_list_add_string(preset, name.c_str(), name.c_str());
  }
  obs_property_set_long_description(
      preset, "sets all values below; they may be changed then, and stay until another is chosen");
  obs_property_set_modified_callback2(preset, preset_changed, const_cast<FilterInfo*>(&filter));
  obs_property_t* split = obs_properties_add_float_slider(
      all, kSplit, "Split: as it was, on the left", 0, 1, kSplitStep);
  obs_property_set_long_description(split,
                                    "share of the width, from the left, that stays as it was");
  obs_properties_t* others = obs_properties_create();
  for (const Option* each : shown_options(filter))
    add_option(each->live ? all : others, *each);
  if (obs_properties_first(others) != nullptr) {
    obs_properties_add_group(all, "others", "Others", OBS_GROUP_NORMAL, others);
  } else {
    obs_properties_destroy(others);
  }
  return all;
}

OptionValues values_of(const FilterInfo& filter, obs_data_t* settings) {
  OptionValues values;
  for (const Option* each : shown_options(filter))
    values.emplace_back(each->key, value_of(*each, settings));
  return values;
}

void take_preset(const FilterInfo& filter, obs_data_t* settings, const OptionValues& before) {
  const std::string wanted = obs_data_get_string(settings, kPreset);
  if (wanted == obs_data_get_string(settings, kPresetTaken)) return;
  const std::vector<std::string_view> known = presets_of(filter);
  if (std::find(known.begin(), known.end(), wanted) == known.end())
    throw_usage("preset is " + equalux::quoted(wanted) + ", must be " + list_of_names(known));
  std::vector<std::string_view> kept;
  for (const Option* each : shown_options(filter)) {
    const std::string key(each->key);
    const bool set =
        obs_data_has_user_value(settings, key.c_str()) ||
        (!each->word.empty() && obs_data_has_user_value(settings, key_of_word(*each).c_str()));
    const std::string* was = find_value(before, key);
    const std::string value = value_of(*each, settings);
    if (!set || (was != nullptr && *was == value)) continue;
    kept.push_back(each->key);
    // A number also sets its switch.
    put(settings, *each, value, kSet);
  }
  put_preset(filter, wanted, settings, kSet, kept);
}

RecipePtr recipe_from_values(const FilterInfo& filter, const OptionValues& values) {
  // OBS passes all values: some that a preset set, and that another box or slider has made
  // meaningless, must not cause an error.
  FilterSpec spec{std::string(filter.name), without_idle(filter.options, values)};
  std::erase_if(spec.options, [&filter](const auto& each) {
    return each.second == find_option(filter.options, each.first)->fallback;
  });
  RecipePtr recipe = read_recipe(spec);
  throw_violations(recipe->violations(Backend::cpu));
  return recipe;
}

double split_of(obs_data_t* settings) {
  return obs_data_get_double(settings, kSplit);
}

}  // namespace equalux::obs
