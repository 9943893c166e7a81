#pragma once

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// What NVIDIA's Performance Primitives have for the kernels of `convolve`.
namespace equalux::bench {

enum class NppFilter {
  gauss,           ///< FilterGaussBorder, its fastest; odd sizes from 3 to 15
  gauss_advanced,  ///< FilterGaussAdvancedBorder with weights of its caller, of any size
  box,             ///< FilterBoxBorder
  general,         ///< FilterBorder with weights of its caller
  sharpen,         ///< FilterSharpenBorder, 3 x 3
};

/// True where the build has NPP.
[[nodiscard]] bool has_npp();

/// Weights in device memory, as the filters that read them want them.
struct NppWeights {
  const int* general = nullptr;  ///< size x size
  int divisor = 1;
  const float* taps = nullptr;  ///< size
};

/// One filter of `size` x `size` with replicated border over packed RGB of three bytes in device
/// memory. Throws Error(unavailable) where NPP refuses or the build has none.
void npp_filter(NppFilter filter, int size, const ConstImageView& in, const ImageView& out,
                const NppWeights& weights, cudaStream_t stream);

}  // namespace equalux::bench
