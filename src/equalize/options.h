#pragma once

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

}  // namespace equalux
