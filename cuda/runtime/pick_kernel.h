#pragma once

#include <type_traits>

/// Turning run-time numbers into template arguments, once a launch.
namespace equalux::cuda {

/// f(std::integral_constant) of the pixels that a thread has in flight: 1, 2, 4 or 8.
template <typename F>
auto with_pixels_in_flight(int pixels, F f) {
  switch (pixels) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

/// f(std::integral_constant) of the bytes of a packed pixel: 1, 3 or 4.
template <typename F>
auto with_step(int step, F f) {
  switch (step) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    default:
      return f(std::integral_constant<int, 4>{});
  }
}

}  // namespace equalux::cuda
