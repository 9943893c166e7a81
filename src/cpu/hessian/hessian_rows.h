#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <equalux/hessian.h>

#include "src/format/layout.h"
#include "src/hessian/hessian_weights.h"

/// Inner loops of the Hessian filters over one row, compiled for every SIMD target and chosen once.
namespace equalux {

/// Floats of room behind a row's samples: loops run on to whole vectors.
inline constexpr std::size_t kRowSlack = 64;

/// Distance in floats from a row of derivatives to its second copy, for targets whose loads across
/// cache lines cost twice. A row begins with a cache line, its copy in the middle of one, so that
/// any eight samples lie within a line in one of the two. Twice this distance, from row to row, is
/// not near a multiple of a page.
inline constexpr std::size_t kSecondCopy = 584;

/// Three rows: a row of the frame smoothed, and differentiated once and twice, along y.
template <typename Float>
struct ThreeRows {
  Float* smooth;
  Float* slope;
  Float* curve;
};
using DerivativeRows = ThreeRows<float>;
using ConstDerivativeRows = ThreeRows<const float>;

/// Two rows of results. With `stream` they are streamed, and must begin with a cache line.
struct EigenvalueRows {
  float* first;
  float* second;
  bool stream;
};

/// Loops of one target. Float rows may have any alignment and need kRowSlack floats behind the last
/// sample, which are read and written; byte rows have no padding. All targets give the same bits.
struct HessianRows {
  std::string_view target;

  /// Converts n pixels to levels: bytes as they are, or a channel of packed RGB.
  void (*gray_levels)(const std::uint8_t* in, std::size_t n, float* out);
  void (*rgb_levels)(HessianChannel channel, const RgbLayout& at, const std::uint8_t* in,
                     std::size_t n, float* out);

  /// Sums along y with the three kernels in n columns. rows[0] .. rows[2 radius] are the rows from
  /// radius above to radius below. Each row of `out` begins with a cache line and has room for a
  /// second copy at kSecondCopy.
  void (*vertical)(const HessianWeights& weights, const float* const* rows, std::size_t n,
                   const DerivativeRows& out);
  /// vertical() for that row and the one below, which also needs rows[2 radius + 1]; the two share
  /// nearly all loads.
  void (*vertical_pair)(const HessianWeights& weights, const float* const* rows, std::size_t n,
                        const DerivativeRows& out, const DerivativeRows& out_below);
  /// Sums along x, and the eigenvalues of n pixels. `in` points to the first one, at a cache line;
  /// radius columns before it and behind the last are read.
  void (*eigenvalues)(const HessianWeights& weights, const ConstDerivativeRows& in, std::size_t n,
                      const EigenvalueRows& to);
  /// Smooths n pixels along x; `in` as in eigenvalues().
  void (*smooth)(const HessianWeights& weights, const float* in, std::size_t n, float* out);

  /// Copies n floats to a frame's row of any alignment; `stream` streams them.
  void (*store)(const float* in, std::size_t n, bool stream, std::uint8_t* out);
  /// Fences a thread's streaming stores. Call it once after the thread's last row.
  void (*flush_stores)();
};

/// Returns the plain C++ loops, for machines without a SIMD target that has fma, and as reference
/// of the others.
[[nodiscard]] const HessianRows& scalar_hessian_rows();
/// Returns the loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const HessianRows& hessian_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<HessianRows> all_hessian_rows();

}  // namespace equalux
