#pragma once

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// What NVIDIA's Performance Primitives have for 3 x 3 kernels.
namespace equalux::bench {

enum class NppFilter {
  gauss,    ///< FilterGaussBorder, its fastest
  general,  ///< FilterBorder with weights of its caller
  sharpen,  ///< FilterSharpenBorder
};

/// True where the build has NPP.
[[nodiscard]] bool has_npp();

/// One 3 x 3 filter with replicated border over packed RGB of three bytes in device memory.
/// `weights` are nine in device memory; `general` alone reads them. Throws Error(unavailable) where
/// NPP refuses or the build has none.
void npp_filter(NppFilter filter, const ConstImageView& in, const ImageView& out,
                const int* weights, cudaStream_t stream);

}  // namespace equalux::bench
