#include "src/lab/gpu_lab.h"

/// Replacement of cuda/ in a build without it: each function throws as a search for a device does.
namespace equalux::gpu_lab {
namespace {

/// Throws Error(unavailable).
[[noreturn]] void refuse(int device) {
  static_cast<void>(choose_cuda_device(device));
  __builtin_unreachable();
}

}  // namespace

DeviceFacts device_facts(int wanted) {
  refuse(wanted);
}

Rates measure_rates(int device) {
  refuse(device);
}

CallTimes time_calls(int device, const ConstImageView&, const EqualizeParams&, const Budget&) {
  refuse(device);
}

CallTimes time_convolution(int device, const ConstImageView&, const ConvolveParams&,
                           const Budget&) {
  refuse(device);
}

std::vector<StageSamples> time_stages(int device, const ConstImageView&, const EqualizeParams&,
                                      int) {
  refuse(device);
}

HessianTimes time_hessian(int device, const ConstImageView&, const HessianParams&, HessianStrategy,
                          const Budget&) {
  refuse(device);
}

CallTimes time_vessel(int device, const ConstImageView&, const VesselParams&, const Budget&) {
  refuse(device);
}

KernelTimes time_scan(int device, ScanVariant, int, const StagedParams&, const Budget&) {
  refuse(device);
}

KernelTimes time_histogram(int device, HistogramVariant, const ConstImageView&, int,
                           const StagedParams&, const Budget&) {
  refuse(device);
}

KernelTimes time_rgb_to_hsv(int device, RgbToHsvVariant, const ConstImageView&, const StagedParams&,
                            const Budget&) {
  refuse(device);
}

std::vector<Span> trace_frames(int device, const ConstImageView&, const EqualizeParams&, int) {
  refuse(device);
}

}  // namespace equalux::gpu_lab
