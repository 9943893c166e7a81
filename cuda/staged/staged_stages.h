#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/image.h>
#include <equalux/params.h>

#include "cuda/runtime/launch_shape.h"

/// The stages of the staged chain on a GPU, one file each, as in section 3 of the HSV equalization
/// report. Each works on whole frames in device memory, only enqueues on `stream`, takes any launch
/// shape, gives the bits of its CPU twin in cpu/staged_stages.h, and throws Error(unavailable)
/// where a launch is refused.
namespace equalux::cuda {

/// A float HSV image in device memory: three planes of width x height floats, rows tight, each
/// plane aligned to 16 bytes. Owns nothing. Units as in HsvImage.
struct HsvPlanes {
  float* h = nullptr;
  float* s = nullptr;
  float* v = nullptr;
};

/// Converts a packed RGB or gray8 frame of any stride and alignment to HSV (the report's section
/// 3.1). With 4 or 8 pixels per thread the coalesced variant takes 4 neighbours in one access where
/// takes_groups() holds.
void rgb_to_hsv(RgbToHsvVariant variant, const LaunchShape& shape, const ConstImageView& in,
                const HsvPlanes& out, cudaStream_t stream);

/// Allows histogram() its shared memory on the current device, and returns how many bytes of
/// counters a block may have. To be called once, before the frames.
[[nodiscard]] std::size_t prepare_histogram();

/// Counts bin(round(255 V)) of `pixels` values, at most 2^31 (the report's section 3.3). `counts`
/// has `bins` elements and need not be cleared. HistogramVariant::shared counts in each block's
/// shared memory, with several passes over `v` where the bins exceed `shared_bytes`.
void histogram(HistogramVariant variant, const LaunchShape& shape, const float* v,
               std::uint32_t pixels, std::uint32_t* counts, int bins, std::size_t shared_bytes,
               cudaStream_t stream);

/// Allows cdf_scan() its shared memory on the current device, and returns how many bytes a block
/// may have. To be called once, before the frames.
[[nodiscard]] std::size_t prepare_cdf_scan();

/// Returns the bytes of scratch memory that a variant needs beside its input and output; may be 0.
[[nodiscard]] std::size_t scan_scratch_bytes(ScanVariant variant, int bins);

/// Memory that a scan works with, all of it on the device. The arrays do not overlap.
struct ScanMemory {
  const std::uint32_t* counts = nullptr;  ///< `bins` elements
  std::uint32_t* cdf = nullptr;           ///< `bins` elements
  void* scratch = nullptr;                ///< scan_scratch_bytes(), aligned to 256 bytes
};

/// Computes inclusive prefix sums of counts that add up to `total`, at most 2^31 (the report's
/// section 3.4). Shared variants work in segments where the bins exceed `shared_bytes`, which is at
/// least 8. CUB chooses its own launch shape for ScanVariant::cub.
void cdf_scan(ScanVariant variant, const LaunchShape& shape, const ScanMemory& memory, int bins,
              std::uint32_t total, std::size_t shared_bytes, cudaStream_t stream);

/// Replaces V by T(bin(round(255 V))); black stays black (the report's section 3.5). Kernels find
/// out on the device whether the curve is the identity. `cdf` and `curve`, the scratch memory of
/// EqualizeVariant::curve, have `bins` elements; `v` is aligned to 16 bytes.
void equalize(EqualizeVariant variant, const LaunchShape& shape, Scaler scaler,
              const std::uint32_t* cdf, int bins, float* v, std::uint32_t pixels, float* curve,
              cudaStream_t stream);

/// Converts an HSV image to a packed RGB or gray8 frame (the report's section 3.2). The fourth byte
/// of a pixel comes from `original`, which may be `out` with the same strides. Groups of pixels are
/// accessed as in rgb_to_hsv().
void hsv_to_rgb(const LaunchShape& shape, const HsvPlanes& in, const ConstImageView& original,
                const ImageView& out, cudaStream_t stream);

}  // namespace equalux::cuda
