#pragma once

#include <span>
#include <string_view>

#include <equalux/filter.h>
#include <obs-data.h>
#include <obs-properties.h>

#include "src/common/filter_recipe.h"

/// A filter's options as OBS settings. Keys are the options' own; an option that takes a word
/// beside numbers has a switch for it, KEY-auto, which takes precedence. Every filter also has
/// "preset" and "split".
namespace equalux::obs {

/// A value of a preset, as in configs/NAME.toml.
struct PresetValue {
  std::string_view preset;
  std::string_view filter;
  std::string_view key;
  std::string_view value;
};
/// Returns the values of all presets for filters; "plain" has none.
[[nodiscard]] std::span<const PresetValue> preset_values();

/// Sets the settings of a new filter: those of preset stable.
void set_defaults(const FilterInfo& filter, obs_data_t* settings);
/// Makes the properties that OBS shows. The caller owns the result.
[[nodiscard]] obs_properties_t* make_properties(const FilterInfo& filter);
/// Returns the values of the filter's options in the settings, as text.
[[nodiscard]] OptionValues values_of(const FilterInfo& filter, obs_data_t* settings);
/// Applies a newly chosen "preset": its values replace all others except those that were set since
/// `before`, or at any time if that is empty. Throws Error(usage) for an unknown name, and leaves
/// the settings as they are.
void take_preset(const FilterInfo& filter, obs_data_t* settings, const OptionValues& before);
/// Makes a recipe of values. Throws Error(usage), and what reading a file that they name throws.
[[nodiscard]] RecipePtr recipe_from_values(const FilterInfo& filter, const OptionValues& values);
/// Returns the share of the width, from the left, that stays unfiltered.
[[nodiscard]] double split_of(obs_data_t* settings);

}  // namespace equalux::obs
