#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>
#include <equalux/device.h>
#include <equalux/filter.h>

#include "cuda/runtime/handles.h"

/// Timing on a GPU, and frames in device memory.
namespace equalux::bench {

/// Number of frames that take turns.
inline constexpr int kFrames = 6;

/// Returns the median: the middle one of an odd count, the upper of the two middle ones of an even
/// count.
[[nodiscard]] double median(std::vector<double> values);

/// Returns the microseconds of one `work` on a stream: batches between two events, median of the
/// batches. `work` gets a number that grows by one.
[[nodiscard]] double time_us(cudaStream_t stream, int batch, const std::function<void(int)>& work);

/// Rates of copies of many MB, as upper bounds.
struct Ceilings {
  double device_copy_tb_s = 0;     ///< bytes read plus bytes written
  double upload_gb_s = 0;          ///< from page-locked memory
  double both_ways_gb_s_each = 0;  ///< up and down at the same time
};
[[nodiscard]] Ceilings measure_ceilings();

/// Returns the microseconds of one frame from page-locked memory through a filter and back, with
/// nothing running beside it and all buffers allocated.
[[nodiscard]] double host_to_host_us(std::unique_ptr<Filter> filter, const ImageDesc& desc,
                                     const CudaDevice& device);

/// A frame in device memory.
struct DeviceFrame {
  cuda::DevicePointer<std::uint8_t> memory;
  ImageView view;

  explicit DeviceFrame(const ImageDesc& desc);
};

/// Natural frames that take turns as input, and as many output frames, in device memory.
struct ResidentFrames {
  std::vector<DeviceFrame> in;
  std::vector<DeviceFrame> out;

  ResidentFrames(const ImageDesc& input, const ImageDesc& output);

  /// Fills every input with one colour.
  void fill(int level);

  /// Returns the microseconds of one `work(in, out)`.
  [[nodiscard]] double time(
      cudaStream_t stream,
      const std::function<void(const ConstImageView&, const ImageView&)>& work);
};

}  // namespace equalux::bench
