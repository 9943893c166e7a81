#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_change.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr unsigned kBlocksEach = 16;

/// Scales a frame of any layout, one cell per thread; neighbouring threads take neighbouring cells,
/// so that accesses are coalesced. The table of gains, 8 to 512 KiB, exceeds shared memory and is
/// read through the caches.
template <Sampling kSampling, bool kAligned, bool kRounded, bool kSaturated>
__global__ void __launch_bounds__(kDeepBlock)
    deep_apply_kernel(DeepFrame frame, DeepChange change) {
  wait_then_release();
  change.clear_counts();
  for_each_deep_cell(frame, [&](std::uint32_t row, std::uint32_t column) {
    if constexpr (kSampling == Sampling::gray || kSampling == Sampling::rgb) {
      apply_deep_pixel<kSampling, kAligned, kRounded, kSaturated>(frame, change, row, column);
    } else {
      apply_deep_cell<kSampling, kAligned, kRounded, kSaturated>(frame, change, row, column);
    }
  });
}

}  // namespace

void deep_apply(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                const LaunchDevice& device, cudaStream_t stream) {
  if (lies_in_strips(frame)) {
    const auto apply = is_yuv(frame) ? deep_apply_strips : deep_apply_pixels;
    return apply(frame, tables, saturates, device, stream);
  }
  const unsigned grid = deep_grid(frame, device.multiprocessors, kBlocksEach);
  with_deep_cells(frame, [&](auto sampling, auto aligned) {
    with_constant<false, true>(frame.rounding.active, [&](auto rounded) {
      with_constant<false, true>(saturates, [&](auto saturated) {
        constexpr Sampling kSampling = decltype(sampling)::value;
        // Gray has no saturation.
        constexpr bool kSaturated = kSampling != Sampling::gray && decltype(saturated)::value;
        const auto kernel = deep_apply_kernel<kSampling, decltype(aligned)::value,
                                              decltype(rounded)::value, kSaturated>;
        launch_early(device, "launching deep_apply", kernel, dim3(grid), dim3(kDeepBlock), stream,
                     frame, change_by(tables));
      });
    });
  });
}

}  // namespace equalux::cuda
