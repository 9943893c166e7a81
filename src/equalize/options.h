#pragma once

#include <equalux/params.h>

#include "src/common/option_table.h"

/// The options of equalization.
namespace equalux {

[[nodiscard]] const OptionTable<EqualizeParams>& equalize_table();

/// What shapes a curve and is not as by default: the scaler, the bins, the curve's numbers, and
/// which pixels count.
[[nodiscard]] OptionValues changed_options(const EqualizeParams& params);

}  // namespace equalux
