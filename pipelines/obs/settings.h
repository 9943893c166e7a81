#pragma once

#include <span>
#include <string_view>

#include <equalux/filter.h>
#include <obs-data.h>
#include <obs-properties.h>

#include "src/common/filter_recipe.h"

/// A filter's options as settings of OBS. Keys are the options' own; one that takes a word beside
/// its numbers has a switch for it, KEY-auto, which wins where it is set. "preset" and "split"
/// belong to every filter.
namespace equalux::obs {

/// A value of a preset, as configs/NAME.toml has it.
struct PresetValue {
  std::string_view preset;
  std::string_view filter;
  std::string_view key;
  std::string_view value;
};
/// The values of all presets that filters have here; "plain" has none.
[[nodiscard]] std::span<const PresetValue> preset_values();

/// Settings of a new filter: those of preset stable.
void set_defaults(const FilterInfo& filter, obs_data_t* settings);
/// What people see of them. The caller owns it.
[[nodiscard]] obs_properties_t* make_properties(const FilterInfo& filter);
/// The values that settings have for the filter's options, as they are written.
[[nodiscard]] OptionValues values_of(const FilterInfo& filter, obs_data_t* settings);
/// Where "preset" names another one than was taken last: its values take the place of all others
/// but those that were set since `before`, or at all where that is empty. Throws Error(usage) for a
/// name that no preset has; settings then stay.
void take_preset(const FilterInfo& filter, obs_data_t* settings, const OptionValues& before);
/// What values ask for. Throws Error(usage), and as reading a file that they name throws.
[[nodiscard]] RecipePtr recipe_from_values(const FilterInfo& filter, const OptionValues& values);
/// Share of the width, from the left, that stays as it was.
[[nodiscard]] double split_of(obs_data_t* settings);

}  // namespace equalux::obs
