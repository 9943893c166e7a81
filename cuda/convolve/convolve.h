#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda/device/fast_divisor.h"
#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/convolve/exact_kernel.h"

/// Convolution of one plane of bytes in device memory. Every way gives the bytes that
/// exact_kernel.h defines.
namespace equalux::cuda {

/// A plane to be read and one to be written, which do not overlap. Samples of a channel lie `step`
/// bytes apart.
struct BytePlane : PlanePair {
  int width = 0;  ///< pixels
  int rows = 0;
  int step = 1;   ///< 1, 3 or 4
  int kept = -1;  ///< the byte of each pixel that is copied, or -1
};

/// Two planes at most that stay as they are; `width` is bytes, step and kept are not read. Both may
/// be empty.
struct PlaneCopies {
  BytePlane plane[2];
  bool aligned = false;  ///< addresses and strides are multiples of 16

  void add(const BytePlane& another);
};
void copy_planes(const PlaneCopies& copies, cudaStream_t stream);

/// What stands outside the plane.
struct Outside {
  Border border = Border::replicate;
  std::uint8_t value = 0;  ///< where border is constant
};

/// Makes a level of a sum of products, which is modulo 2^32.
struct LevelOfSum {
  std::uint32_t bias = 0;
  bool positive = false;  ///< S + bias is below 2^32 and never negative; else it is signed
  bool shifts = false;    ///< the divisor is 2^shift
  std::uint32_t shift = 0;
  FastDivisor divisor;  ///< else

  static LevelOfSum of(const ExactKernel& kernel);

  EQUALUX_HD std::uint8_t level(std::uint32_t sum) const {
    const std::uint32_t value = sum + bias;
    if (!positive && (value >> 31) != 0) return 0;
    const std::uint32_t quotient = shifts ? value >> shift : divisor.quotient(value);
    return static_cast<std::uint8_t>(quotient < 255 ? quotient : 255);
  }
};

/// Whether convolve_3x3() takes the kernel: 3 x 3, and weights that fit a signed byte.
[[nodiscard]] bool is_small(const ExactKernel& kernel);
[[nodiscard]] LaunchDevice convolve_3x3_device();
/// The copies run beside it. They must not have more bytes a row than the plane has, rounded up to
/// a multiple of 512.
void convolve_3x3(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                  const PlaneCopies& copies, const LaunchDevice& device, cudaStream_t stream);

/// Convolves with a kernel of up to 15 x 15 and any weights.
void convolve_direct(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                     const LaunchDevice& device, cudaStream_t stream);
/// Separable kernels up to 31 x 31.
void convolve_separable(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                        const LaunchDevice& device, cudaStream_t stream);
/// Whether convolve_columns(), which is faster, takes a separable kernel: up to 9 x 9, or 15 x 15
/// of pixels of four bytes and of a Gaussian's three. The plane has more than 14 rows, of whole
/// words, and addresses and strides that are multiples of 16.
[[nodiscard]] bool fits_columns(const BytePlane& plane, const ExactKernel& kernel);
void convolve_columns(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                      const LaunchDevice& device, cudaStream_t stream);

/// The published modes. `weights` are size · size in device memory, the same as the kernel's; only
/// mode global reads them. `block` is 8, 16 or 32 threads a side.
void published_convolve(ConvolveMode mode, int block, const BytePlane& plane, Outside outside,
                        const ExactKernel& kernel, const std::int32_t* weights,
                        cudaStream_t stream);
/// All size · size weights, a separable kernel's as products.
[[nodiscard]] std::vector<std::int32_t> all_weights(const ExactKernel& kernel);

}  // namespace equalux::cuda
