#pragma once

#include <cstdint>

/// Whole numbers in double precision without conversion instructions, which are slow because a
/// multiprocessor has few units for them.
namespace equalux::cuda {

/// 2^52, from which on doubles are whole numbers; and 1.5 2^52, around which negative sums are
/// whole numbers, too.
inline constexpr double kTwo52 = 4503599627370496.0;
inline constexpr double kSignedWhole = 1.5 * kTwo52;

/// Returns 2^52 + number, made of bits.
__device__ __forceinline__ double on_whole(std::uint32_t number) {
  return __hiloint2double(0x43300000, static_cast<int>(number));
}
__device__ __forceinline__ double whole_number(std::uint32_t number) {
  return on_whole(number) - kTwo52;
}

/// Computes 1 / x with an error of at most two last places.
__device__ __forceinline__ double inverse_of(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(fma(-x, y, 1.0), y, y);
  y = fma(fma(-x, y, 1.0), y, y);
  return y;
}

}  // namespace equalux::cuda
