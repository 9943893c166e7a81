#pragma once

#include <string>
#include <utility>
#include <vector>

#include <equalux/params.h>

/// Parameters as text.
namespace equalux {

/// What shapes a curve and is not as by default, as options spell it, in the order of the
/// documentation: the scaler, the bins, the curve's numbers, and which pixels count.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> changed_options(
    const EqualizeParams& params);

}  // namespace equalux
