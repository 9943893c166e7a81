#include "cuda/hessian/eigenvalue_tiles.cuh"

namespace equalux::cuda {
namespace {

/// Sink of the eigenvalues themselves: two planes of floats.
struct FloatPlanes {
  HessianKernel::Output out;
  bool vectors;  // addresses and strides are multiples of 16
  bool words;    // addresses and strides are multiples of 4

  __device__ __forceinline__ void store(const LevelSource& in, int x, int y,
                                        const Eigenvalues (&e)[4]) const {
    const std::ptrdiff_t offset = std::ptrdiff_t{4} * x;
    const float first[4] = {e[0].first, e[1].first, e[2].first, e[3].first};
    const float second[4] = {e[0].second, e[1].second, e[2].second, e[3].second};
    store_four(out.first + y * out.first_stride + offset, first, in.columns - x);
    store_four(out.second + y * out.second_stride + offset, second, in.columns - x);
  }

 private:
  __device__ __forceinline__ void store_four(std::uint8_t* to, const float (&values)[4],
                                             int valid) const {
    if (vectors && valid >= 4) {
      *reinterpret_cast<float4*>(to) = {values[0], values[1], values[2], values[3]};
      return;
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      if (v >= valid) return;
      if (words) {
        reinterpret_cast<float*>(to)[v] = values[v];
        continue;
      }
      const std::uint32_t bits = __float_as_uint(values[v]);
      for (int b = 0; b < 4; ++b)
        to[4 * v + b] = static_cast<std::uint8_t>(bits >> (8 * b));
    }
  }
};

using FloatTiles = EigenvalueTiles<FloatPlanes>;

}  // namespace

HessianKernel::HessianKernel(const HessianWeights& weights, int width, int height,
                             std::size_t most_shared)
    : tiles_(FloatTiles::choose(weights, width, height, most_shared)) {}

void HessianKernel::enqueue(const LevelSource& in, const Output& out, cudaStream_t stream) const {
  const auto all = reinterpret_cast<std::uintptr_t>(out.first) |
                   reinterpret_cast<std::uintptr_t>(out.second) |
                   static_cast<std::uintptr_t>(out.first_stride) |
                   static_cast<std::uintptr_t>(out.second_stride);
  FloatTiles::enqueue(tiles_, "launching eigenvalues", in, {out, all % 16 == 0, all % 4 == 0},
                      stream);
}

}  // namespace equalux::cuda
