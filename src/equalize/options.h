#pragma once

#include <span>

#include <equalux/params.h>

#include "src/options/option_table.h"

/// Options of equalization.
namespace equalux {

[[nodiscard]] const OptionTable<EqualizeParams>& equalize_table();

/// Returns the options that shape a curve and differ from their defaults: scaler, bins, limits, and
/// which pixels count.
[[nodiscard]] OptionValues changed_options(const EqualizeParams& params);

/// Returns true where an option of any filter is declared by equalization's own row. `strength` of
/// `denoise` has the same name and is another one.
[[nodiscard]] bool is_of_equalize(const Option& option);

/// Returns, with their defaults, those of `options` that `wanted` leaves without meaning and does
/// not set: the bound KEY-max of a word where KEY gets a number, brighten-ms and darken-ms where
/// temporal-ms is 0, and the width of a Gaussian beside another kernel.
[[nodiscard]] OptionValues idle_beside(std::span<const Option> options, const OptionValues& wanted);
/// `values` but for those that mean nothing beside another one of them; those of `kept` stay.
[[nodiscard]] OptionValues without_idle(std::span<const Option> options, OptionValues values,
                                        const OptionValues& kept = {});

}  // namespace equalux
