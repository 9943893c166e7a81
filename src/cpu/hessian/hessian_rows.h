#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <equalux/hessian.h>

#include "src/format/layout.h"
#include "src/hessian/hessian_weights.h"

/// The Hessian family's inner loops over one row, compiled for every SIMD target and chosen once.
namespace equalux {

/// Floats that stay free behind a row's samples: loops run over whole vectors.
inline constexpr std::size_t kRowSlack = 64;

/// Floats from a row of derivatives to its second copy, for targets whose loads across cache lines
/// take two turns: where the row begins with a line, the copy begins in the middle of one, and of
/// any eight samples in a row one of both has them within a line. Twice that, from row to row, is
/// no multiple of a page, nor near one.
inline constexpr std::size_t kSecondCopy = 584;

/// Three rows: one of a frame smoothed, differentiated once and twice along y.
template <typename Float>
struct ThreeRows {
  Float* smooth;
  Float* slope;
  Float* curve;
};
using DerivativeRows = ThreeRows<float>;
using ConstDerivativeRows = ThreeRows<const float>;

/// Two rows of results. `stream` writes them past the caches: they begin with a cache line.
struct EigenvalueRows {
  float* first;
  float* second;
  bool stream;
};

/// One target's loops. Float rows begin anywhere and have kRowSlack floats behind the last sample,
/// which are read and written; byte rows are tight. All targets give the same bits.
struct HessianRows {
  std::string_view target;

  /// Levels of n pixels: bytes as they are, or a channel of a packed form.
  void (*gray_levels)(const std::uint8_t* in, std::size_t n, float* out);
  void (*rgb_levels)(HessianChannel channel, const RgbLayout& at, const std::uint8_t* in,
                     std::size_t n, float* out);

  /// The three passes along y in n columns. rows[0] .. rows[2 radius] are the rows from radius
  /// above the one in question to radius below. Each row of `out` has memory for a second copy
  /// kSecondCopy behind it, and begins with a cache line.
  void (*vertical)(const HessianWeights& weights, const float* const* rows, std::size_t n,
                   const DerivativeRows& out);
  /// The same for that row and the one below, to whose sums rows[2 radius + 1] belongs as well: two
  /// rows that share nearly all they read.
  void (*vertical_pair)(const HessianWeights& weights, const float* const* rows, std::size_t n,
                        const DerivativeRows& out, const DerivativeRows& out_below);
  /// The passes along x, and the eigenvalues of n pixels. `in` points at the first of them; radius
  /// columns before it are read, and as many behind the last. It
  /// lies at a cache line.
  void (*eigenvalues)(const HessianWeights& weights, const ConstDerivativeRows& in, std::size_t n,
                      const EigenvalueRows& to);
  /// The smoothing pass along x of n pixels; `in` as in eigenvalues().
  void (*smooth)(const HessianWeights& weights, const float* in, std::size_t n, float* out);

  /// n floats to a frame's row, which needs no alignment; `stream` writes past the caches.
  void (*store)(const float* in, std::size_t n, bool stream, std::uint8_t* out);
  /// Makes a thread's streamed stores visible; called once after its last row.
  void (*flush_stores)();
};

/// Plain C++, for machines without a SIMD target that has fma, and as the reference of the others.
[[nodiscard]] const HessianRows& scalar_hessian_rows();
/// The loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const HessianRows& hessian_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<HessianRows> all_hessian_rows();

}  // namespace equalux
