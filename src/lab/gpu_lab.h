#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/convolve.h>
#include <equalux/device.h>
#include <equalux/hessian.h>
#include <equalux/image.h>
#include <equalux/params.h>

#include "src/lab/lab_clock.h"

/// GPU measurements of `equalux lab`, without CUDA headers. Each function takes the device's CUDA
/// number and waits for the device. Throws Error(unavailable) where there is none, and Error(usage)
/// for a launch geometry that the kernels do not take.
namespace equalux::gpu_lab {

/// Device and software of the measurements.
struct DeviceFacts {
  CudaDevice device;
  std::string driver;   ///< newest CUDA version that the driver supports, "12.4"
  std::string runtime;  ///< CUDA version of this build
  std::string pci_bus;  ///< "0000:3b:00.0", the device's name in NVML
};
/// Returns the facts of a device; `wanted` as in choose_cuda_device().
[[nodiscard]] DeviceFacts device_facts(int wanted);

/// Bandwidths of the device and its bus, bytes per second, measured by large copies.
struct Rates {
  double device = 0;    ///< device memory to device memory; bytes read and bytes written count
  double upload = 0;    ///< from pinned memory
  double download = 0;  ///< to pinned memory
};
[[nodiscard]] Rates measure_rates(int device);

/// Times of whole calls as in the report: allocate device memory, copy up, run kernels, copy down,
/// free. Host memory is pageable, as in the report.
struct CallTimes {
  std::vector<double> whole_ms;    ///< one for each call, by the host's clock
  std::vector<double> kernels_ms;  ///< from the first kernel to the last, by CUDA events
  Image result;                    ///< result of the last call
};
/// Times calls of a staged chain, that of `params`.
[[nodiscard]] CallTimes time_calls(int device, const ConstImageView& image,
                                   const EqualizeParams& params, const Budget& budget);

/// Times calls of a convolution; the filter with its weights is made once, outside the measured
/// time.
[[nodiscard]] CallTimes time_convolution(int device, const ConstImageView& image,
                                         const ConvolveParams& params, const Budget& budget);

/// Times of one stage over many calls.
struct StageSamples {
  std::string stage;
  std::vector<double> us;
};
/// Times "upload", the chain's stages and "download", with pinned memory and allocated buffers.
[[nodiscard]] std::vector<StageSamples> time_stages(int device, const ConstImageView& image,
                                                    const EqualizeParams& params, int repeats);

/// Strategies for the eigenvalues of the Hessian on a GPU: the product's, those of the report's
/// section 3, and the library that the report compares with.
enum class HessianStrategy : std::uint8_t {
  production,        ///< filter of `--filter eigenvalues`
  per_value_global,  ///< a thread per eigenvalue, derivatives in global memory (Figure 3 a)
  per_pixel_global,  ///< a thread per pixel, both eigenvalues at once (Figure 3 b)
  shared,  ///< per_pixel_global, with a block's derivatives in shared memory (equations 9 to 11)
  shared_one_warp,  ///< shared, one warp a block and a pixel's derivatives side by side (Algorithm
                    ///< 3, section 3.3)
  cusolver_syevd,   ///< cuSOLVER's batched Jacobi method, a matrix per pixel (section 4.3.3)
};

/// Strategies with their names in results.
inline constexpr std::array<std::pair<HessianStrategy, std::string_view>, 6> kHessianStrategies{{
    {HessianStrategy::production, "production"},
    {HessianStrategy::per_value_global, "per-value-global"},
    {HessianStrategy::per_pixel_global, "per-pixel-global"},
    {HessianStrategy::shared, "shared"},
    {HessianStrategy::shared_one_warp, "shared-one-warp"},
    {HessianStrategy::cusolver_syevd, "cusolver-syevd"},
}};

/// Times of one image and one strategy.
struct HessianTimes {
  /// Times of whole calls as in CallTimes: allocate, copy up, kernels, copy down, free.
  std::vector<double> whole_ms;
  /// Times of a call's steps with allocated buffers and pinned memory, without launch times:
  /// "upload"; those of "smoothing", "derivatives" and "eigenvalues" that are kernels of their own,
  /// or "fused" where one kernel does all; "download".
  std::vector<StageSamples> steps;
  /// Largest absolute difference from the CPU filter's lambda1 and lambda2; 0, bit-exact, for all
  /// but cusolver_syevd.
  float worst_difference = 0;
};
/// Times a strategy. Throws Error(unavailable) also for one that this build or machine lacks.
[[nodiscard]] HessianTimes time_hessian(int device, const ConstImageView& image,
                                        const HessianParams& params, HessianStrategy strategy,
                                        const Budget& budget);

/// Times whole calls of the vessel filter, host to host; `kernels_ms` covers the work between the
/// copies.
[[nodiscard]] CallTimes time_vessel(int device, const ConstImageView& image,
                                    const VesselParams& params, const Budget& budget);

/// Times of one stage with its data in device memory.
struct KernelTimes {
  std::vector<double> us;
  bool correct = false;  ///< true where the result equals that of plain loops on the host
};
/// Times a stage; `shape` has grid, block and pixels per thread, and the chain's defaults where
/// they are empty.
[[nodiscard]] KernelTimes time_scan(int device, ScanVariant variant, int bins,
                                    const StagedParams& shape, const Budget& budget);
[[nodiscard]] KernelTimes time_histogram(int device, HistogramVariant variant,
                                         const ConstImageView& image, int bins,
                                         const StagedParams& shape, const Budget& budget);
[[nodiscard]] KernelTimes time_rgb_to_hsv(int device, RgbToHsvVariant variant,
                                          const ConstImageView& image, const StagedParams& shape,
                                          const Budget& budget);

/// Work of one of three streams for a frame, in milliseconds after the first upload began.
struct Span {
  int frame = 0;
  std::string lane;  ///< "upload", "kernels", "download"
  double begin_ms = 0;
  double end_ms = 0;
};
/// Traces frames through three streams as the product's processor runs them, after as many warm-up
/// frames.
[[nodiscard]] std::vector<Span> trace_frames(int device, const ConstImageView& image,
                                             const EqualizeParams& params, int frames);

}  // namespace equalux::gpu_lab
