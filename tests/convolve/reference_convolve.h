#pragma once

#include <vector>

#include <equalux/convolve.h>

/// Convolution straight from its definition, in double precision and with no shared code.
namespace equalux::test {

/// out = clamp(floor(sum of weights · samples / divisor + offset + 1/2)). The weights are whole.
struct ReferenceKernel {
  int size = 1;
  std::vector<double> weights;  ///< row after row
  double divisor = 1;
  double offset = 0;
};

/// The 3 x 3 kernels by name, `box`, and `gaussian` of a row's weights in units of 2^-12.
[[nodiscard]] ReferenceKernel reference_kernel(std::string_view name);
[[nodiscard]] ReferenceKernel reference_box(int size);
[[nodiscard]] ReferenceKernel reference_gaussian(const std::vector<int>& row);

/// Plane 0 of `in`, convolved; a fourth byte and the other planes are copied. Slow.
void reference_convolve(const ReferenceKernel& kernel, Border border, int border_value,
                        const ConstImageView& in, const ImageView& out);

}  // namespace equalux::test
