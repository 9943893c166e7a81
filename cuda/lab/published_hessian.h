#pragma once

#include <cmath>
#include <cstddef>
#include <memory>

#include <equalux/filter.h>

#include "cuda/hessian/hessian.h"
#include "src/lab/gpu_lab.h"

/// The report's ways to the eigenvalues of the Hessian on a GPU, its section 3: smoothing,
/// derivatives and eigenvalues one after another, with whole planes of floats in device memory
/// between them. For `equalux lab hessian` alone; the product's kernel is in hessian.h.
namespace equalux::cuda {

/// What the pass along y leaves, a float a pixel, rows one behind another.
struct ColumnPlanes {
  float* smooth;
  float* slope;
  float* curve;
};

/// What the pass along x leaves, the same way.
struct DerivativePlanes {
  float* xx;
  float* xy;
  float* yy;
};

/// How the report cuts a frame into sub-images, a block each.
struct SubImages {
  int side;    ///< pixels of a sub-image's side, equation 9
  int pixels;  ///< of a thread, equation 11

  /// A sub-image's three planes of floats fill `shared_bytes`, and a block's `threads` share its
  /// pixels; rounded so that no pixel is left over. 49152 bytes make a side of 64.
  static SubImages of(int shared_bytes, int threads) {
    const auto side = static_cast<int>(std::sqrt(shared_bytes / 3 / int{sizeof(float)}));
    return {side, (side * side + threads - 1) / threads};
  }
  [[nodiscard]] std::size_t shared_bytes() const {
    return static_cast<std::size_t>(3 * side * side) * sizeof(float);
  }
};

/// The steps, a thread a pixel. All only enqueue. Frames of floats have addresses and strides that
/// are multiples of 4.
void smooth_columns(const LevelSource& in, const ScaleWeights& weights, const ColumnPlanes& out,
                    cudaStream_t stream);
void differentiate_rows(const ColumnPlanes& in, int width, int height, const ScaleWeights& weights,
                        const DerivativePlanes& out, cudaStream_t stream);
/// `matrices` takes Hxx, Hxy, Hxy, Hyy of each pixel, and lies at a multiple of 16 bytes.
void differentiate_rows(const ColumnPlanes& in, int width, int height, const ScaleWeights& weights,
                        float* matrices, cudaStream_t stream);

void per_value_eigenvalues(const DerivativePlanes& in, int width, int height,
                           const HessianKernel::Output& out, cudaStream_t stream);
void per_pixel_eigenvalues(const DerivativePlanes& in, int width, int height,
                           const HessianKernel::Output& out, cudaStream_t stream);
/// `shared_bytes` is what a block may have without asking for more.
void shared_eigenvalues(const DerivativePlanes& in, int width, int height, int shared_bytes,
                        const HessianKernel::Output& out, cudaStream_t stream);
void one_warp_eigenvalues(const DerivativePlanes& in, int width, int height, int shared_bytes,
                          const HessianKernel::Output& out, cudaStream_t stream);
/// `pairs` has both eigenvalues of each pixel, in any order.
void order_eigenvalues(const float* pairs, int width, int height, const HessianKernel::Output& out,
                       cudaStream_t stream);

/// A filter of any strategy but `production` that marks "smoothing", "derivatives" and
/// "eigenvalues". `device` is a CUDA number. configure() allocates the planes and fills them with
/// what is not a number, so that a pixel that a step leaves out shows. Throws Error(unavailable)
/// where this build or machine lacks what a strategy needs. One thread at a time.
[[nodiscard]] std::unique_ptr<Filter> make_published_hessian(const HessianParams& params,
                                                             gpu_lab::HessianStrategy strategy,
                                                             int device);

}  // namespace equalux::cuda
