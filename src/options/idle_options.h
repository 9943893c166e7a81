#pragma once

#include <span>

#include <equalux/options.h>

/// Options that another option's value leaves without meaning.
namespace equalux {

/// Returns, with their defaults, those of `options` that `wanted` leaves without meaning and does
/// not set: the bound KEY-max of a word where KEY gets a number, brighten-ms and darken-ms where
/// temporal-ms is 0, the width of a Gaussian beside another kernel, and its scale beside
/// derivatives that have none.
[[nodiscard]] OptionValues idle_beside(std::span<const Option> options, const OptionValues& wanted);
/// Returns `values` without those that mean nothing beside another one of them; those of `kept`
/// stay.
[[nodiscard]] OptionValues without_idle(std::span<const Option> options, OptionValues values,
                                        const OptionValues& kept = {});

}  // namespace equalux
