#pragma once

#include <optional>

#include <equalux/filter.h>

#include "src/common/filter_recipe.h"

/// What tests do with filters that change while frames move.
namespace equalux::test {

/// All options of equalization as they are written, but for a curve, which is a file's.
inline OptionValues values_of(const EqualizeParams& params) {
  OptionValues values;
  for (const Option& option : equalize_options()) {
    if (option.type != OptionType::file)
      values.emplace_back(option.key, option_text(params, option.key));
  }
  return values;
}

inline std::optional<CurveSum> curve_sum(Filter& filter) {
  return filter.curves() == nullptr ? std::nullopt : filter.curves()->sum();
}

inline bool collect_curves(Filter& filter) {
  return filter.curves() != nullptr && filter.curves()->collect();
}

}  // namespace equalux::test
