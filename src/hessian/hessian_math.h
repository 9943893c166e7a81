#pragma once

#include <cmath>
#include <cstdint>

#include <equalux/hessian.h>

#include "src/format/pixel_math.h"

/// Arithmetic of the Hessian filters on single samples, written once for host and device. Every
/// product that is added is an explicit fma, in a fixed order, so that all backends give the same
/// bits. docs/hessian.md has the formulas.
namespace equalux {

/// a · b + c, rounded once.
EQUALUX_HD float fused_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

/// Square root, rounded to nearest.
EQUALUX_HD float rounded_root(float x) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

/// Quotient, rounded to nearest.
EQUALUX_HD float rounded_quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

EQUALUX_HD float magnitude(float x) {
#if defined(__CUDA_ARCH__)
  return fabsf(x);
#else
  return std::fabs(x);
#endif
}

/// Luma of 8-bit RGB, 0 to 255, with ITU-R BT.601's weights in 8 bits, rounded to nearest.
EQUALUX_HD std::int32_t luma_of_rgb(std::int32_t r, std::int32_t g, std::int32_t b) {
  return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

/// V of HSV of 8-bit RGB.
EQUALUX_HD std::int32_t value_of_rgb(std::int32_t r, std::int32_t g, std::int32_t b) {
  return r > g ? (r > b ? r : b) : (g > b ? g : b);
}

/// Channel of an 8-bit RGB pixel, 0 to 255.
EQUALUX_HD std::int32_t channel_of_rgb(HessianChannel channel, std::int32_t r, std::int32_t g,
                                       std::int32_t b) {
  switch (channel) {
    case HessianChannel::value:
      return value_of_rgb(r, g, b);
    case HessianChannel::red:
      return r;
    case HessianChannel::green:
      return g;
    case HessianChannel::blue:
      return b;
    default:
      return luma_of_rgb(r, g, b);
  }
}

/// Sum with an even kernel: w[0] x(0), then w[k] (x(-k) + x(k)) for k = 1 .. radius. x(k) is the
/// sample k steps on.
template <typename Samples>
EQUALUX_HD float even_sum(const float* w, int radius, const Samples& x) {
  float sum = w[0] * x(0);
  for (int k = 1; k <= radius; ++k)
    sum = fused_add(w[k], x(-k) + x(k), sum);
  return sum;
}

/// Sum with an odd kernel: w[1] (x(1) - x(-1)), then w[k] (x(k) - x(-k)) for k = 2 .. radius.
template <typename Samples>
EQUALUX_HD float odd_sum(const float* w, int radius, const Samples& x) {
  float sum = w[1] * (x(1) - x(-1));
  for (int k = 2; k <= radius; ++k)
    sum = fused_add(w[k], x(k) - x(-k), sum);
  return sum;
}

/// Eigenvalues with |first| <= |second|; where these are equal, first <= second.
struct Eigenvalues {
  float first;
  float second;
};

/// Radicand of eigenvalues_by_root(): half the diagonal's difference squared, plus hxy squared.
EQUALUX_HD float squared_root_term(float hxx, float hxy, float hyy) {
  const float half = 0.5f * (hxx - hyy);
  return fused_add(half, half, hxy * hxy);
}

/// Eigenvalues from the mean of the diagonal and the root of squared_root_term().
EQUALUX_HD Eigenvalues eigenvalues_by_root(float hxx, float hyy, float root) {
  const float middle = 0.5f * (hxx + hyy);
  const float least = middle - root;
  const float most = middle + root;
  if (magnitude(least) <= magnitude(most)) return {least, most};
  return {most, least};
}

/// Eigenvalues of [hxx hxy; hxy hyy]: the mean of the diagonal minus and plus a root, the common
/// term of the report's section 3.1 without the misprint in its equations 6 to 8.
EQUALUX_HD Eigenvalues hessian_eigenvalues(float hxx, float hxy, float hyy) {
  return eigenvalues_by_root(hxx, hyy, rounded_root(squared_root_term(hxx, hxy, hyy)));
}

}  // namespace equalux
