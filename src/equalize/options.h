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

}  // namespace equalux
