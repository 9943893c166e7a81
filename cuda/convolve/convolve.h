#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda/device/fast_divisor.h"
#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/convolve/exact_kernel.h"

/// Convolution of one plane of bytes in device memory, by several kernels for different sizes and
/// weights. All of them give the bytes that exact_kernel.h defines.
namespace equalux::cuda {

/// A plane to read and a plane to write, which do not overlap. The samples of a channel are `step`
/// bytes apart.
struct BytePlane : PlanePair {
  int width = 0;  ///< pixels
  int rows = 0;
  int step = 1;   ///< 1, 3 or 4
  int kept = -1;  ///< byte of each pixel that is copied unchanged, or -1
};

/// Planes that are copied unchanged, at most two; `width` is in bytes, and step and kept are not
/// used. Both may be empty.
struct PlaneCopies {
  BytePlane plane[2];
  bool aligned = false;  ///< addresses and strides are multiples of 16

  void add(const BytePlane& another);
};
void copy_planes(const PlaneCopies& copies, cudaStream_t stream);

/// The value of pixels outside the plane.
struct Outside {
  Border border = Border::replicate;
  std::uint8_t value = 0;  ///< for Border::constant
};

/// Divides a sum of products, known modulo 2^32, and clamps it to a level.
struct LevelOfSum {
  std::uint32_t bias = 0;
  bool positive = false;  ///< sum + bias is below 2^32 and never negative; else it is signed
  bool shifts = false;    ///< the divisor is 2^shift
  std::uint32_t shift = 0;
  FastDivisor divisor;  ///< where it is no power of two

  static LevelOfSum of(const ExactKernel& kernel);

  EQUALUX_HD std::uint8_t level(std::uint32_t sum) const {
    const std::uint32_t value = sum + bias;
    if (!positive && (value >> 31) != 0) return 0;
    const std::uint32_t quotient = shifts ? value >> shift : divisor.quotient(value);
    return static_cast<std::uint8_t>(quotient < 255 ? quotient : 255);
  }
};

/// Returns true where convolve_3x3() can take the kernel: 3 x 3, with weights that fit a signed
/// byte.
[[nodiscard]] bool is_small(const ExactKernel& kernel);
[[nodiscard]] LaunchDevice convolve_3x3_device();
/// Convolves with a 3 x 3 kernel; spare warps of the launch copy the planes of `copies`, whose rows
/// must have no more bytes than the plane's, rounded up to a multiple of 512.
void convolve_3x3(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                  const PlaneCopies& copies, const LaunchDevice& device, cudaStream_t stream);

/// Convolves with a kernel of up to 15 x 15 and any weights.
void convolve_direct(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                     const LaunchDevice& device, cudaStream_t stream);
/// Convolves with a separable kernel of up to 31 x 31.
void convolve_separable(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                        const LaunchDevice& device, cudaStream_t stream);
/// Returns true where convolve_columns(), which is faster, can take a separable kernel: up to 9 x
/// 9, or up to 15 x 15 for pixels of four bytes and for a Gaussian on pixels of three. The plane
/// must have more than 14 rows, rows of whole words, and addresses and strides that are multiples
/// of 16.
[[nodiscard]] bool fits_columns(const BytePlane& plane, const ExactKernel& kernel);
void convolve_columns(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                      const LaunchDevice& device, cudaStream_t stream);

/// Convolves in one of the published modes. `weights` are the kernel's size x size weights in
/// device memory, which only mode global reads. `block` is the side of a block: 8, 16 or 32
/// threads.
void published_convolve(ConvolveMode mode, int block, const BytePlane& plane, Outside outside,
                        const ExactKernel& kernel, const std::int32_t* weights,
                        cudaStream_t stream);
/// Returns all size x size weights; those of a separable kernel are products.
[[nodiscard]] std::vector<std::int32_t> all_weights(const ExactKernel& kernel);

}  // namespace equalux::cuda
