#pragma once

#include <type_traits>

namespace equalux {

/// Turns a run-time value into a template argument: calls f(std::integral_constant) with that of
/// kFirst, kOthers which equals `value`, or with the last if no earlier one does.
template <auto kFirst, auto... kOthers, typename Value, typename F>
auto with_constant(Value value, const F& f) {
  if constexpr (sizeof...(kOthers) == 0) {
    return f(std::integral_constant<decltype(kFirst), kFirst>{});
  } else {
    if (value == kFirst) return f(std::integral_constant<decltype(kFirst), kFirst>{});
    return with_constant<kOthers...>(value, f);
  }
}

}  // namespace equalux
