#pragma once

#include <span>

#include <equalux/params.h>

#include "src/common/option_table.h"

/// The options of equalization.
namespace equalux {

[[nodiscard]] const OptionTable<EqualizeParams>& equalize_table();

/// What shapes a curve and is not as by default: the scaler, the bins, the curve's numbers, and
/// which pixels count.
[[nodiscard]] OptionValues changed_options(const EqualizeParams& params);

/// Whether an option of any filter is equalization's own, declared by the same row, and not another
/// one of its name: `strength` of `denoise` is another.
[[nodiscard]] bool is_of_equalize(const Option& option);

/// What of `options` means nothing beside the values that are wanted, and is not among them, with
/// its values by default: the bound KEY-max of a word where KEY gets a number in its place, and the
/// time constants of one direction where there is none of both.
[[nodiscard]] OptionValues idle_beside(std::span<const Option> options, const OptionValues& wanted);
/// `values` but for those that mean nothing beside another one of them; those of `kept` stay.
[[nodiscard]] OptionValues without_idle(std::span<const Option> options, OptionValues values,
                                        const OptionValues& kept = {});

}  // namespace equalux
