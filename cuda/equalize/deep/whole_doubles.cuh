#pragma once

#include <cstdint>

/// Whole numbers in double precision without the units that convert them, of which there are few.
namespace equalux::cuda {

/// 2^52, from which on doubles are whole numbers, and a half more, where negative ones lie too.
inline constexpr double kWhole = 4503599627370496.0;
inline constexpr double kSignedWhole = 1.5 * kWhole;

/// 2^52 + a whole number.
__device__ __forceinline__ double on_whole(std::uint32_t number) {
  return __hiloint2double(0x43300000, static_cast<int>(number));
}
__device__ __forceinline__ double whole_number(std::uint32_t number) {
  return on_whole(number) - kWhole;
}

/// 1 / x, off by two last places at most.
__device__ __forceinline__ double inverse_of(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(fma(-x, y, 1.0), y, y);
  y = fma(fma(-x, y, 1.0), y, y);
  return y;
}

}  // namespace equalux::cuda
