#pragma once

#include <memory>

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// The nearest that NVIDIA's Performance Primitives have to equalization of V.
namespace equalux::bench {

/// RGBToHSV, a copy of V, HistogramEven, V put back, HSVToRGB, for packed RGB of three bytes in
/// device memory. It leaves V as it was: the prefix sum and the look-up, for which NPP has no
/// function on the device, are not counted.
class NppChain {
 public:
  virtual ~NppChain() = default;
  virtual void enqueue(const ConstImageView& in, const ImageView& out) = 0;
};

/// Null where the build has no NPP. Throws Error(unavailable) where NPP refuses.
[[nodiscard]] std::unique_ptr<NppChain> make_npp_chain(const ImageDesc& desc, cudaStream_t stream);

}  // namespace equalux::bench
