#pragma once

#include <type_traits>

namespace equalux {

/// Turns a run-time value into a template argument: f(std::integral_constant) of the one of kFirst,
/// kOthers that `value` is; of the last where it is none of those before.
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
