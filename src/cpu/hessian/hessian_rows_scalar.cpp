#include <cstring>

#include "src/cpu/common/stores.h"
#include "src/cpu/hessian/hessian_rows.h"
#include "src/hessian/hessian_math.h"

namespace equalux {
namespace {

void gray_levels(const std::uint8_t* in, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(in[i]);
}

void rgb_levels(HessianChannel channel, const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                float* out) {
  for (std::size_t i = 0; i < n; ++i, in += at.step)
    out[i] = static_cast<float>(channel_of_rgb(channel, in[at.r], in[at.g], in[at.b]));
}

void vertical(const HessianWeights& weights, const float* const* rows, std::size_t n,
              const DerivativeRows& out) {
  const int r = weights.radius;
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = [&](int k) { return rows[r + k][i]; };
    out.smooth[i] = even_sum(weights.smooth.data(), r, x);
    out.slope[i] = odd_sum(weights.slope.data(), r, x);
    out.curve[i] = even_sum(weights.curve.data(), r, x);
  }
}

void vertical_pair(const HessianWeights& weights, const float* const* rows, std::size_t n,
                   const DerivativeRows& out, const DerivativeRows& out_below) {
  vertical(weights, rows, n, out);
  vertical(weights, rows + 1, n, out_below);
}

void eigenvalues(const HessianWeights& weights, const ConstDerivativeRows& in, std::size_t n,
                 const EigenvalueRows& to) {
  const int r = weights.radius;
  for (std::size_t i = 0; i < n; ++i) {
    const auto along = [i](const float* row) {
      return [row, i](int k) { return row[static_cast<std::ptrdiff_t>(i) + k]; };
    };
    const Eigenvalues e = hessian_eigenvalues(even_sum(weights.curve.data(), r, along(in.smooth)),
                                              odd_sum(weights.slope.data(), r, along(in.slope)),
                                              even_sum(weights.smooth.data(), r, along(in.curve)));
    to.first[i] = e.first;
    to.second[i] = e.second;
  }
}

void smooth(const HessianWeights& weights, const float* in, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = even_sum(weights.smooth.data(), weights.radius,
                      [&](int k) { return in[static_cast<std::ptrdiff_t>(i) + k]; });
  }
}

void store(const float* in, std::size_t n, bool /*stream*/, std::uint8_t* out) {
  std::memcpy(out, in, n * sizeof *in);
}

}  // namespace

const HessianRows& scalar_hessian_rows() {
  static const HessianRows loops{"scalar", gray_levels,   rgb_levels,
                                 vertical, vertical_pair, eigenvalues,
                                 smooth,   store,         flush_no_stores};
  return loops;
}

}  // namespace equalux
