#pragma once

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// Filters of NVIDIA's Performance Primitives (NPP) that match kernels of `convolve`.
namespace equalux::bench {

enum class NppFilter {
  gauss,           ///< FilterGaussBorder, the fastest one; odd sizes from 3 to 15
  gauss_advanced,  ///< FilterGaussAdvancedBorder with the caller's weights, of any size
  box,             ///< FilterBoxBorder
  general,         ///< FilterBorder with the caller's weights
  sharpen,         ///< FilterSharpenBorder, 3 x 3
};

/// Returns true where the build has NPP.
[[nodiscard]] bool has_npp();

/// Weights in device memory, in the forms that the filters read.
struct NppWeights {
  const int* general = nullptr;  ///< size x size
  int divisor = 1;
  const float* taps = nullptr;  ///< size
};

/// Enqueues one filter of `size` x `size` with replicated border on packed RGB of three bytes in
/// device memory. Throws Error(unavailable) where NPP refuses or the build has none.
void npp_filter(NppFilter filter, int size, const ConstImageView& in, const ImageView& out,
                const NppWeights& weights, cudaStream_t stream);

}  // namespace equalux::bench
