#pragma once

#include <string>
#include <vector>

#include <equalux/convolve.h>
#include <equalux/device.h>
#include <equalux/image.h>
#include <equalux/params.h>

#include "lab_clock.h"

/// What `equalux lab` measures on a GPU; no CUDA header is needed to ask for it. Everything takes
/// the device's CUDA number, returns when the device is done, and throws Error(unavailable) where
/// there is none, and Error(usage) for a launch geometry that it does not take.
namespace equalux::gpu_lab {

/// Of what results are true.
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

/// The same of a convolution: the filter, with its weights, is made once and before.
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
