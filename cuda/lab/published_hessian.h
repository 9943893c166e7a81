#pragma once

#include <cmath>
#include <cstddef>
#include <memory>

#include <equalux/filter.h>

#include "cuda/hessian/hessian.h"
#include "src/lab/gpu_lab.h"

/// The report's methods for eigenvalues of the Hessian on a GPU (its section 3): smoothing,
/// derivatives and eigenvalues in separate kernels, with whole planes of floats in device memory
/// between them. Only `equalux lab hessian` uses them; the product's kernel is in hessian.h.
namespace equalux::cuda {

/// Results of the pass along y: a float per pixel, rows without gaps.
struct ColumnPlanes {
  float* smooth;
  float* slope;
  float* curve;
};

/// Results of the pass along x, laid out as ColumnPlanes.
struct DerivativePlanes {
  float* xx;
  float* xy;
  float* yy;
};

/// Sub-images into which the report cuts a frame, one block each.
struct SubImages {
  int side;    ///< pixels along a side of a sub-image, equation 9
  int pixels;  ///< pixels of a thread, equation 11

  /// Chooses sub-images whose three planes of floats fill `shared_bytes`; `threads` threads share
  /// their pixels, rounded up so that none is left over. 49152 bytes give a side of 64.
  static SubImages of(int shared_bytes, int threads) {
    const auto side = static_cast<int>(std::sqrt(shared_bytes / 3 / int{sizeof(float)}));
    return {side, (side * side + threads - 1) / threads};
  }
  [[nodiscard]] std::size_t shared_bytes() const {
    return static_cast<std::size_t>(3 * side * side) * sizeof(float);
  }
};

/// Enqueues the steps, one thread per pixel. Frames of floats have addresses and strides that are
/// multiples of 4.
void smooth_columns(const LevelSource& in, const ScaleWeights& weights, const ColumnPlanes& out,
                    cudaStream_t stream);
void differentiate_rows(const ColumnPlanes& in, int width, int height, const ScaleWeights& weights,
                        const DerivativePlanes& out, cudaStream_t stream);
/// Writes Hxx, Hxy, Hxy, Hyy of each pixel to `matrices`, which is aligned to 16 bytes.
void differentiate_rows(const ColumnPlanes& in, int width, int height, const ScaleWeights& weights,
                        float* matrices, cudaStream_t stream);

void per_value_eigenvalues(const DerivativePlanes& in, int width, int height,
                           const HessianKernel::Output& out, cudaStream_t stream);
void per_pixel_eigenvalues(const DerivativePlanes& in, int width, int height,
                           const HessianKernel::Output& out, cudaStream_t stream);
/// Enqueues the variants that use shared memory; `shared_bytes` is what a block may have without
/// asking for more.
void shared_eigenvalues(const DerivativePlanes& in, int width, int height, int shared_bytes,
                        const HessianKernel::Output& out, cudaStream_t stream);
void one_warp_eigenvalues(const DerivativePlanes& in, int width, int height, int shared_bytes,
                          const HessianKernel::Output& out, cudaStream_t stream);
/// Writes the ordered eigenvalues of `pairs`, which has both of each pixel in any order.
void order_eigenvalues(const float* pairs, int width, int height, const HessianKernel::Output& out,
                       cudaStream_t stream);

/// Makes a filter of any strategy but `production`. It marks the stages "smoothing", "derivatives"
/// and "eigenvalues". `device` is a CUDA number. configure() allocates the planes and fills them
/// with NaN, so that a pixel that a step leaves out shows. Throws Error(unavailable) where this
/// build or machine lacks what a strategy needs. One thread at a time.
[[nodiscard]] std::unique_ptr<Filter> make_published_hessian(const HessianParams& params,
                                                             gpu_lab::HessianStrategy strategy,
                                                             int device);

}  // namespace equalux::cuda
