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

/// What `equalux lab` measures on a GPU; no CUDA header is needed to ask for it. Everything takes
/// the device's CUDA number, returns when the device is done, and throws Error(unavailable) where
/// there is none, and Error(usage) for a launch geometry that it does not take.
namespace equalux::gpu_lab {

/// The device and the software that results are true of.
struct DeviceFacts {
  CudaDevice device;
  std::string driver;   ///< the newest CUDA that the driver knows, "12.4"
  std::string runtime;  ///< the CUDA that this build was made with
  std::string pci_bus;  ///< "0000:3b:00.0", by which NVML knows the device
};
/// `wanted` as in choose_cuda_device().
[[nodiscard]] DeviceFacts device_facts(int wanted);

/// Bytes a second of this device and its bus, measured by copies of many MB.
struct Rates {
  double device = 0;    ///< device memory to device memory; bytes read and bytes written count
  double upload = 0;    ///< from pinned memory
  double download = 0;  ///< to pinned memory
};
[[nodiscard]] Rates measure_rates(int device);

/// The report's call: allocate device memory, copy up, kernels, copy down, free. The host's memory
/// is pageable, as the report's was.
struct CallTimes {
  std::vector<double> whole_ms;    ///< one a call, by the host's clock
  std::vector<double> kernels_ms;  ///< from before the first kernel until after the last, by events
  Image result;                    ///< what the last call returned
};
/// `params` are those of a staged chain.
[[nodiscard]] CallTimes time_calls(int device, const ConstImageView& image,
                                   const EqualizeParams& params, const Budget& budget);

/// Calls as the report's, of a convolution: the filter, with its weights, is made once and before.
[[nodiscard]] CallTimes time_convolution(int device, const ConstImageView& image,
                                         const ConvolveParams& params, const Budget& budget);

/// A stage's time in each of many calls.
struct StageSamples {
  std::string stage;
  std::vector<double> us;
};
/// "upload", the chain's stages, "download", from and to pinned memory, buffers ready.
[[nodiscard]] std::vector<StageSamples> time_stages(int device, const ConstImageView& image,
                                                    const EqualizeParams& params, int repeats);

/// How eigenvalues of the Hessian are computed on a GPU: the product's way, those of the report on
/// them, its section 3, and the library that it compares itself with.
enum class HessianStrategy : std::uint8_t {
  production,        ///< the filter of `--filter eigenvalues`
  per_value_global,  ///< a thread an eigenvalue, derivatives in global memory (Figure 3 a)
  per_pixel_global,  ///< a thread a pixel, both eigenvalues at once (Figure 3 b)
  shared,            ///< per_pixel, a block's derivatives in shared memory (equations 9 to 11)
  shared_one_warp,   ///< shared, one warp a block and a pixel's derivatives side by side (Algorithm
                     ///< 3, section 3.3)
  cusolver_syevd,    ///< cuSOLVER's batched Jacobi method, a matrix a pixel (section 4.3.3)
};

/// All of them, as results name them.
inline constexpr std::array<std::pair<HessianStrategy, std::string_view>, 6> kHessianStrategies{{
    {HessianStrategy::production, "production"},
    {HessianStrategy::per_value_global, "per-value-global"},
    {HessianStrategy::per_pixel_global, "per-pixel-global"},
    {HessianStrategy::shared, "shared"},
    {HessianStrategy::shared_one_warp, "shared-one-warp"},
    {HessianStrategy::cusolver_syevd, "cusolver-syevd"},
}};

/// One image through a strategy, again and again.
struct HessianTimes {
  /// Whole calls as of CallTimes: allocate, copy up, kernels, copy down, free.
  std::vector<double> whole_ms;
  /// The steps of a call, each as often as it was measured, buffers ready, without launches:
  /// "upload", then those of "smoothing", "derivatives" and "eigenvalues" that have kernels of
  /// their own, or "fused" where one does all, then "download". From and to pinned memory.
  std::vector<StageSamples> steps;
  /// Largest absolute difference to the CPU filter's lambda1 and lambda2; 0 = the same values,
  /// which all but cusolver_syevd give.
  float worst_difference = 0;
};
/// Throws Error(unavailable) for a strategy that this build or machine does not have, too.
[[nodiscard]] HessianTimes time_hessian(int device, const ConstImageView& image,
                                        const HessianParams& params, HessianStrategy strategy,
                                        const Budget& budget);

/// Whole calls of the vessel filter, host to host; `kernels_ms` holds what runs between the copies.
[[nodiscard]] CallTimes time_vessel(int device, const ConstImageView& image,
                                    const VesselParams& params, const Budget& budget);

/// One stage alone, everything in device memory.
struct KernelTimes {
  std::vector<double> us;
  bool correct = false;  ///< the result is what plain loops on the host give
};
/// `shape` gives grid, block and pixels a thread; empty ones are chosen as the chain chooses.
[[nodiscard]] KernelTimes time_scan(int device, ScanVariant variant, int bins,
                                    const StagedParams& shape, const Budget& budget);
[[nodiscard]] KernelTimes time_histogram(int device, HistogramVariant variant,
                                         const ConstImageView& image, int bins,
                                         const StagedParams& shape, const Budget& budget);
[[nodiscard]] KernelTimes time_rgb_to_hsv(int device, RgbToHsvVariant variant,
                                          const ConstImageView& image, const StagedParams& shape,
                                          const Budget& budget);

/// What one of the three streams did for a frame, in milliseconds after the first upload began.
struct Span {
  int frame = 0;
  std::string lane;  ///< "upload", "kernels", "download"
  double begin_ms = 0;
  double end_ms = 0;
};
/// Frames through three streams as the product's processor drives them, after as many to warm up.
[[nodiscard]] std::vector<Span> trace_frames(int device, const ConstImageView& image,
                                             const EqualizeParams& params, int frames);

}  // namespace equalux::gpu_lab
