#pragma once

#include <memory>

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// The nearest that NVIDIA's Performance Primitives (NPP) have to equalization of V.
namespace equalux::bench {

/// Runs RGBToHSV, a copy of V, HistogramEven, a copy of V back, and HSVToRGB, on packed RGB of
/// three bytes in device memory. V stays as it was: prefix sum and look-up are not included, since
/// NPP has no function for them on the device.
class NppChain {
 public:
  virtual ~NppChain() = default;
  virtual void enqueue(const ConstImageView& in, const ImageView& out) = 0;
};

/// Makes the chain; null where the build has no NPP. Throws Error(unavailable) where NPP refuses.
[[nodiscard]] std::unique_ptr<NppChain> make_npp_chain(const ImageDesc& desc, cudaStream_t stream);

}  // namespace equalux::bench
