#include "fused_kernel.cuh"
#include "fused_kernels.h"

namespace equalux::cuda {
namespace {

template <typename Layout>
const void* kernel_of(bool aligned) {
  return aligned ? reinterpret_cast<const void*>(&fused_kernel<Layout, true>)
                 : reinterpret_cast<const void*>(&fused_kernel<Layout, false>);
}

}  // namespace

const void* fused_420_kernel(PixelFormat format, bool aligned) {
  switch (format) {
    case PixelFormat::nv12: return kernel_of<Nv12Layout>(aligned);
    case PixelFormat::i420: return kernel_of<I420Layout>(aligned);
    default: return nullptr;
  }
}

}  // namespace equalux::cuda
